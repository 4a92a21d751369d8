"""Reads a stranger's photo: upright, on white, ready to be filmed, or refused with the reason."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
from av.codec.context import CodecContext, ThreadType
from av.error import FFmpegError
from av.filter import Graph
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

from functions.domain.outcomes import Refused
from functions.media.photo_exif import orientation
from functions.media.photo_header import check_bytes, photo_kind, unreadable
from functions.media.photo_jpeg import take_jpeg
from functions.media.photo_payload import Payload
from functions.media.photo_png import take_png
from functions.media.photo_webp import take_webp

# No move shows more than about 3030 pixels across a photo's shorter side (a view's longest side
# x the closest zoom x the oversampling), so a larger photo is shrunk at once to save memory.
SHARP_SIDE: Final = 3072
_WALKERS: Final = {"jpeg": take_jpeg, "png": take_png, "webp": take_webp}
# What turns each EXIF orientation upright.
_TURNS: Final = {
    1: (),
    2: (("hflip", ""),),
    3: (("hflip", ""), ("vflip", "")),
    4: (("vflip", ""),),
    5: (("transpose", "cclock_flip"),),
    6: (("transpose", "clock"),),
    7: (("transpose", "clock_flip"),),
    8: (("transpose", "cclock"),),
}
# swscale blends onto black, so white is blended between two negatives. Palettes may hold alpha.
_ON_WHITE: Final = (
    ("format", "rgba"),
    ("negate", ""),
    ("scale", "alphablend=uniform_color"),
    ("format", "gbrp"),
    ("negate", ""),
)
_ALPHA: Final = frozenset({"rgba", "argb", "rgba64be", "ya8", "ya16be", "pal8", "yuva420p"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A decoded photo: yuv444p, BT.709, limited range, upright.

    `width` and `height` are the upright photo's own; `frame` may be smaller (see SHARP_SIDE).
    """

    kind: str
    width: int
    height: int
    frame: VideoFrame


def read_photo(path: Path) -> Photo | Refused:
    """Read a customer's file, whatever it is and is called, as a photo."""
    if refused := check_bytes(path.stat().st_size):
        return refused
    data = path.read_bytes()
    kind = photo_kind(data)
    if isinstance(kind, Refused):
        return kind
    payload = _WALKERS[kind](data)
    if isinstance(payload, Refused):
        return payload
    del data
    frame = _decode(payload)
    if isinstance(frame, Refused):
        return frame
    upright = orientation(payload.exif)
    sideways = upright >= 5  # noqa: PLR2004 - the orientations that lie on their side
    return Photo(
        kind=kind,
        width=payload.height if sideways else payload.width,
        height=payload.width if sideways else payload.height,
        frame=_prepare(payload.codec, frame, upright),
    )


def _decode(payload: Payload) -> VideoFrame | Refused:
    """Decode strictly: without `explode` FFmpeg paints grey what it cannot read, and is content."""
    codec = CodecContext.create(payload.codec, "r")
    if not isinstance(codec, VideoCodecContext):
        raise TypeError(payload.codec)
    codec.options = {"err_detect": "explode"}
    codec.thread_type = ThreadType.NONE
    try:
        frames = codec.decode(av.Packet(payload.data)) + codec.decode(None)
    except FFmpegError:
        return unreadable("its pixels are damaged")
    if len(frames) != 1 or frames[0].is_corrupt:
        return unreadable("its pixels are damaged")
    if (frames[0].width, frames[0].height) != (payload.width, payload.height):
        return unreadable("its sizes contradict each other")
    return frames[0]


def _prepare(codec: str, frame: VideoFrame, upright: int) -> VideoFrame:
    name = frame.format.name
    shrink = min(1.0, SHARP_SIDE / min(frame.width, frame.height))
    width, height = round(frame.width * shrink), round(frame.height * shrink)
    # Stills use the whole range, except lossy WebP, which is a video frame.
    full = codec != "webp" or not name.startswith("yuv")
    scale = (
        f"{width}:{height}:flags=lanczos+accurate_rnd+full_chroma_inp+full_chroma_int"
        f":in_color_matrix=bt601:in_range={'full' if full else 'limited'}"
        ":out_color_matrix=bt709:out_range=limited"
    )
    steps = _ON_WHITE if name in _ALPHA else ()
    return _filtered(frame, (*steps, ("scale", scale), ("format", "yuv444p"), *_TURNS[upright]))


def _filtered(frame: VideoFrame, steps: tuple[tuple[str, str], ...]) -> VideoFrame:
    graph = Graph()
    source = graph.add(
        "buffer",
        f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:time_base=1/1"
        f":colorspace={frame.colorspace}:range={frame.color_range}",
    )
    chain = [graph.add(name, args or None) for name, args in steps]
    sink = graph.add("buffersink")
    graph.link_nodes(source, *chain, sink).configure()
    frame.pts = 0
    source.push(frame)
    result = sink.pull()
    if not isinstance(result, VideoFrame):
        raise TypeError(type(result))
    return result
