"""How often a client should ask: soon at first, then ever more patiently."""

STEPS_SECONDS = ((10, 2), (30, 3), (60, 5), (180, 10), (600, 20))  # (age below, wait)
WAIT_SECONDS_MAX = 30


def retry_after_seconds(age_seconds: float) -> int:
    """Say in how many seconds to ask again about a task ordered this long ago."""
    for age_below, wait in STEPS_SECONDS:
        if age_seconds < age_below:
            return wait
    return WAIT_SECONDS_MAX
