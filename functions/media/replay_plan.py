"""What a film of a recording will be like, known before any browser is started.

Imports no media library: what orders and prices a film runs where there is none.
"""

from dataclasses import dataclass
from math import ceil

from functions.media.recording import Recording
from functions.media.replay_script import Script, write_script
from functions.media.segments import Segment, plan_segments
from functions.media.timeline import Timeline, plan_timeline

FPS, FPS_MAX = 25, 60
SIZE_MAX = (1920, 1080)
SIDE_MIN, SIDE_MAX = 64, 3840
SPEED_MIN, SPEED_MAX = 0.25, 16.0
CREDITS_PER_MINUTE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be filmed, known before any browser is started."""

    size: tuple[int, int]
    timeline: Timeline
    script: Script
    segments: list[Segment]


def film_size(recording: Recording, wanted: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the film's size: what is wanted, or the window's within bounds; always even."""
    if wanted is None:
        view = recording.main_viewport()
        most_wide, most_high = SIZE_MAX if view.width >= view.height else SIZE_MAX[::-1]
        scale = min(1.0, most_wide / view.width, most_high / view.height)
        wanted = (int(view.width * scale), int(view.height * scale))
    width, height = (min(SIDE_MAX, max(SIDE_MIN, side)) for side in wanted)
    return width - width % 2, height - height % 2


def plan_film(
    recording: Recording, *, fps: int = FPS, size: tuple[int, int] | None = None,
    skip_inactivity: float | None = None, speed: float = 1.0,
) -> Plan:  # fmt: skip
    """Lay a recording out as a film."""
    timeline = plan_timeline(
        recording.duration_ms, recording.activity, fps=fps, speed=speed,
        skip_inactivity=skip_inactivity,
    )  # fmt: skip
    script = write_script(recording, timeline)
    moved = {timeline.frame(at) for at in recording.pointer.at}
    return Plan(
        size=film_size(recording, size),
        timeline=timeline,
        script=script,
        segments=plan_segments(timeline.frames, script.frames, moved, fps=fps),
    )


def price_credits(seconds: float) -> int:
    """Price a film by its begun minutes."""
    return max(1, ceil(seconds / 60)) * CREDITS_PER_MINUTE


def time_limit_seconds(seconds: float) -> int:
    """Allow for a film: the busiest take as long as they last, on one core that others use too."""
    return 120 + ceil(seconds * 5)
