"""How a crop window at fractions of a pixel is made from filters that only know whole pixels.

FFmpeg crops whole pixels and scales to whole pixels, so a window that moves slowly is rounded and
the clip trembles (that is the well-known fault of `zoompan`). Two ideas avoid it:

- **Overscan.** Scaling a slightly larger whole-pixel part to a slightly larger whole-pixel picture
  and cutting the surplus off lands the wanted window between the pixels: each pixel of surplus
  shifts it by a fraction of a source pixel. Trying some surpluses finds one that fits.
- **Keys.** A slow move needs no picture of its own for each frame. Pictures are rendered at moments
  where the fit is best, at most `KEY_STEP` pixels apart, and frames between two are a
  weighted mean of both, which for so short a step is the picture between them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from functions.media.motion_plan import ZOOM_MAX, Move, Window

# The pixels of the prepared picture per pixel of the tightest view. Above 1.5 the interpolation has
# detail to spare. The multiples of 2 x this number (the golden ratio, modulo 1) spread
# most evenly between two pixels, so that few surpluses reach any position.
OVERSAMPLE: Final = 1.690983
# A zoom passes ratios such as exactly 2, where every surplus shifts by whole pixels and none fits.
# There a second canvas of a slightly smaller scale fits. With this one the worst error over a whole
# zoom falls from 0.25 to 0.06 output pixels, and the difference in sharpness cannot be seen.
CANVAS_SCALES: Final = (1.0, 0.971)
# Surpluses are even, since yuv420p can only be cut at even pixels.
_SURPLUSES: Final = range(0, 34, 2)
# A fit this close (in output pixels) is taken without looking for a better one.
_FITS: Final = 0.02
# In output pixels. The mean of two pictures this far apart keeps its sharpness.
KEY_STEP: Final = 0.45
# Moments between frames at which a key may lie.
TICKS: Final = 256
_TRIALS: Final = 6
# The surplus may reach beyond the move's hull, so the canvas is padded by this on each side.
PAD: Final = math.ceil(max(_SURPLUSES) * OVERSAMPLE * ZOOM_MAX) + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One axis of a key: crop [start, start + size), scale to `scaled`, cut `cut` off the front."""

    start: int
    size: int
    scaled: int
    cut: int
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A picture to render from one of the canvases, for the moment `tick` (TICKS to the frame)."""

    tick: int
    canvas: int
    across: Span
    down: Span

    @property
    def error(self) -> float:
        """How far the picture's edges are from where they should be, in output pixels."""
        return max(self.across.error, self.down.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """A prepared picture: the whole pixels that the move touches, at a working size."""

    hull: Window
    width: int
    height: int

    def place(self, window: Window) -> Window:
        """Return the window in the canvas' own pixels."""
        across, down = self.width / self.hull.w, self.height / self.hull.h
        return Window(
            x=(window.x - self.hull.x) * across,
            y=(window.y - self.hull.y) * down,
            w=window.w * across,
            h=window.h * down,
        )


def plan_canvases(move: Move) -> tuple[Canvas, ...]:
    """Return the sizes at which the tightest view has about OVERSAMPLE pixels for each of its own.

    The largest comes first.
    """
    hull = _whole(move.hull)
    scale = OVERSAMPLE * move.width / min(move.start.w, move.end.w)
    return tuple(
        Canvas(hull=hull, width=round(hull.w * scale * less), height=round(hull.h * scale * less))
        for less in CANVAS_SCALES
    )


def _whole(hull: Window) -> Window:
    """Return the whole pixels that a window touches, blind to the last bits of rounding."""
    x, y = math.floor(hull.x + 1e-6), math.floor(hull.y + 1e-6)
    return Window(
        x=x, y=y, w=math.ceil(hull.right - 1e-6) - x, h=math.ceil(hull.bottom - 1e-6) - y
    )


def plan_keys(move: Move, canvases: tuple[Canvas, ...]) -> Iterator[Key]:
    """Yield the keys of a move in order, from the first frame to the last."""
    last = (move.frames - 1) * TICKS
    key = _key(move, canvases, 0)
    yield key
    while key.tick < last:
        key = _next_key(move, canvases, key.tick, last)
        yield key


def fit_span(start: float, end: float, out: int) -> Span:
    """Find the whole numbers that put [start, end) of the canvas on `out` pixels."""
    step = (end - start) / out
    front, back = _fit_edge(start, -step), _fit_edge(end, step)
    return Span(
        start=front.pixel,
        size=back.pixel - front.pixel,
        scaled=front.surplus + out + back.surplus,
        cut=front.surplus,
        error=max(front.error, back.error),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    surplus: int
    pixel: int
    error: float


def _fit_edge(edge: float, step: float) -> _Edge:
    """Find the surplus (outwards, by `step` each) that ends nearest to a whole pixel."""
    best = _Edge(surplus=0, pixel=0, error=math.inf)
    for surplus in _SURPLUSES:
        outer = edge + surplus * step
        error = abs(round(outer) - outer) / abs(step)
        if error < best.error:
            best = _Edge(surplus=surplus, pixel=round(outer), error=error)
        if error <= _FITS:
            break
    return best


def _key(move: Move, canvases: tuple[Canvas, ...], tick: int) -> Key:
    window = move.at(tick / TICKS)
    keys = (_key_on(move, index, canvas.place(window), tick) for index, canvas in enumerate(canvases))
    return min(keys, key=_quality)


def _key_on(move: Move, canvas: int, place: Window, tick: int) -> Key:
    return Key(
        tick=tick,
        canvas=canvas,
        across=fit_span(place.x, place.right, move.width),
        down=fit_span(place.y, place.bottom, move.height),
    )


def _quality(key: Key) -> float:
    # Among good fits the first canvas is taken, which keeps the picture's look even.
    return max(key.error, _FITS)


def _next_key(move: Move, canvases: tuple[Canvas, ...], tick: int, last: int) -> Key:
    reach = TICKS
    if _travel(move, tick, tick + reach) > KEY_STEP:
        return _key(move, canvases, (tick // TICKS + 1) * TICKS)
    while _travel(move, tick, tick + reach * 5 // 4) <= KEY_STEP and tick + reach < last:
        reach = reach * 5 // 4
    if tick + reach >= last:
        return _key(move, canvases, last)
    trials = (tick + reach - reach * i // (2 * _TRIALS) for i in range(_TRIALS))
    return min((_key(move, canvases, trial) for trial in trials), key=_quality)


def _travel(move: Move, since: int, until: int) -> float:
    """Return how far the picture's fastest edge moves, in output pixels."""
    a, b = move.at(since / TICKS), move.at(until / TICKS)
    across = max(abs(b.x - a.x), abs(b.right - a.right)) * move.width / a.w
    down = max(abs(b.y - a.y), abs(b.bottom - a.bottom)) * move.height / a.h
    return max(across, down)
