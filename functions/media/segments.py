"""Cuts a film into segments that are filmed apart from each other, and hands them out.

The cuts depend on the recording alone, so that the film is the same on one core as on eight.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Measured on one core at 720p: what a frame costs whose page changed, whose pointer moved,
# and that is merely passed by.
PAGE_MS, POINTER_MS, PASSING_MS = 28.0, 7.0, 0.02
SEGMENT_MS = 1800.0  # of work: long enough to pay for a start, short enough to share
SEGMENT_SECONDS_MIN = 2  # of film: each segment begins with a whole picture
MULTIPLE = 4  # of segments, so that two and four cores get equal shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Frames from `start` up to, not including, `end`."""

    number: int
    start: int
    end: int


def plan_segments(
    frames: int, page: Iterable[int], pointer: Iterable[int], *, fps: int
) -> list[Segment]:
    """Cut where the work is halved and quartered, not the time."""
    work = dict.fromkeys(pointer, POINTER_MS) | dict.fromkeys(page, PAGE_MS)
    total = sum(work.values()) + frames * PASSING_MS
    most = max(1, frames // (fps * SEGMENT_SECONDS_MIN))
    count = max(1, min(most, round(total / SEGMENT_MS)))
    if count > MULTIPLE:
        count -= count % MULTIPLE
    cuts, done, past = [0], 0.0, 0
    for frame in sorted(work):
        done += (frame - past) * PASSING_MS + work[frame]
        past = frame
        apart = frame - cuts[-1] >= fps * SEGMENT_SECONDS_MIN
        if apart and len(cuts) < count and done >= total * len(cuts) / count and frame < frames:
            cuts.append(frame)
    ends = [*cuts[1:], frames]
    return [
        Segment(number=number, start=start, end=end)
        for number, (start, end) in enumerate(zip(cuts, ends, strict=True))
    ]


class Handout:
    """Gives segments to several workers, each a run of neighbours as long as there is one.

    A worker that goes on where it stands loses nothing; one that jumps has to catch up.
    """

    def __init__(self, segments: Sequence[Segment], workers: int) -> None:
        self._segments = segments
        self._open = set(range(len(segments)))
        self._workers = workers
        self._last: dict[int, int] = {}

    def next(self, worker: int) -> Segment | None:
        """Return the segment that a worker does next; None when all are given out."""
        if not self._open:
            return None
        following = self._last.get(worker, -2) + 1
        if following not in self._open:
            following = self._entry(worker)
        self._open.discard(following)
        self._last[worker] = following
        return self._segments[following]

    def _entry(self, worker: int) -> int:
        if worker not in self._last:  # a share of its own from the beginning
            wish = worker * len(self._segments) // self._workers
            if wish in self._open:
                return wish
        run = max(self._runs(), key=len)
        # Whoever stands before the run keeps its first half.
        taken = run[0] - 1 in self._last.values()
        return run[(len(run) + 1) // 2] if taken and len(run) > 1 else run[0]

    def _runs(self) -> list[list[int]]:
        runs: list[list[int]] = []
        for at in sorted(self._open):
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        return runs
