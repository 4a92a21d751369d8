"""Where the camera looks at each moment of a move over a photo: geometry only, no pixels.

A move is two crop windows and the way between them. Both lie inside the photo, so everything
between them does too, and neither end depends on the length of the clip.
"""

import math
from dataclasses import dataclass
from typing import Final

MOTIONS: Final = ("zoom-in", "zoom-out", "pan-left", "pan-right", "pan-up", "pan-down", "drift")
ASPECTS: Final = {"16:9": (1280, 720), "9:16": (720, 1280), "1:1": (960, 960)}
SECONDS_MIN: Final = 1
SECONDS_MAX: Final = 30
FPS: Final = 25

# How much closer a move gets. A second cannot take much without hurrying, a long clip should not
# stand still, and beyond 1.4 the loss of resolution shows.
ZOOM_BASE: Final = 1.12
ZOOM_PER_SECOND: Final = 0.02
ZOOM_MAX: Final = 1.4
# A pan over a panorama may use its length, but not faster than this share of the view a second.
PAN_PER_SECOND: Final = 0.08
# A drift crosses the middle part of the room that it has, so that no edge is ever touched.
DRIFT_FROM: Final = 0.2
DRIFT_TO: Final = 0.8
# The camera takes up to a second to start and to stop, in short clips a quarter of the clip.
RAMP_SECONDS: Final = 1.0
RAMP_SHARE_MAX: Final = 0.25

# Which way a pan looks: (1, 0) moves the camera to the right, (0, -1) moves it up.
_PANS: Final = {
    "pan-left": (-1, 0),
    "pan-right": (1, 0),
    "pan-up": (0, -1),
    "pan-down": (0, 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of the photo, in its pixels; whole numbers lie on the pixels' edges."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.y + self.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A planned camera move: `frames` pictures of `width` x `height` from `start` to `end`."""

    start: Window
    end: Window
    frames: int
    width: int
    height: int

    def at(self, frame: float) -> Window:
        """Return the window of a frame; fractions lie between frames. The ends are exact."""
        if frame <= 0:
            return self.start
        if frame >= self.frames - 1:
            return self.end
        ramp = min(RAMP_SHARE_MAX, RAMP_SECONDS * FPS / self.frames)
        return _between(self.start, self.end, ease(frame / (self.frames - 1), ramp))

    @property
    def hull(self) -> Window:
        """The smallest window that holds every window of the move."""
        x, y = min(self.start.x, self.end.x), min(self.start.y, self.end.y)
        right = max(self.start.right, self.end.right)
        bottom = max(self.start.bottom, self.end.bottom)
        return Window(x=x, y=y, w=right - x, h=bottom - y)


def plan_move(*, motion: str, seconds: int, aspect: str, width: int, height: int) -> Move:
    """Plan a move over a photo of `width` x `height`.

    The order was checked long before a photo is read, so an unknown one is a bug: ValueError.
    """
    if aspect not in ASPECTS or not SECONDS_MIN <= seconds <= SECONDS_MAX:
        raise ValueError(f"no such order: {aspect!r}, {seconds!r} s")
    out_w, out_h = ASPECTS[aspect]
    zoom = min(ZOOM_MAX, ZOOM_BASE + ZOOM_PER_SECOND * seconds)
    stage = _Stage(
        width=width,
        height=height,
        cover=min(width / out_w, height / out_h),
        out_w=out_w,
        out_h=out_h,
        reach=max(zoom - 1, PAN_PER_SECOND * seconds),
    )
    start, end = _ends(stage, motion, zoom)
    return Move(start=start, end=end, frames=seconds * FPS, width=out_w, height=out_h)


def ease(share: float, ramp: float) -> float:
    """Map the share of time to the share of the way: constant speed with soft ends.

    The speed follows half a cosine for `ramp` of the time at each end, so neither it nor the
    acceleration jumps.
    """
    if share > 1 - ramp:
        return 1 - ease(1 - share, ramp)
    if share < ramp:
        return (share - ramp / math.pi * math.sin(math.pi * share / ramp)) / 2 / (1 - ramp)
    return (share - ramp / 2) / (1 - ramp)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """The photo, the view, and how far the camera may travel over it (in views)."""

    width: int
    height: int
    cover: float
    out_w: int
    out_h: int
    reach: float

    def window(self, closer: float, across: float, down: float) -> Window:
        """Return a window `closer` than covering, at 0..1 of the room beside and above it."""
        w, h = self.out_w * self.cover / closer, self.out_h * self.cover / closer
        return Window(
            x=self._place(self.width, w, across), y=self._place(self.height, h, down), w=w, h=h
        )

    def _place(self, picture: int, view: float, share: float) -> float:
        slack = max(0.0, picture - view)
        room = min(slack, self.reach * view)
        # The outer `max` and `min` undo the last bit of rounding, which could leave the photo.
        return max(0.0, min(slack, (slack - room) / 2 + room * share))


def _ends(stage: _Stage, motion: str, zoom: float) -> tuple[Window, Window]:
    if motion in _PANS:
        dx, dy = _PANS[motion]
        # A photo with enough room in this direction is shown as wide as it can be; any other
        # one is cropped until there is room for the move.
        length, view = (stage.width, stage.out_w) if dx else (stage.height, stage.out_h)
        closer = max(1.0, zoom * view * stage.cover / length)
        return (
            stage.window(closer, (1 - dx) / 2, (1 - dy) / 2),
            stage.window(closer, (1 + dx) / 2, (1 + dy) / 2),
        )
    if motion == "drift":
        return (
            stage.window(math.sqrt(zoom), DRIFT_FROM, DRIFT_TO),
            stage.window(zoom, DRIFT_TO, DRIFT_FROM),
        )
    wide, close = stage.window(1.0, 0.5, 0.5), stage.window(zoom, 0.5, 0.5)
    if motion == "zoom-in":
        return wide, close
    if motion == "zoom-out":
        return close, wide
    raise ValueError(f"no such motion: {motion!r}")


def _between(start: Window, end: Window, share: float) -> Window:
    """Return the window at `share` of the way.

    Equal steps multiply the size by equal factors, which is what the eye takes for a steady
    zoom, and the position follows the size, so that one point of the photo stands still.
    """
    w = start.w * (end.w / start.w) ** share
    grown = end.w - start.w
    # With next to no zoom the quotient would be noise.
    way = (w - start.w) / grown if abs(grown) > 1e-6 * start.w else share
    return Window(
        x=start.x + (end.x - start.x) * way,
        y=start.y + (end.y - start.y) * way,
        w=start.w + grown * way,
        h=start.h + (end.h - start.h) * way,
    )
