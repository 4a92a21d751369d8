"""Films a photo: a camera move over it as an MP4.

One filter graph does it: crop, scale and cut, with their numbers set anew for each frame so that
the view moves by fractions of a pixel (see `motion_grid`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
from av.filter import Graph
from av.filter.context import FilterContext
from av.video.frame import PictureType, VideoFrame
from av.video.stream import VideoStream

from functions.domain.outcomes import Rendered
from functions.media.motion_grid import MARGIN, Canvas, Shot, plan_canvases, plan_shot
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
_SCALING: Final = "accurate_rnd"
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
        _encode(film(photo.frame, move), move, out, on_progress)
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


def film(photo: VideoFrame, move: Move) -> Iterator[VideoFrame]:
    """Yield the frames of a move, not yet encoded."""
    canvases = plan_canvases(move)
    pictures = [_paint(photo, canvas, canvases[0]) for canvas in canvases]
    camera = _Camera.over(pictures[0], move)
    for index in range(move.frames):
        shot = plan_shot(move, canvases, index)
        yield camera.shoot(pictures[shot.canvas], shot, index)


def _paint(photo: VideoFrame, canvas: Canvas, largest: Canvas) -> VideoFrame:
    """Scale the canvas' part of the photo to working size, with its edges drawn out by MARGIN."""
    part = canvas.part
    width, height = largest.width + 2 * MARGIN, largest.height + 2 * MARGIN
    right, bottom = width - MARGIN - canvas.width, height - MARGIN - canvas.height
    return _run(
        photo,
        ("crop", f"{part.w:.0f}:{part.h:.0f}:{part.x:.0f}:{part.y:.0f}"),
        ("scale", f"{canvas.width}:{canvas.height}:flags=lanczos+{_SCALING}"),
        ("pad", f"{width}:{height}:{MARGIN}:{MARGIN}"),
        ("fillborders", f"{MARGIN}:{right}:{MARGIN}:{bottom}:mode=smear"),
    )


def _source(graph: Graph, frame: VideoFrame) -> FilterContext:
    size = f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}"
    return graph.add("buffer", f"{size}:time_base=1/{FPS}:{_COLOURS}")


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
    """The filter graph, whose numbers are set anew for each frame.

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
        graph.threads = 1  # the encoder's threads are busy with the frames before
        size = f"{move.width}:{move.height}"
        camera = cls(
            graph=graph,
            source=_source(graph, picture),
            crop=graph.add("crop", f"{size}:0:0"),
            scale=graph.add("scale", f"{size}:flags=bicubic+{_SCALING}"),
            cut=graph.add("crop", f"{size}:0:0"),
            sink=graph.add("buffersink"),
        )
        # Nothing may stand between `scale` and `cut`: only a direct neighbour learns of a new size.
        graph.link_nodes(
            camera.source,
            camera.crop,
            camera.scale,
            camera.cut,
            graph.add("format", "yuv420p"),
            camera.sink,
        ).configure()
        return camera

    def shoot(self, picture: VideoFrame, shot: Shot, index: int) -> VideoFrame:
        """Take one frame."""
        across, down = shot.across, shot.down
        _set(self.crop, w=across.size, h=down.size, x=MARGIN + across.start, y=MARGIN + down.start)
        _set(self.scale, w=across.scaled, h=down.scaled)
        _set(self.cut, x=across.cut, y=down.cut)
        picture.pts = index
        # A decoded photo says that it is a key frame, which would make a key frame of every copy.
        picture.pict_type = PictureType.NONE
        self.source.push(picture)
        return _picture(self.sink)


def _set(node: FilterContext, **values: int) -> None:
    for name, value in values.items():
        node.process_command(name, str(value))
