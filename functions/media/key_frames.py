"""Keeps a picture of each shot while the video is decoded, when nobody knows yet where it ends.

While a shot goes on, a few small copies spread over it are kept; every second one is dropped when
there are too many. So the middle is always near one of them, and memory does not grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from av.filter import Graph
from av.video.frame import VideoFrame

from functions.media.jpeg import jpeg
from functions.media.shots import Span

LONGER_SIDE = 640  # pixels
COPIES_MAX = 6
STEP_SECONDS = 0.4  # between copies at the beginning of a shot
PROMISE_SECONDS = 0.2  # at most one copy in so long for a picture that may begin a shot
# What a frame may say of its colours, by number; high definition that says nothing is BT.709.
MATRICES = {1: "bt709", 4: "fcc", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020"}
UNSAID, FULL_RANGE = 2, 2
HIGH_DEFINITION = 720  # lines
ASPECT_MAX = 8  # of a pixel; what says more is broken
TURNS: dict[int, tuple[tuple[str, str], ...]] = {
    90: (("transpose", "cclock"),),
    180: (("hflip", ""), ("vflip", "")),
    270: (("transpose", "clock"),),
}


def quarter_turns(rotation: int) -> int:
    """Round a display rotation to 0, 90, 180 or 270 degrees, counted against the clock."""
    return round(rotation % 360 / 90) % 4 * 90


def shown_size(frame: VideoFrame, aspect: Fraction | None) -> tuple[int, int]:
    """Width and height in pixels as a player shows it: square pixels, upright."""
    width, height = frame.width, frame.height
    if aspect is not None and 1 / ASPECT_MAX <= aspect <= ASPECT_MAX:
        width = max(1, round(width * aspect))
    return (height, width) if quarter_turns(frame.rotation) % 180 else (width, height)


def fitted(size: tuple[int, int], side: int, *, longer: bool) -> tuple[int, int]:
    """Shrink a size in proportion, to even numbers, until its longer or shorter side fits."""
    share = min(1.0, side / (max(size) if longer else min(size)))
    width, height = (max(2, round(pixels * share / 2) * 2) for pixels in size)
    return width, height


class Shrinker:
    """Makes small upright copies of one size, whatever shape the frames come in."""

    def __init__(self, size: tuple[int, int], *, pixels: str, colours: str) -> None:
        self._size, self._pixels, self._colours = size, pixels, colours
        self._graph: Graph | None = None
        self._shape: tuple[Any, ...] = ()

    def shrink(self, frame: VideoFrame) -> VideoFrame:
        """Copy one frame."""
        turn = quarter_turns(frame.rotation)
        colours = _colours(frame)
        shape = (frame.width, frame.height, frame.format.name, turn, colours)
        if self._graph is None or shape != self._shape:
            self._graph, self._shape = self._built(frame, turn, colours), shape
        self._graph.vpush(frame)
        return self._graph.vpull()

    def _built(self, frame: VideoFrame, turn: int, colours: str) -> Graph:
        width, height = self._size[::-1] if turn % 180 else self._size
        graph = Graph()
        graph.threads = 1
        graph.link_nodes(
            graph.add_buffer(
                width=frame.width, height=frame.height, format=frame.format,
                time_base=frame.time_base or Fraction(1, 1000),
            ),
            graph.add("scale", f"{width}:{height}:flags=area:{colours}:{self._colours}"),
            *(graph.add(*step) for step in TURNS.get(turn, ())),
            graph.add("format", self._pixels),
            graph.add("setsar", "1"),
            graph.add("buffersink"),
        )  # fmt: skip
        graph.configure()
        return graph


def _colours(frame: VideoFrame) -> str:
    """Say how the scaler is to understand a frame's colours."""
    high = min(frame.width, frame.height) >= HIGH_DEFINITION
    unsaid = "bt709" if high else "bt601"
    said = int(frame.colorspace)
    matrix = unsaid if said == UNSAID else MATRICES.get(said, "auto")
    extent = "full" if int(frame.color_range) == FULL_RANGE else "auto"
    return f"in_color_matrix={matrix}:in_range={extent}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A shot's picture, and when it is shown."""

    seconds: float
    jpeg: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    seconds: float
    frame: VideoFrame
    blank: bool


class KeyFrames:
    """Collects pictures shot by shot; at most twice `most` are held at any time."""

    def __init__(self, size: tuple[int, int], most: int) -> None:
        self._shrinker = Shrinker(
            fitted(size, LONGER_SIDE, longer=True),
            pixels="yuvj420p",
            colours="out_color_matrix=bt601:out_range=full",  # which is what a JPEG means
        )
        self._most = max(0, most)
        self._copies: list[_Copy] = []
        self._start = 0.0
        self._step, self._due, self._promise_due = STEP_SECONDS, 0.0, 0.0
        self._pictures: list[Picture] = []
        self._closed, self._stride = 0, 1  # of so many shots with a picture one in so many is kept

    def take(self, frame: VideoFrame, seconds: float, *, blank: bool, promising: bool) -> None:
        """Keep a copy of a frame if one is due. `promising` frames may begin a shot."""
        if self._most == 0:
            return
        if seconds >= self._due:
            self._due = seconds + self._step
        elif not promising or seconds < self._promise_due:
            return
        if promising:
            self._promise_due = seconds + PROMISE_SECONDS
        copy = _Copy(seconds=seconds, frame=self._shrinker.shrink(frame), blank=blank)
        self._copies.append(copy)
        if len(self._copies) > COPIES_MAX:
            del self._copies[1::2]
            self._step *= 2

    def cut(self, seconds: float) -> None:
        """End a shot there: it is known now, a little later than it happened."""
        if seconds <= self._start:
            return
        self._close(seconds)
        self._copies = [copy for copy in self._copies if copy.seconds >= seconds]
        self._start, self._step, self._due = seconds, STEP_SECONDS, 0.0

    def _close(self, end: float) -> None:
        middle = (self._start + end) / 2
        own = [copy for copy in self._copies if copy.seconds < end and not copy.blank]
        if not own:
            return
        best = min(own, key=lambda copy: abs(copy.seconds - middle))
        self._closed += 1
        if self._closed % self._stride:
            return
        self._pictures.append(Picture(seconds=best.seconds, jpeg=jpeg(best.frame)))
        if len(self._pictures) >= 2 * self._most:
            del self._pictures[::2]
            self._stride *= 2

    def finish(self, shots: Sequence[Span]) -> list[Picture | None]:
        """Give each shot the picture nearest to its middle; at most `most`, spread over them."""
        if not shots:
            return []
        for shot in shots:  # some were certain only at the end
            self.cut(shot.start)
        self._close(max(shots[-1].end, self._start))
        found = [self._nearest(shot) for shot in shots]
        have = [index for index, picture in enumerate(found) if picture is not None]
        if len(have) > self._most:
            wanted = {have[turn * len(have) // self._most] for turn in range(self._most)}
            found = [one if index in wanted else None for index, one in enumerate(found)]
        return found

    def _nearest(self, shot: Span) -> Picture | None:
        own = [one for one in self._pictures if shot.start <= one.seconds < shot.end]
        middle = (shot.start + shot.end) / 2
        return min(own, key=lambda one: abs(one.seconds - middle), default=None)
