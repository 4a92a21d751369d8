"""Looks at each decoded frame through a small copy of it."""

from dataclasses import asdict
from typing import Any

import av
from av.filter import Graph
from av.video.frame import VideoFrame

from functions.media.glance import GlanceLog
from functions.media.lanes import Grid, load
from functions.media.picture_log import PictureLog
from functions.media.stillness import Stillness
from functions.media.surface import card_share, empty_rows_share
from functions.media.thumbnails import Thumbnails

# The longer side of the copy. Averaging areas down to 160 takes coding noise out; signalstats
# on the whole picture would cost two to four times the decoding itself.
COPY_PIXELS = 160
# Copies per second. Nothing that they show comes and goes faster, apart from flashes, which
# the glances at every frame catch; looking at each frame would cost three times as much.
LOOKS_PER_SECOND = 8.0
SURFACES_MAX = 16  # frames whose surface is looked at closely
SURFACE_STEP_SECONDS = 0.5
EDGE_SECONDS = 0.7  # a window of the stillness measure and a little
EIGHT_BITS = ("yuv420p", "yuvj420p")


class PicturePass:
    """Feeds frames to the filters and adds up what they show."""

    def __init__(self, rate: float, thumbnails: Thumbnails | None) -> None:
        self._slack = 0.5 / rate if rate > 0 else 0.0  # take the frame nearest to when it is due
        self._looks = min(LOOKS_PER_SECOND, rate) if rate > 0 else LOOKS_PER_SECOND
        self._thumbnails = thumbnails
        self._log, self._glances = PictureLog(), GlanceLog()
        self._graph: Graph | None = None
        self._shape: tuple[int, int, str] | None = None
        self._grid: Grid | None = None
        self._stillness: Stillness | None = None
        self._surfaces: list[tuple[float, float]] = []
        self._surface_due = 0.0
        self._first: float | None = None
        self._due = 0.0

    def take(self, frame: VideoFrame, seconds: float) -> None:
        """Look at one frame, shown from `seconds` on."""
        if self._first is None:
            self._first = self._due = self._surface_due = seconds
        if frame.format.name in EIGHT_BITS:
            plane = frame.planes[0]
            self._glances.take(
                seconds, memoryview(plane), plane.line_size, frame.width, frame.height
            )
        if seconds < self._due - self._slack:
            return
        self._due = seconds + 1 / LOOKS_PER_SECOND
        shape = (frame.width, frame.height, frame.format.name)
        if shape != self._shape:  # the first frame, or the size changes in the middle
            self._rebuild(frame)
            self._shape = shape
        copy = self._copy(frame)
        if copy is None:
            return
        self._log.take(seconds, copy.metadata)
        self._compare(copy, seconds)
        if self._thumbnails is not None:
            self._thumbnails.take(frame, seconds - self._first, self._log.contrast)

    def finish(self, end: float) -> dict[str, Any]:
        """Sum up in the terms of `Measured`."""
        if self._thumbnails is not None:
            self._thumbnails.finish()
        if not len(self._log):
            return {}
        holds = self._stillness.finish(end) if self._stillness else []
        begin = (self._first or 0.0) + EDGE_SECONDS
        edges = [h.seconds for h in holds if h.start <= begin or h.end >= end - EDGE_SECONDS]
        exact = [hold.seconds for hold in holds if not hold.grain]
        cards = sorted(card for card, _ in self._surfaces)
        empty = sorted(rows for _, rows in self._surfaces)
        return {
            **asdict(self._log.look(end)),
            "flashes": self._glances.flashes(end),
            "strobes": self._glances.strobes(),
            "loop_seconds": self._glances.loop_seconds(),
            "still_seconds": sum(exact),
            "still_longest_seconds": max(exact, default=0.0),
            "grain_seconds": sum(hold.seconds for hold in holds if hold.grain),
            "edge_seconds": max(edges, default=0.0),
            "card_share": cards[len(cards) // 2] if cards else 0.0,
            "empty_rows_share": empty[len(empty) // 2] if empty else 0.0,
        }

    def _rebuild(self, frame: VideoFrame) -> None:
        longer = max(frame.width, frame.height)
        width = max(2, round(COPY_PIXELS * frame.width / longer / 2) * 2)
        height = max(2, round(COPY_PIXELS * frame.height / longer / 2) * 2)
        graph = Graph()
        graph.threads = 1
        graph.link_nodes(
            graph.add_buffer(
                width=frame.width,
                height=frame.height,
                format=frame.format,
                time_base=frame.time_base,
            ),
            graph.add("scale", f"{width}:{height}:flags=area"),
            graph.add("format", "yuv420p"),
            graph.add("blackdetect", "d=0:pix_th=0.10"),
            graph.add("freezedetect", "n=0.001:d=0.5"),
            graph.add("signalstats"),
            graph.add("buffersink"),
        )
        graph.configure()
        self._graph, self._grid = graph, None

    def _copy(self, frame: VideoFrame) -> VideoFrame | None:
        if self._graph is None:
            return None
        self._graph.vpush(frame)
        try:
            return self._graph.vpull()
        except (av.BlockingIOError, av.EOFError):
            return None

    def _compare(self, copy: VideoFrame, seconds: float) -> None:
        plane = copy.planes[0]
        if self._grid is None:
            self._grid = Grid(width=copy.width, height=copy.height, pitch=plane.line_size)
            self._stillness = self._stillness or Stillness(self._grid, self._looks)
        luma = bytes(plane)[: self._grid.pitch * self._grid.height]
        if self._stillness is not None and self._stillness.fits(self._grid):
            self._stillness.take(load(luma, self._grid), seconds)
        if seconds >= self._surface_due and len(self._surfaces) < SURFACES_MAX:
            self._surface_due = seconds + SURFACE_STEP_SECONDS
            self._surfaces.append((card_share(luma, self._grid), empty_rows_share(copy)))
