"""Encodes pictures as they come, each shown until the next one, and joins the segments."""

import errno
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
from av.codec.context import CodecContext
from av.container import OutputContainer
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType, VideoFrame
from av.video.stream import VideoStream

# Constant quality: text stays sharp. One thread, because more would change the bytes and the
# other cores have segments of their own. No reordering, so that a hold is just a longer frame.
OPTIONS = {
    "preset": "veryfast", "crf": "21", "forced-idr": "1",
    "x264-params": "keyint=infinite:min-keyint=1:bframes=0:threads=1:lookahead-threads=1:"
    "sliced-threads=0:sync-lookahead=0:rc-lookahead=10:log=-1",
}  # fmt: skip
KEY_SECONDS = 10  # between whole pictures while something changes: how far a seek decodes
HOLD_SECONDS = 20  # a longer hold is said again, for players that wait for the next frame
HELD_KEY_SECONDS = 600  # while nothing changes: that is as many frames as in a second
# JPEG's colours, which the pictures come in; screens' primaries.
BT709, BT601, LIMITED = 1, 6, 1
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Developer:
    """Turns JPEG pictures into frames to be encoded."""

    def __init__(self) -> None:
        made = CodecContext.create("mjpeg", "r")
        if not isinstance(made, VideoCodecContext):
            raise TypeError("no JPEG decoder in this build")
        made.thread_count = 1
        self._decoder = made

    def develop(self, jpeg: bytes) -> VideoFrame:
        """Decode a picture into memory of its own."""
        frame = self._decoder.decode(Packet(jpeg))[0]
        return frame.reformat(format="yuv420p", dst_color_range=LIMITED)


class Film:
    """One segment's file. Frames are numbered from the segment's first."""

    def __init__(self, path: Path, *, size: tuple[int, int], fps: int) -> None:
        self._box: OutputContainer = av.open(str(path), "w", format="mp4")
        stream: VideoStream = self._box.add_stream("libx264", rate=fps, options=dict(OPTIONS))
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        context.time_base = Fraction(1, fps)
        context.color_primaries = context.color_trc = BT709
        context.colorspace, context.color_range = BT601, LIMITED
        self._stream, self._fps = stream, fps
        self._key = -(10**9)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if kind is None:
            self._box.mux(self._stream.encode(None))
        self._box.close()

    def show(self, frame: VideoFrame, number: int, *, changed: bool = True) -> None:
        """Show a picture from a frame on."""
        limit = KEY_SECONDS if changed else HELD_KEY_SECONDS
        whole = number - self._key >= limit * self._fps
        frame.pts, frame.time_base = number, Fraction(1, self._fps)
        frame.pict_type = PictureType.I if whole else PictureType.NONE
        if whole:
            self._key = number
        self._box.mux(self._stream.encode(frame))


def failure_code(error: Exception) -> str:
    """Say why a film could not be written."""
    return "disk-full" if getattr(error, "errno", 0) in NO_ROOM else "encoder-failed"


def join(parts: Sequence[tuple[int, Path]], out: Path, *, frames: int, fps: int) -> None:
    """Put segments behind each other; each is given with the number of its first frame."""
    with av.open(str(out), "w", format="mp4", options={"movflags": "+faststart"}) as box:
        stream: VideoStream | None = None
        waiting: Packet[VideoStream] | None = None
        for packet, number in _packets(parts, fps):
            if stream is None:
                template = packet.stream
                if not isinstance(template, VideoStream):
                    raise TypeError("a segment without pictures")
                stream = box.add_stream_from_template(template)
                stream.time_base = Fraction(1, fps)
            if waiting is not None:
                _mux(box, waiting, number)
            packet.stream = stream
            packet.time_base = Fraction(1, fps)
            packet.pts = packet.dts = number
            waiting = packet
        if waiting is not None:
            _mux(box, waiting, frames)


def _mux(box: OutputContainer, packet: "Packet[VideoStream]", until: int) -> None:
    packet.duration = until - (packet.pts or 0)
    box.mux(packet)


def _packets(
    parts: Sequence[tuple[int, Path]], fps: int
) -> "Iterator[tuple[Packet[VideoStream], int]]":
    for first, path in parts:
        with av.open(str(path), format="mov") as box:
            for packet in box.demux(video=0):
                if packet.size and packet.pts is not None and packet.time_base is not None:
                    yield packet, first + round(packet.pts * packet.time_base * fps)
