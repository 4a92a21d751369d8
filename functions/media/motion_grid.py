"""How a crop window at fractions of a pixel is made from filters that only know whole pixels.

FFmpeg crops whole pixels and scales to whole pixels, so a window that moves slowly is rounded and
the clip trembles (the well-known fault of `zoompan`). Here a slightly larger whole-pixel part is
scaled to a slightly larger whole-pixel picture, and the surplus is cut off: the wanted window lies
between the pixels, and each pixel of surplus moves it by a fraction of a source pixel. Of a few
surpluses one fits. Measured on decoded pictures the error is about 0.01 pixels.
"""

import math
from dataclasses import dataclass
from typing import Final

from functions.media.motion_plan import ZOOM_MAX, Move, Window

# The canvas' pixels per pixel of the tightest view. Above 1.5 the interpolation has detail to
# spare. The multiples of 2 x this number (modulo 1 the golden ratio) spread most evenly between
# two pixels, so that few surpluses reach any position.
OVERSAMPLE: Final = 1.690983
# A zoom passes ratios such as exactly 2, where every surplus shifts by whole pixels and none fits.
# There a second canvas of a slightly smaller scale does. With this one the worst error of a zoom
# falls from 0.25 to 0.06 pixels, and no difference in sharpness can be measured.
CANVAS_SCALES: Final = (1.0, 0.971)
# Even, since yuv420p can only be cut at even pixels.
_SURPLUSES: Final = range(0, 34, 2)
# In pixels. A closer fit cannot be seen, and the first canvas and least surplus are preferred.
_FITS: Final = 0.01
# The surplus may reach beyond the canvas, so it is painted with this margin on each side.
MARGIN: Final = math.ceil(max(_SURPLUSES) * OVERSAMPLE * ZOOM_MAX) + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """A prepared picture: the whole pixels that the move touches, at a working size."""

    part: Window
    width: int
    height: int

    def place(self, window: Window) -> Window:
        """Return the window in the canvas' own pixels."""
        across, down = self.width / self.part.w, self.height / self.part.h
        return Window(
            x=(window.x - self.part.x) * across,
            y=(window.y - self.part.y) * down,
            w=window.w * across,
            h=window.h * down,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One axis of a shot: crop `size` from `start`, scale to `scaled`, cut `cut` off the front."""

    start: int
    size: int
    scaled: int
    cut: int
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """How one frame is taken from one of the canvases."""

    canvas: int
    across: Span
    down: Span

    @property
    def error(self) -> float:
        """How far the frame's edges are from where they should be, in its pixels."""
        return max(self.across.error, self.down.error)


def plan_canvases(move: Move) -> tuple[Canvas, ...]:
    """Return the sizes at which the tightest view has about OVERSAMPLE pixels for each of its own.

    The largest comes first.
    """
    part = _whole(move.hull)
    scale = OVERSAMPLE * move.width / min(move.start.w, move.end.w)
    return tuple(
        Canvas(part=part, width=round(part.w * scale * less), height=round(part.h * scale * less))
        for less in CANVAS_SCALES
    )


def plan_shot(move: Move, canvases: tuple[Canvas, ...], frame: int) -> Shot:
    """Return the best shot of a frame."""
    window = move.at(frame)
    shots = (_shot(move, index, canvas.place(window)) for index, canvas in enumerate(canvases))
    return min(shots, key=lambda shot: max(shot.error, _FITS))


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
        pixel = round(outer)
        error = abs(pixel - outer) / abs(step)
        if error < best.error:
            best = _Edge(surplus=surplus, pixel=pixel, error=error)
        if error <= _FITS:
            break
    return best


def _shot(move: Move, canvas: int, place: Window) -> Shot:
    return Shot(
        canvas=canvas,
        across=fit_span(place.x, place.right, move.width),
        down=fit_span(place.y, place.bottom, move.height),
    )


def _whole(hull: Window) -> Window:
    """Return the whole pixels that a window touches, blind to the last bits of rounding."""
    x, y = math.floor(hull.x + 1e-6), math.floor(hull.y + 1e-6)
    return Window(x=x, y=y, w=math.ceil(hull.right - 1e-6) - x, h=math.ceil(hull.bottom - 1e-6) - y)
