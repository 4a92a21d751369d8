"""A poster and a strip of small pictures for the console, taken while decoding."""

from typing import BinaryIO

from av.filter import Graph
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from functions.media.jpeg import jpeg

POSTER_PIXELS = 640  # the longer side
STRIP_FRAMES = 6
STRIP_HEIGHT = 90


class Thumbnails:
    """Keeps frames spread over the ordered length and writes two JPEG files at the end."""

    def __init__(self, *, poster: BinaryIO, strip: BinaryIO, seconds: float) -> None:
        self._poster_file, self._strip_file = poster, strip
        self._step = max(seconds, 0.1) / STRIP_FRAMES
        self._due = self._step / 4  # not the very first frame: it is often a fade
        self._strip: list[VideoFrame] = []
        self._poster: VideoFrame | None = None
        self._contrast = -1.0
        self._scaler = VideoReformatter()
        self._first: VideoFrame | None = None

    def take(self, frame: VideoFrame, seconds: float, contrast: float) -> None:
        """Keep this frame if one is due. `contrast` ranks posters."""
        if self._first is None:
            self._first = self._small(frame, STRIP_HEIGHT)
        if seconds < self._due or len(self._strip) >= STRIP_FRAMES:
            return
        self._due += self._step
        self._strip.append(self._small(frame, STRIP_HEIGHT))
        if contrast > self._contrast:
            self._contrast = contrast
            longer = max(frame.width, frame.height)
            self._poster = self._small(
                frame, min(frame.height, round(frame.height * POSTER_PIXELS / longer))
            )

    def finish(self) -> None:
        """Write what was kept."""
        if self._strip and self._poster is not None:
            self._poster_file.write(jpeg(self._poster))
            self._strip_file.write(jpeg(_side_by_side(self._strip)))
        elif self._first is not None:
            self._poster_file.write(jpeg(self._first))
            self._strip_file.write(jpeg(self._first))

    def _small(self, frame: VideoFrame, height: int) -> VideoFrame:
        height = max(2, height // 2 * 2)
        width = max(2, round(height * frame.width / frame.height / 2) * 2)
        return self._scaler.reformat(
            frame, width, height, "yuvj420p", interpolation="AREA", threads=1
        )


def _side_by_side(frames: list[VideoFrame]) -> VideoFrame:
    first = frames[0]
    same = [f for f in frames if (f.width, f.height) == (first.width, first.height)]
    graph = Graph()
    graph.threads = 1
    graph.link_nodes(
        graph.add_buffer(
            width=first.width,
            height=first.height,
            format=first.format,
            time_base=first.time_base,
        ),
        graph.add("tile", f"{len(same)}x1"),
        graph.add("buffersink"),
    )
    graph.configure()
    for index, frame in enumerate(same):
        frame.pts = index
        graph.vpush(frame)
    return graph.vpull()
