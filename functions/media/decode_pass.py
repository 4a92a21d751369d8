"""The one pass over a video: demux, decode in one thread, look at each frame once.

One thread, because frame threads lose part of the decoder's damage flags (measured: 58 of 60
one-bit faults found with one thread, 53 with four).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, cast

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from functions.media.measured import Measured
from functions.media.media_library import MEDIA_ERRORS, shown_video
from functions.media.picture_pass import PicturePass
from functions.media.sound_pass import SoundPass
from functions.media.thumbnails import Thumbnails
from functions.media.units import impossible, length_bytes
from functions.media.verdict import Expected

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream
    from av.video.codeccontext import VideoCodecContext

ERRORS_MAX = 50  # by then the answer is known
READ_BYTES = 256 << 10  # one Python call per read: few, but not large
# How far beyond the order to look: a longer video is a question of its own, not worth an hour.
LONGEST_FACTOR, LONGEST_EXTRA_SECONDS = 3, 60
DECODERS = {"h264": "h264", "hevc": "hevc", "libdav1d": "av1", "av1": "av1", "vp9": "vp9",
            "libvpx-vp9": "vp9"}  # fmt: skip


def measure(file: BinaryIO, order: Expected, thumbnails: Thumbnails | None = None) -> Measured:
    """Measure a file. What the file does wrong is in the result; nothing is raised for it."""
    try:
        # The demuxer is named, so that no other can be talked into reading the bytes.
        with av.open(
            file, "r", format="mov", buffer_size=READ_BYTES, metadata_errors="ignore"
        ) as box:
            return _measure(box, order, thumbnails)
    except MEDIA_ERRORS as error:
        return Measured(opened=type(error).__name__)


def _measure(box: InputContainer, order: Expected, thumbnails: Thumbnails | None) -> Measured:
    stream = shown_video(box)
    if stream is None:
        return Measured(opened="no video")
    # Decoding a stream without a decoder has crashed the process (PyAV #2344), so look first;
    # PyAV's types do not know that there may be none.
    context = cast("VideoCodecContext | None", stream.codec_context)
    if context is None:
        return Measured(opened="no decoder")
    codec = DECODERS.get(context.name, context.name)
    if codec not in order.codecs + order.codecs_review:
        return Measured(codec=codec[:16], opened="codec")
    if context.width * context.height > order.pixels_max:
        return Measured(codec=codec, opened="too large")
    if codec == "av1":
        # In strict mode dav1d checks that a picture's data is used up to its last bit: 26 of 26
        # damages that left no other trace were found by that.
        context.options = {"strict": "1"}
    stream.thread_type = "NONE"
    context.thread_count = 1
    return _Pass(box, stream, codec, order, thumbnails).run()


@dataclass(slots=True)
class _Tally:
    """Running counts of a pass."""

    packets: int = 0
    frames: int = 0
    errors: int = 0
    corrupt_frames: int = 0
    corrupt_packets: int = 0
    impossible_packets: int = 0
    backward: int = 0
    shapes: set[tuple[int, int, str]] = field(default_factory=set)
    first: float | None = None
    last: float = 0.0
    end: float = 0.0
    hold: float = 0.0
    rotation: int = 0
    stopped: str = ""


class _Pass:
    """One run over one file."""

    def __init__(
        self,
        box: InputContainer,
        stream: VideoStream,
        codec: str,
        order: Expected,
        thumbnails: Thumbnails | None,
    ) -> None:
        self._box, self._stream, self._codec = box, stream, codec
        self._tick = float(stream.time_base) if stream.time_base else 0.0
        self._length_size = length_bytes(codec, stream.codec_context.extradata or b"")
        rate = float(stream.average_rate) if stream.average_rate else 0.0
        self._step = 1 / rate if rate > 0 else 0.04  # a frame's length where none is given
        self._picture = PicturePass(rate, thumbnails)
        self._sound = SoundPass(box) if order.sound else None
        self._latest = order.seconds * LONGEST_FACTOR + LONGEST_EXTRA_SECONDS
        self._tally = _Tally()

    def run(self) -> Measured:
        """Decode everything, as far as it is worth it."""
        tally = self._tally
        for packet in self._packets():
            if packet.stream is not self._stream:
                if self._sound is not None:
                    self._sound.take(packet)
                continue
            self._count(packet)
            for frame in self._frames(packet):
                self._look(frame)
            if tally.errors > ERRORS_MAX:
                tally.stopped = "errors"
            elif tally.first is not None and tally.end - tally.first > self._latest:
                tally.stopped = "too long"
            if tally.stopped:
                break
        return self._result()

    def _packets(self) -> "Iterator[Packet[Stream]]":
        sound = self._sound.stream if self._sound is not None else None
        streams = (self._stream,) if sound is None else (self._stream, sound)
        try:
            yield from self._box.demux(*streams)
        except MEDIA_ERRORS:
            self._tally.errors += 1

    def _count(self, packet: "Packet[Stream]") -> None:
        if packet.size == 0:  # the demuxer's signal to drain the decoder
            return
        tally = self._tally
        tally.packets += not packet.is_discard
        tally.corrupt_packets += packet.is_corrupt
        if self._length_size and impossible(bytes(packet), self._length_size):
            tally.impossible_packets += 1

    def _frames(self, packet: "Packet[Stream]") -> list[VideoFrame]:
        try:
            return [frame for frame in packet.decode() if type(frame) is VideoFrame]
        except MEDIA_ERRORS:
            self._tally.errors += 1
            return []

    def _look(self, frame: VideoFrame) -> None:
        tally = self._tally
        tally.frames += 1
        tally.corrupt_frames += frame.is_corrupt
        tally.shapes.add((frame.width, frame.height, frame.format.name))
        tally.rotation = tally.rotation or frame.rotation % 360
        if frame.pts is None:
            tally.backward += 1
            return
        at = frame.pts * self._tick
        last = (frame.duration or 0) * self._tick or self._step
        if tally.first is None:
            tally.first = at
        elif at <= tally.last:
            tally.backward += 1
            return
        else:
            tally.hold = max(tally.hold, at - tally.last)
        tally.last = at
        tally.end = max(tally.end, at + last)
        self._picture.take(frame, at)

    def _result(self) -> Measured:
        tally, context = self._tally, self._stream.codec_context
        start = tally.first or 0.0
        aspect = self._stream.sample_aspect_ratio
        coded = context.sample_aspect_ratio or aspect
        sound = self._sound.finish() if self._sound is not None else {}
        return Measured(
            stopped=tally.stopped,
            codec=self._codec,
            profile=(self._stream.profile or "")[:32],
            pixel_format=(context.pix_fmt or "")[:32],
            width=context.width,
            height=context.height,
            pixel_aspect=float(aspect) if aspect else 1.0,
            coded_aspect=float(coded) if coded else 1.0,
            rotation=tally.rotation,
            packets=tally.packets,
            frames=tally.frames,
            errors=tally.errors,
            corrupt_frames=tally.corrupt_frames,
            corrupt_packets=tally.corrupt_packets,
            impossible_packets=tally.impossible_packets,
            shapes=len(tally.shapes),
            backward=tally.backward,
            start_seconds=start,
            seconds=tally.end - start,
            hold_longest_seconds=max(tally.hold, tally.end - tally.last),
            **self._picture.finish(tally.end),
            **sound,
        )
