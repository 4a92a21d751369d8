"""Tell a picture that stands still from one in which little moves.

A mean difference between frames cannot: grain and coding noise outweigh a moving mouth. Here half
a second is averaged before it is compared with what was there before, which cancels grain and
leaves slow movement; and changes from look to look are counted where they happen, for noise is
everywhere and movement is somewhere.
"""

from dataclasses import dataclass, field

from functions.media.lanes import DEPTH_MAX, Grid, Sum, add, differing, often

WINDOW_SECONDS = 0.5
# Against the first window of its run a still stays below 0.6 % of cells off by 4 levels (after
# a new key frame), and the slowest zoom in use passes 5 % within five seconds.
DRIFT_LEVELS, DRIFT_SHARE = 4.0, 0.0075
# A cut or a movement passes the limit by far at once; a slow zoom creeps over it, window by
# window, and leaves a chain of runs of like length that must not be taken for holds.
CREEP_FACTOR, CHAIN_FACTOR = 5.0, 2.0
# From look to look. Without grain 1.5 levels are beyond coding noise, bar key frames; strong
# grain, averaged over a cell, stays below 5.
CALM_LEVELS, BUSY_LEVELS = 1.5, 5.0
# A mouth in a 720p head-and-shoulders picture covers 12 of 7,200 cells, a 12-pixel dot 8.
BUSY_SHARE = 0.0006
BUSY_OFTEN = 0.2  # of the looks; key frames come once a second at most
# More cells than this off by the finer measure between most looks is grain.
GRAIN_SHARE = 0.002
RUN_SECONDS_MIN = 1.4  # windows cut a two-second hold short at its beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A stretch of time in which nothing moves; grain may."""

    start: float
    end: float
    grain: bool

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(slots=True)
class _Run:
    """Windows that agree with the first of them, and what changed from look to look."""

    first: Sum
    start: float
    end: float
    stirs: list[int] = field(default_factory=list)  # changed cells per look, by the finer measure
    crept_after: float = 0.0  # the length of the run from which this one crept away
    calm: int = 0  # per cell, the looks at which it changed
    busy: int = 0


class Stillness:
    """Takes luma planes in order of time and finds the holds among them."""

    def __init__(self, grid: Grid, looks_per_second: float) -> None:
        self._grid = grid
        self._depth = max(1, min(DEPTH_MAX, round(WINDOW_SECONDS * looks_per_second)))
        self._sum: Sum | None = None
        self._start = 0.0
        self._last: Sum | None = None
        self._run: _Run | None = None
        self._holds: list[Hold] = []

    def fits(self, grid: Grid) -> bool:
        """Whether planes of this shape can be compared with those before."""
        return grid == self._grid

    def take(self, picture: Sum, seconds: float) -> None:
        """Add one look, at a frame shown from `seconds` on."""
        if self._sum is not None and self._sum.depth == self._depth:
            self._window(self._sum, self._start, seconds)
            self._sum = None
        if self._sum is None:
            self._sum, self._start = picture, seconds
        else:
            self._sum = add(self._sum, picture)
        if self._run is not None and self._last is not None:
            self._compare(self._run, self._last, picture)
        self._last = picture

    def finish(self, end: float) -> list[Hold]:
        """Close what is still open at the end of the video and list the holds."""
        if self._sum is not None:
            self._window(self._sum, self._start, end)
        self._close()
        return self._holds

    def _compare(self, run: _Run, before: Sum, now: Sum) -> None:
        calm = differing(before, now, self._grid, CALM_LEVELS)
        run.stirs.append(calm.bit_count())
        run.calm += calm
        run.busy += differing(before, now, self._grid, BUSY_LEVELS)

    def _window(self, window: Sum, start: float, end: float) -> None:
        run, limit, crept = self._run, DRIFT_SHARE * self._grid.cells, False
        if run is not None:
            drift = differing(run.first, window, self._grid, DRIFT_LEVELS).bit_count()
            if drift <= limit:
                run.end = end
                return
            crept = drift <= CREEP_FACTOR * limit
            self._close(crept=crept)
        after = run.end - run.start if run is not None and crept else 0.0
        self._run = _Run(first=window, start=start, end=end, crept_after=after)

    def _close(self, *, crept: bool = False) -> None:
        run, self._run = self._run, None
        if run is None or run.end - run.start < RUN_SECONDS_MIN or not run.stirs:
            return
        if crept or run.end - run.start < CHAIN_FACTOR * run.crept_after:
            return
        middle = sorted(run.stirs)[len(run.stirs) // 2]
        grain = middle > GRAIN_SHARE * self._grid.cells
        # In a good part of the looks, and in three at least: the last window may bring a cut.
        least = max(3, round(BUSY_OFTEN * len(run.stirs)))
        calm, busy = (often(marks, self._grid, least) for marks in (run.calm, run.busy))
        limit = BUSY_SHARE * self._grid.cells
        if busy > limit or (calm > limit and not grain):
            return
        self._holds.append(Hold(start=run.start, end=run.end, grain=grain))
