"""Find out whether a video is the same few seconds again and again."""

from collections.abc import Sequence

# Four means per frame that agree so closely over all frames are the same pictures encoded
# again; two different frames of one scene differ by several levels.
CLOSE_LEVELS = 0.6
AGREE_SHARE = 0.95
PERIOD_SECONDS_MIN = 0.5
PERIODS_MIN = 2  # a repetition is at least two times the same
# Means that stay where they are agree with everything: this much of the frames must be off.
ALIVE_LEVELS, ALIVE_SHARE = 1.5, 0.3
ANCHORS = 3


def loop_length(times: Sequence[float], columns: Sequence[Sequence[float]]) -> float:
    """Say after how many seconds everything repeats; 0 if nothing does.

    `columns` are one value per frame each: means of brightness and colour, and the mean change.
    """
    count = len(times)
    if count < 2 * PERIODS_MIN or not _alive(columns):
        return 0.0
    least = next((i for i, t in enumerate(times) if t - times[0] >= PERIOD_SECONDS_MIN), count)
    for lag in _candidates(columns, count, least):
        if _agree(columns, lag, count):
            return times[lag] - times[0]
    return 0.0


def _alive(columns: Sequence[Sequence[float]]) -> bool:
    for column in columns[:3]:
        usual = sorted(column)[len(column) // 2]
        if sum(abs(value - usual) > ALIVE_LEVELS for value in column) > ALIVE_SHARE * len(column):
            return True
    return False


def _near(columns: Sequence[Sequence[float]], a: int, b: int) -> bool:
    return all(abs(column[a] - column[b]) <= CLOSE_LEVELS for column in columns)


def _candidates(columns: Sequence[Sequence[float]], count: int, least: int) -> list[int]:
    """Lags after which some frames of the beginning come back, shortest first."""
    last = count // PERIODS_MIN
    anchors = [1 + least * step // ANCHORS for step in range(ANCHORS)]
    return [
        lag
        for lag in range(max(1, least), last + 1)
        if all(a + lag < count and _near(columns, a, a + lag) for a in anchors)
    ][:50]


def _agree(columns: Sequence[Sequence[float]], lag: int, count: int) -> bool:
    """Whether nearly every frame equals the one a period later, at the cut too."""
    near = sum(_near(columns, at, at + lag) for at in range(1, count - lag))
    return near >= AGREE_SHARE * (count - lag - 1)
