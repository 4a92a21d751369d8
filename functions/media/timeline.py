"""Which moment of a session each frame of its film shows."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

SECONDS_MIN = 1.0  # the last picture is held that long: nobody sees a film of two frames
ROUNDING = 1e-6  # of a frame; times are whole microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of the session that is shown, and when it comes, both in session milliseconds."""

    start: float
    end: float
    shown: float  # milliseconds of shown session before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The pieces in order, and how fast they run."""

    pieces: Sequence[Piece]
    fps: int
    speed: float
    frames: int

    @property
    def seconds(self) -> float:
        """Return the film's length."""
        return self.frames / self.fps

    def session_ms(self, frame: int) -> float:
        """Return the moment that a frame shows."""
        shown = frame * 1000.0 * self.speed / self.fps
        at = bisect_right(self.pieces, shown + ROUNDING, key=lambda piece: piece.shown) - 1
        piece = self.pieces[at]
        return round(min(piece.end, piece.start + shown - piece.shown), 3)

    def frame(self, session_ms: float) -> int:
        """Return the first frame that shows what happened at a moment."""
        at = bisect_right(self.pieces, session_ms, key=lambda piece: piece.start) - 1
        piece = self.pieces[max(at, 0)]
        shown = piece.shown + min(max(session_ms, piece.start), piece.end) - piece.start
        return max(0, ceil(shown * self.fps / 1000.0 / self.speed - ROUNDING))


def plan_timeline(
    duration_ms: float, activity: Sequence[float], *, fps: int, speed: float,
    skip_inactivity: float | None,
) -> Timeline:  # fmt: skip
    """Lay out a session; of a longer pause, `skip_inactivity` seconds are left."""
    pieces, shown = [], 0.0
    for start, end in _stretches(duration_ms, activity, skip_inactivity):
        pieces.append(Piece(start=start, end=end, shown=shown))
        shown += end - start
    # One more than the length takes: the last frame shows the last event.
    last = ceil(shown * fps / 1000.0 / speed - ROUNDING)
    frames = max(last + 1, ceil(fps * SECONDS_MIN))
    return Timeline(pieces=tuple(pieces), fps=fps, speed=speed, frames=frames)


def _stretches(
    duration_ms: float, activity: Sequence[float], pause_seconds: float | None
) -> list[tuple[float, float]]:
    if pause_seconds is None:
        return [(0.0, duration_ms)]
    # Half of what is left shows how the last action ended, half what the next one meets.
    half = pause_seconds * 500.0
    moments = sorted({0.0, duration_ms, *(at for at in activity if 0 <= at <= duration_ms)})
    found, start = [], 0.0
    for before, after in pairwise(moments):
        if after - before > 2 * half:
            found.append((start, before + half))
            start = after - half
    return [*found, (start, duration_ms)]
