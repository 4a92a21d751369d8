"""Finds where one shot ends and the next begins, while the video is being decoded.

The method is that of PySceneDetect's adaptive detector: a cut stands out from the changes around
it. It is refined where that one errs: a change that the camera's movement explains is none, nor
is one that is taken back at once (a flash), and black or white between two pictures makes one
boundary in its middle.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median
from typing import NamedTuple

from functions.media.miniatures import Miniature, difference, unexplained

SHOTS_MAX = 400
SHOT_SECONDS_MIN = 0.3
# What follows a change for so long, and what went before it, says whether it was a cut.
AROUND_SECONDS = 0.34
NEIGHBOURS = 3  # on each side, none farther away than that
LOOKS_PER_SECOND_MAX = 64.0  # which bounds what is kept
# In levels (see `difference`). Grain, coding and people who talk stay below 3; cuts within one
# room begin at 6.
CHANGE_MIN, CHANGE_USUAL = 6.0, 1.5
MOVING_CHANGE_MIN = 12.0  # what must be left of it where everything moves
LONE_CHANGE_MIN = 15.0  # between frames so far apart in time that nothing tells what is usual
RATIO, MOVING_RATIO = 3.0, 2.5  # to the changes around it
TRIED_RATIO = 1.15  # below this it is not worth looking closer
EXPLAINED_SHARE = 0.45  # a cut leaves more than this when the movement is taken out
TAKEN_BACK_SHARE = 0.5
# A shorter black is the gap between two shots, a longer one a shot of its own.
BLANK_SECONDS = 1.0
BLANK_CHANGE_MIN = 100.0  # from black to white, or back
FADE_SECONDS = 0.4  # at either end of a blank, in which nothing else is a boundary


class Boundary(NamedTuple):
    """The first moment of a shot, and how much changes there."""

    seconds: float
    strength: float


class Span(NamedTuple):
    """A shot, in seconds."""

    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    seconds: float
    picture: Miniature
    change: float  # from the one before


@dataclass(slots=True, kw_only=True)
class _Blank:
    start: float
    before: Miniature | None
    hard: float  # the change at its beginning
    end: float = 0.0


class ShotFinder:
    """Takes miniatures in order of time. `boundaries` are those found so far, the last not firm."""

    def __init__(self) -> None:
        self.boundaries: list[Boundary] = []
        self.change = 0.0  # the last one, not judged yet
        self._recent: deque[_Seen] = deque()
        self._judged = 0  # of the recent ones
        self._blank: _Blank | None = None
        self._faded_until = float("-inf")
        self._firm = 0  # of the boundaries; one found later may take back those behind

    def take(self, picture: Miniature, seconds: float) -> None:
        """Look at a frame shown from `seconds` on."""
        last = self._recent[-1] if self._recent else None
        if last is not None and seconds - last.seconds < 1 / LOOKS_PER_SECOND_MAX:
            self.change = 0.0
            return
        self.change = difference(last.picture, picture) if last is not None else 0.0
        self._recent.append(_Seen(seconds=seconds, picture=picture, change=self.change))
        self._judge_until(seconds - AROUND_SECONDS)

    def finish(self, end: float) -> list[Span]:
        """Judge the rest and divide the time from zero to `end` into shots without gaps."""
        self._judge_until(float("inf"))
        if self._blank is not None:
            self._close_blank(self._blank, end, None, 0.0)
        cuts = _strongest(_apart(self.boundaries, end))
        edges = [0.0, *(cut.seconds for cut in cuts), max(end, 0.0)]
        return [Span(start, stop) for start, stop in pairwise(edges)]

    def _judge_until(self, settled: float) -> None:
        recent = self._recent
        while self._judged < len(recent) and recent[self._judged].seconds <= settled:
            seen = recent[self._judged]
            before = recent[self._judged - 1] if self._judged else None
            if seen.picture.blank or self._blank is not None:
                self._follow_blank(seen, before)
            elif before is not None and self._is_cut(self._judged):
                self._add(seen.seconds, seen.change)
            self._judged += 1
            while self._judged > 1 and recent[1].seconds < seen.seconds - AROUND_SECONDS:
                recent.popleft()
                self._judged -= 1

    def _add(self, seconds: float, strength: float) -> None:
        if seconds >= self._faded_until:
            self.boundaries.append(Boundary(seconds, strength))

    def _is_cut(self, index: int) -> bool:
        seen = self._recent[index]
        if seen.change < CHANGE_MIN:
            return False
        around = self._around(index)
        usual = median(self._recent[near].change for near in around) if around else 0.0
        if any(self._recent[near].change > seen.change for near in around):
            return False
        if seen.change < (TRIED_RATIO * usual if around else LONE_CHANGE_MIN):
            return False
        left = self._left(index)
        if seen.change >= RATIO * max(usual, CHANGE_USUAL):
            standing_out = left >= EXPLAINED_SHARE * seen.change
        else:
            others = median(self._left(near) for near in around) if around else 0.0
            standing_out = left >= max(MOVING_CHANGE_MIN, MOVING_RATIO * others)
        return standing_out and not self._taken_back(index)

    def _around(self, index: int) -> list[int]:
        """List the neighbours in time, nearest first on each side."""
        here = self._recent[index].seconds
        near = (*range(index - NEIGHBOURS, index), *range(index + 1, index + NEIGHBOURS + 1))
        return [
            at
            for at in near
            if 1 <= at < len(self._recent)
            and abs(self._recent[at].seconds - here) <= AROUND_SECONDS
        ]

    def _left(self, index: int) -> float:
        """Say how much of a change the camera's movement does not explain."""
        seen, before = self._recent[index], self._recent[index - 1]
        if seen.change < CHANGE_USUAL:
            return seen.change
        return seen.change * unexplained(before.picture, seen.picture)

    def _taken_back(self, index: int) -> bool:
        """Whether it is either edge of a flash: the picture before is soon there again."""
        seen, before = self._recent[index], self._recent[index - 1]
        limit = TAKEN_BACK_SHARE * seen.change
        later = (
            difference(before.picture, other.picture)
            for other in islice(self._recent, index + 1, None)
            if other.seconds - seen.seconds <= AROUND_SECONDS
        )
        earlier = (
            difference(other.picture, seen.picture)
            for other in islice(self._recent, 0, index - 1)
            if seen.seconds - other.seconds <= AROUND_SECONDS
        )
        return any(apart < limit for apart in later) or any(apart < limit for apart in earlier)

    def _follow_blank(self, seen: _Seen, before: _Seen | None) -> None:
        if self._blank is None:
            self._blank = _Blank(
                start=seen.seconds,
                before=before.picture if before is not None else None,
                hard=seen.change,
            )
        elif not seen.picture.blank or seen.change >= BLANK_CHANGE_MIN:
            blank, self._blank = self._blank, None
            self._close_blank(blank, seen.seconds, seen.picture, seen.change)
            if seen.picture.blank:
                self._follow_blank(seen, before)

    def _close_blank(
        self, blank: _Blank, end: float, after: Miniature | None, change: float
    ) -> None:
        """Decide what a stretch of black or white stands for."""
        strength = max(blank.hard, change, CHANGE_MIN)
        if end - blank.start >= BLANK_SECONDS:  # pictures or none on either side: it is a shot
            found = [blank.start] if blank.before is not None else []
            found += [end] if after is not None else []
        elif blank.before is None or after is None or _blinked(blank, end, after):
            found = []
        else:
            found = [(blank.start + end) / 2]
        if not found:
            return
        while len(self.boundaries) > self._firm:
            if self.boundaries[-1].seconds <= blank.start - FADE_SECONDS:
                break
            self.boundaries.pop()
        self.boundaries += (Boundary(seconds, strength) for seconds in found)
        self._firm = len(self.boundaries)
        self._faded_until = end + FADE_SECONDS


def _blinked(blank: _Blank, end: float, after: Miniature) -> bool:
    """Whether the same picture goes on behind it, without having faded."""
    if blank.before is None or end - blank.start > AROUND_SECONDS:
        return False
    return difference(blank.before, after) < TAKEN_BACK_SHARE * blank.hard


def _apart(found: list[Boundary], end: float) -> list[Boundary]:
    """Leave out boundaries that would make a shot too short: of two the weaker."""
    kept: list[Boundary] = []
    for cut in sorted(found):
        if not SHOT_SECONDS_MIN <= cut.seconds <= end - SHOT_SECONDS_MIN:
            continue
        if kept and cut.seconds - kept[-1].seconds < SHOT_SECONDS_MIN:
            kept[-1] = max(kept[-1], cut, key=lambda one: one.strength)
        else:
            kept.append(cut)
    return kept


def _strongest(cuts: list[Boundary]) -> Iterator[Boundary]:
    if len(cuts) < SHOTS_MAX:
        return iter(cuts)
    ranked = sorted(cuts, key=lambda cut: -cut.strength)
    return iter(sorted(ranked[: SHOTS_MAX - 1]))
