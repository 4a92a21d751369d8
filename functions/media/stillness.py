"""Tell a picture that stands still from one in which little moves.

A mean difference between frames cannot: grain and coding noise outweigh a moving mouth. Here
windows of half a second are averaged first, which cancels grain and leaves what is
really there; then changes are counted where they happen.

Measured on re-encoded stills, stills under grain, slow zooms, and a 12-pixel dot or a mouth in
720p: against a window of its own run, a still has at most 84 of 14,400 pixels off by more than
4 levels and the slowest zoom over 700 after five seconds; of the pixels that keep changing
by 2 levels a still has none to 5, the mouth and the dot 14 to 24.
"""

from dataclasses import dataclass, field

from functions.media.lanes import DEPTH_MAX, Grid, Sum, add, differing, often, pixels

WINDOW_SECONDS = 0.5
DRIFT_LEVELS = 4.0  # above what a new key frame does to a still
DRIFT_SHARE = 0.0075  # 108 of 14,400 pixels
STIR_LEVELS = 1.0
BUSY_LEVELS = 2.0  # below lies strong grain, averaged
BUSY_SHARE = 0.0005  # 7 of 14,400 pixels: a mouth in a 720p head-and-shoulders picture
BUSY_OFTEN = 0.25  # of the steps; coding noise comes once per key frame
# Above this share of pixels stirring by a level between windows there is grain, not a still.
GRAIN_SHARE = 0.001
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
    """Windows that agree with the first of them."""

    first: Sum
    last: Sum
    start: float
    end: float
    stirs: list[int] = field(default_factory=list)  # stirring pixels per step
    busy: tuple[int, int] = (0, 0)  # per pixel, the steps in which it changed
    calm: tuple[int, int] = (0, 0)  # the same by the finer measure


class Stillness:
    """Takes luma planes in order of time and finds the holds among them."""

    def __init__(self, grid: Grid, looks_per_second: float) -> None:
        self._grid = grid
        self._depth = max(1, min(DEPTH_MAX, round(WINDOW_SECONDS * looks_per_second)))
        self._sum: Sum | None = None
        self._start = 0.0
        self._run: _Run | None = None
        self._holds: list[Hold] = []

    def fits(self, grid: Grid) -> bool:
        """Whether planes of this shape can be compared with those before."""
        return grid == self._grid

    def take(self, picture: Sum, seconds: float) -> None:
        """Add one frame, shown from `seconds` on."""
        if self._sum is not None and self._sum.depth == self._depth:
            self._window(self._sum, self._start, seconds)
            self._sum = None
        if self._sum is None:
            self._sum, self._start = picture, seconds
        else:
            self._sum = add(self._sum, picture)

    def finish(self, end: float) -> list[Hold]:
        """Close what is still open at the end of the video and list the holds."""
        if self._sum is not None:
            self._window(self._sum, self._start, end)
        self._close()
        return self._holds

    def _window(self, window: Sum, start: float, end: float) -> None:
        run, grid = self._run, self._grid
        limit = DRIFT_SHARE * grid.pixels
        if run is None or pixels(differing(run.first, window, grid, DRIFT_LEVELS)) > limit:
            self._close()
            self._run = _Run(first=window, last=window, start=start, end=end)
            return
        stir = differing(run.last, window, grid, STIR_LEVELS)
        busy = differing(run.last, window, grid, BUSY_LEVELS)
        run.stirs.append(pixels(stir))
        run.calm = (run.calm[0] + stir[0], run.calm[1] + stir[1])
        run.busy = (run.busy[0] + busy[0], run.busy[1] + busy[1])
        run.last, run.end = window, end

    def _close(self) -> None:
        run, self._run = self._run, None
        if run is None or run.end - run.start < RUN_SECONDS_MIN or not run.stirs:
            return
        middle = sorted(run.stirs)[len(run.stirs) // 2]
        grain = middle > GRAIN_SHARE * self._grid.pixels
        # Without grain the finer measure is safe, and sees a mouth of little contrast.
        counts = run.busy if grain else run.calm
        # In a good part of the steps, and in two at least.
        moved = often(counts, self._grid, max(2, round(BUSY_OFTEN * len(run.stirs))))
        if moved <= BUSY_SHARE * self._grid.pixels:
            self._holds.append(Hold(start=run.start, end=run.end, grain=grain))
