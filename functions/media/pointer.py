"""Draws the pointer, its trail and its clicks into a frame, and takes them out again.

They are drawn here and not by the browser: a pointer moves in most frames, a page changes in
few, and a picture out of the browser costs more than everything else together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from av.video.frame import VideoFrame

# An arrow on a grid of 24 lines, and the room around it that keeps it seen on dark ground.
ARROW = ((1.5, 1.5), (1.5, 17.6), (5.3, 14.1), (8.1, 20.4), (11.0, 19.1), (8.3, 13.0),
         (13.4, 12.7))  # fmt: skip
EDGE = 1.15
SIZE_AT = 720  # the height of the picture that the grid's lines are pixels of
DARK, LIGHT = (22, 24, 29), (255, 255, 255)
ACCENT = (73, 80, 246)
TRAIL_ALPHA, TRAIL_RADIUS = 0.5, 1.6
RIPPLE_MS, RIPPLE_ALPHA, RIPPLE_FROM, RIPPLE_TO = 360.0, 0.5, 5.0, 20.0
FINGER_ALPHA, FINGER_RADIUS = 0.4, 16.0
SUB = 4  # samples per side of a pixel
SUBS = tuple((at + 0.5) / SUB for at in range(SUB))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Everything drawn over one frame, in its pixels."""

    arrow: tuple[int, int] | None = None
    finger: tuple[int, int] | None = None
    ripples: tuple[tuple[int, int, float], ...] = ()  # with their age from 0 to 1
    trail: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Plane:
    """One plane's bytes."""

    data: memoryview
    pitch: int
    width: int
    height: int


class Overlay:
    """What was drawn into a frame, so that it can be taken out."""

    def __init__(self, frame: VideoFrame) -> None:
        self.frame = frame
        self._planes = [
            _Plane(memoryview(plane).cast("B"), plane.line_size, plane.width, plane.height)
            for plane in frame.planes
        ]
        self._scale = min(3.0, max(0.75, frame.height / SIZE_AT))
        self._under: list[tuple[int, int, bytes]] = []

    def draw(self, mark: Mark) -> None:
        """Draw on top of what is there."""
        scale = self._scale
        if len(mark.trail) > 1:
            self._blend(_path(mark.trail, TRAIL_RADIUS * scale), ACCENT, TRAIL_ALPHA)
        for x, y, age in mark.ripples:
            radius = (RIPPLE_FROM + (RIPPLE_TO - RIPPLE_FROM) * age) * scale
            self._blend(_disc(x, y, radius), ACCENT, RIPPLE_ALPHA * (1 - age))
        if mark.finger is not None:
            self._blend(_disc(*mark.finger, FINGER_RADIUS * scale), ACCENT, FINGER_ALPHA)
        if mark.arrow is not None:
            x, y = mark.arrow
            for colour, sprite in zip((LIGHT, DARK), _sprites(scale), strict=True):
                for row, start, end, alpha in sprite:
                    self._span(0, y + row, x + start, x + end, _luma(colour), alpha)
            self._blend(_shadow(_sprites(scale)[0], x, y), LIGHT, 1.0, luma=False)

    def clear(self) -> None:
        """Take everything out again."""
        for plane, at, data in reversed(self._under):
            self._planes[plane].data[at : at + len(data)] = data
        self._under.clear()

    def _blend(
        self, spans: Iterable[tuple[int, int, int]], colour: tuple[int, int, int], alpha: float,
        *, luma: bool = True,
    ) -> None:  # fmt: skip
        blue, red = _chroma(colour)
        half: set[tuple[int, int, int]] = set()
        for y, start, end in spans:
            if luma:
                self._span(0, y, start, end, _luma(colour), alpha)
            if y % 2 == 0:
                half.add((y // 2, start // 2, (end + 1) // 2))
        for y, start, end in half:
            self._span(1, y, start, end, blue, alpha)
            self._span(2, y, start, end, red, alpha)

    def _span(self, plane: int, y: int, start: int, end: int, value: int, alpha: float) -> None:
        target = self._planes[plane]
        start, end = max(0, start), min(target.width, end)
        if not 0 <= y < target.height or start >= end:
            return
        at = y * target.pitch + start
        under = bytes(target.data[at : at + end - start])
        self._under.append((plane, at, under))
        target.data[at : at + end - start] = under.translate(_table(value, round(alpha * 64)))


@cache
def _table(value: int, alpha: int) -> bytes:
    """Map what lies under a colour to what is seen through it; alpha in 64ths."""
    return bytes((under * (64 - alpha) + value * alpha + 32) // 64 for under in range(256))


def _luma(colour: tuple[int, int, int]) -> int:
    red, green, blue = colour
    return round(16 + (65.481 * red + 128.553 * green + 24.966 * blue) / 255)


def _chroma(colour: tuple[int, int, int]) -> tuple[int, int]:
    red, green, blue = colour
    return (
        round(128 + (-37.797 * red - 74.203 * green + 112.0 * blue) / 255),
        round(128 + (112.0 * red - 93.786 * green - 18.214 * blue) / 255),
    )


def _disc(x: int, y: int, radius: float) -> list[tuple[int, int, int]]:
    rows = []
    for down in range(-int(radius), int(radius) + 1):
        half = round((radius * radius - down * down) ** 0.5)
        rows.append((y + down, x - half, x + half + 1))
    return rows


def _path(points: Sequence[tuple[int, int]], radius: float) -> list[tuple[int, int, int]]:
    """Cover a line of some width, each pixel once."""
    rows: dict[int, list[tuple[int, int]]] = {}
    reach = max(1, round(radius))
    for (x0, y0), (x1, y1) in pairwise(points):
        steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0)) / reach))
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step // steps, y0 + (y1 - y0) * step // steps
            for row, start, end in _disc(x, y, radius):
                rows.setdefault(row, []).append((start, end))
    merged = []
    for row, spans in rows.items():
        spans.sort()
        start, end = spans[0]
        for further, last in spans:
            if further > end:
                merged.append((row, start, end))
                start = further
            end = max(end, last)
        merged.append((row, start, end))
    return merged


