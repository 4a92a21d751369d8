"""Films a photo: a camera move over it as an MP4.

One filter graph does it: crop, scale and cut put each key on its pixels (see `motion_keys`), and
`framerate` blends the keys into frames at a constant rate.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
from av.error import BlockingIOError as NotYetError
from av.error import EOFError as EndedError
from av.filter import Graph
from av.filter.context import FilterContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from functions.domain.outcomes import Rendered
from functions.media.motion_keys import PAD, TICKS, Canvas, Key, plan_canvases, plan_keys
from functions.media.motion_plan import FPS, Move, plan_move
from functions.media.photo import Photo

# veryfast at 20 keeps a photo's texture without visible loss and encodes faster than a Lambda's
# two cores receive; slower presets save few bytes on a single moving photo.
PRESET: Final = "veryfast"
CRF: Final = 20
# x264's result depends on the number of threads, and the same order must give the same file.
THREADS: Final = 2
# A key frame every two seconds lets players seek without a noticeable cost in size.
GOP: Final = 2 * FPS

_BT709: Final = 1
_LIMITED: Final = 1
_SCALING: Final = "accurate_rnd+full_chroma_inp"
_COLOURS: Final = "colorspace=bt709:range=tv"


def render_motion(
    photo: Photo,
    out: Path,
    *,
    motion: str,
    seconds: int,
    aspect: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> Rendered:
    """Render a camera move over a photo into `out`.

    `on_progress(done, total)` is told of every frame; what it raises ends the work. Nothing is
    left at `out` unless the whole clip is there.
    """
    move = plan_move(
        motion=motion,
        seconds=seconds,
        aspect=aspect,
        width=photo.frame.width,
        height=photo.frame.height,
    )
    try:
        _encode(_frames(photo.frame, move), move, out, on_progress)
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    return Rendered(
        path=out,
        facts={
            "width": move.width,
            "height": move.height,
            "frames": move.frames,
            "fps": FPS,
            "seconds": seconds,
        },
    )


def _encode(
    frames: Iterator[VideoFrame],
    move: Move,
    out: Path,
    on_progress: Callable[[int, int], None] | None,
) -> None:
    with av.open(out, "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream(
            "libx264", rate=FPS, options={"preset": PRESET, "crf": str(CRF), "sc_threshold": "0"}
        )
        _describe(stream, move)
        for done, frame in enumerate(frames, start=1):
            container.mux(stream.encode(frame))
            if on_progress:
                on_progress(done, move.frames)
        container.mux(stream.encode(None))


def _describe(stream: VideoStream, move: Move) -> None:
    stream.width, stream.height, stream.pix_fmt = move.width, move.height, "yuv420p"
    context = stream.codec_context
    context.gop_size = GOP
    context.thread_count = THREADS
    context.color_primaries = context.color_trc = context.colorspace = _BT709
    context.color_range = _LIMITED


def _frames(photo: VideoFrame, move: Move) -> Iterator[VideoFrame]:
    """Yield exactly the move's frames."""
    canvases = plan_canvases(move)
    pictures = [_paint(photo, canvas, canvases[0]) for canvas in canvases]
    camera = _Camera.over(pictures[0], move)
    count = 0
    for key in plan_keys(move, canvases):
        for frame in camera.shoot(pictures[key.canvas], key):
            yield frame
            count += 1
    # `framerate` only knows at the end that the last key has no successor, and repeats it.
    for frame in camera.finish():
        if count < move.frames:
            yield frame
            count += 1


def _paint(photo: VideoFrame, canvas: Canvas, largest: Canvas) -> VideoFrame:
    """Scale the canvas' part of the photo to working size, with its edges drawn out by PAD."""
    hull = canvas.hull
    width, height = largest.width + 2 * PAD, largest.height + 2 * PAD
    right, bottom = width - PAD - canvas.width, height - PAD - canvas.height
    return _run(
        photo,
        ("crop", f"{hull.w:.0f}:{hull.h:.0f}:{hull.x:.0f}:{hull.y:.0f}"),
        ("scale", f"{canvas.width}:{canvas.height}:flags=lanczos+{_SCALING}"),
        ("pad", f"{width}:{height}:{PAD}:{PAD}"),
        ("fillborders", f"{PAD}:{right}:{PAD}:{bottom}:mode=smear"),
    )


def _source(graph: Graph, frame: VideoFrame) -> FilterContext:
    size = f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}"
    return graph.add("buffer", f"{size}:time_base=1/{FPS * TICKS}:{_COLOURS}")


def _run(frame: VideoFrame, *steps: tuple[str, str]) -> VideoFrame:
    graph = Graph()
    source, sink = _source(graph, frame), graph.add("buffersink")
    graph.link_nodes(source, *(graph.add(*step) for step in steps), sink).configure()
    frame.pts = 0
    source.push(frame)
    return _picture(sink)


def _picture(sink: FilterContext) -> VideoFrame:
    frame = sink.pull()
    if not isinstance(frame, VideoFrame):
        raise TypeError(type(frame))
    return frame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Camera:
    """The filter graph, whose numbers are set anew for each key.

    It is held here because PyAV's filters do not keep their graph alive.
    """

    graph: Graph
    source: FilterContext
    crop: FilterContext
    scale: FilterContext
    cut: FilterContext
    sink: FilterContext

    @classmethod
    def over(cls, picture: VideoFrame, move: Move) -> "_Camera":
        graph = Graph()
        size = f"{move.width}:{move.height}"
        camera = cls(
            graph=graph,
            source=_source(graph, picture),
            crop=graph.add("crop", f"{size}:0:0"),
            scale=graph.add("scale", f"{size}:flags=bicubic+{_SCALING}"),
            cut=graph.add("crop", f"{size}:0:0"),
            sink=graph.add("buffersink"),
        )
        # No scene is ever cut to; its detector would only cost time.
        blend = graph.add("framerate", f"fps={FPS}:interp_start=0:interp_end=255:flags=0")
        pixels = graph.add("format", "yuv420p")
        # Nothing may stand between `scale` and `cut`: only a direct neighbour learns of a new size.
        graph.link_nodes(
            camera.source, camera.crop, camera.scale, camera.cut, pixels, blend, camera.sink
        ).configure()
        return camera

    def shoot(self, picture: VideoFrame, key: Key) -> Iterator[VideoFrame]:
        """Render a key and return the frames that are complete with it."""
        across, down = key.across, key.down
        _set(self.crop, w=across.size, h=down.size, x=PAD + across.start, y=PAD + down.start)
        _set(self.scale, w=across.scaled, h=down.scaled)
        _set(self.cut, x=across.cut, y=down.cut)
        picture.pts = key.tick
        self.source.push(picture)
        return self._ready()

    def finish(self) -> Iterator[VideoFrame]:
        """Return the rest of the frames."""
        self.source.push(None)
        return self._ready()

    def _ready(self) -> Iterator[VideoFrame]:
        with suppress(NotYetError, EndedError):
            while True:
                frame = _picture(self.sink)
                frame.pict_type = 0
                yield frame


def _set(node: FilterContext, **values: int) -> None:
    for name, value in values.items():
        node.process_command(name, str(value))