Sprite = tuple[tuple[int, int, int, float], ...]


@cache
def _sprites(scale: float) -> tuple[Sprite, Sprite]:
    """Rasterize the arrow's room and the arrow, as spans of equal cover."""
    return _raster(scale, EDGE), _raster(scale, 0.0)


def _raster(scale: float, edge: float) -> Sprite:
    spans: list[tuple[int, int, int, float]] = []
    side = round(24 * scale)
    for y in range(-2, side):
        for x in range(-2, side):
            hits = sum(
                _near((x + i) / scale + ARROW[0][0], (y + j) / scale + ARROW[0][1], edge)
                for i in SUBS for j in SUBS
            )  # fmt: skip
            cover = hits / SUB**2
            if not cover:
                continue
            if spans and spans[-1][0] == y and spans[-1][2] == x and spans[-1][3] == cover:
                spans[-1] = (y, spans[-1][1], x + 1, cover)
            else:
                spans.append((y, x, x + 1, cover))
    return tuple(spans)


def _near(x: float, y: float, edge: float) -> bool:
    """Whether a point lies in the arrow or within `edge` of its outline."""
    inside = False
    for (x0, y0), (x1, y1) in zip(ARROW, (*ARROW[1:], ARROW[0]), strict=True):
        if (y0 > y) != (y1 > y) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
            inside = not inside
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        along = max(0.0, min(1.0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length))
        away = (x - x0 - along * (x1 - x0)) ** 2 + (y - y0 - along * (y1 - y0)) ** 2
        if edge and away <= edge * edge:
            return True
    return inside


def _shadow(sprite: Sprite, x: int, y: int) -> list[tuple[int, int, int]]:
    """Cover where the arrow takes the colour out of what is under it."""
    rows: dict[int, tuple[int, int]] = {}
    for row, start, end, cover in sprite:
        if cover > 0.5:  # noqa: PLR2004 - mostly covered
            low, high = rows.get(row, (start, end))
            rows[row] = (min(low, start), max(high, end))
    return [(y + row, x + start, x + end) for row, (start, end) in rows.items()]
