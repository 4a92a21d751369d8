"""What the sandbox's child does to view a video: one pass in which it is decoded once.

Every frame is looked at, for a cut is to be found to the frame. Leaving out frames that no other
refers to was measured: it saves an eighth of the time on a film with grain, where the bits are in
the others, and nothing on what phones record.
"""

import errno
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Any, cast

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from functions.media.child import ANSWER_FD
from functions.media.decode_pass import DECODERS, READ_BYTES
from functions.media.diet import Plan, latest_end
from functions.media.hearing import Hearing
from functions.media.key_frames import KeyFrames, shown_size
from functions.media.media_library import MEDIA_ERRORS, heard_sound, shown_video
from functions.media.miniatures import Miniaturist
from functions.media.parts import Parts
from functions.media.shots import CHANGE_MIN, ShotFinder
from functions.media.threads import usable_threads

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream
    from av.video.codeccontext import VideoCodecContext

PIXELS_MAX = 4096 * 2304  # 4K; more would take gigabytes to decode
LAG_SECONDS = 10.0  # after which what is missing of one track is taken for still or silent
ERRORS_MAX = 200  # in a row without a picture
SAY_SECONDS = 0.5
NO_ROOM = {errno.EFBIG: "part-too-large", errno.ENOSPC: "disk-full", errno.EDQUOT: "disk-full"}
START_APART_SECONDS = 0.1  # a track that starts later than this really does


class _Stopped(Exception):
    """Ends the pass; its word is a code."""


def answer(request: str, files: Sequence[IO[bytes]]) -> str:
    """View the first file; the second takes the key frames, the rest the parts."""
    order = json.loads(request)
    try:
        found = _view(order, files)
    except _Stopped as stopped:
        found = {"ended": str(stopped)}
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        found = {"ended": NO_ROOM[error.errno]}
    return json.dumps(found, allow_nan=False)


def _view(order: dict[str, Any], files: Sequence[IO[bytes]]) -> dict[str, Any]:
    source, pictures, *parts = files
    try:
        # The demuxer is named, so that no other can be talked into reading the bytes.
        box = av.open(
            source, "r", format=order["format"], buffer_size=READ_BYTES, metadata_errors="ignore"
        )
    except MEDIA_ERRORS as error:
        raise _Stopped("video-unreadable") from error
    with box:
        viewer = _Viewer(box, order, parts)
        found = viewer.run()
    shots = []
    sizes: list[int] = []
    for span, picture in found.pop("shots"):
        shots.append([round(span.start, 3), round(span.end, 3), -1])
        if picture is not None:
            shots[-1][2] = len(sizes)
            sizes.append(len(picture.jpeg))
            pictures.write(picture.jpeg)
    sizes_of_parts = [os.fstat(part.fileno()).st_size for part in parts]
    if parts and max(sizes_of_parts) > order["diet"]["bytes_max"]:
        raise _Stopped("part-too-large")
    return {"ended": "viewed", **found, "shots": shots, "pictures": sizes}


@dataclass(slots=True)
class _Tally:
    frames: int = 0
    errors: int = 0  # since the last frame
    first: float = 0.0  # when the first frame is shown
    last: float = 0.0
    end: float = 0.0  # of the last frame
    codec: str = ""
    size: tuple[int, int] = (0, 0)
    said: float = field(default_factory=time.monotonic)


class _Viewer:
    """One run over one file."""

    def __init__(
        self, box: InputContainer, order: dict[str, Any], files: Sequence[IO[bytes]]
    ) -> None:
        self._box, self._order, self._files = box, order, files
        self._seconds = float(order["seconds"])
        self._latest = latest_end(self._seconds)
        self._tally = _Tally()
        self._stream = _decodable(box, order["threads"])
        self._tally.codec = _codec(self._stream)
        rate = self._stream.average_rate
        self._step = float(1 / rate) if rate else 0.04  # a frame's length where none is given
        self._sound = heard_sound(box)
        self._zero = _zero(self._stream, self._sound)
        self._shots, self._miniaturist = ShotFinder(), Miniaturist()
        self._hearing = Hearing(self._hear) if self._sound is not None else None
        self._key_frames: KeyFrames | None = None
        self._parts: Parts | None = None

    def run(self) -> dict[str, Any]:
        """Decode everything and sum up."""
        for packet in self._packets():
            self._say()
            for frame in self._decoded(packet):
                if isinstance(frame, VideoFrame):
                    self._look(frame)
                elif isinstance(frame, AudioFrame):
                    self._listen(frame)
        if not self._tally.frames:
            raise _Stopped("no-picture" if self._tally.errors == 0 else "video-unreadable")
        return self._result()

    def _packets(self) -> "Iterator[Packet[Stream]]":
        streams = [self._stream] if self._sound is None else [self._stream, self._sound]
        try:
            yield from self._box.demux(streams)
        except MEDIA_ERRORS:
            self._tally.errors += 1  # what comes behind cannot be reached

    def _decoded(self, packet: "Packet[Stream]") -> list[Any]:
        try:
            return packet.decode()
        except MEDIA_ERRORS:
            if packet.stream is self._stream:
                self._tally.errors += 1
                if self._tally.errors > ERRORS_MAX:
                    raise _Stopped("video-unreadable") from None
            return []

    def _look(self, frame: VideoFrame) -> None:
        tally = self._tally
        at = self._time(frame.pts, self._stream.time_base, tally.end if tally.frames else 0.0)
        if tally.frames and at <= tally.last:
            at = tally.last + 0.001  # out of order: shown, but time goes on
        if not tally.frames:
            self._begin(frame)
            tally.first = at
        tally.frames += 1
        tally.errors = 0
        tally.last = at
        length = float(frame.duration * frame.time_base) if frame.time_base else 0.0
        tally.end = at + (length if length > 0 else self._step)
        self._not_beyond(at)
        self._show(frame, at)
        if self._hearing is not None:
            self._hearing.hold_until(at - LAG_SECONDS)

    def _show(self, frame: VideoFrame, at: float) -> None:
        picture = self._miniaturist.draw(frame)
        self._shots.take(picture, at)
        if self._key_frames is not None:
            for boundary in self._shots.boundaries[-2:]:
                self._key_frames.cut(boundary.seconds)
            promising = self._shots.change >= CHANGE_MIN
            self._key_frames.take(frame, at, blank=picture.blank, promising=promising)
        if self._parts is not None:
            self._parts.show(frame, at)

    def _begin(self, frame: VideoFrame) -> None:
        """Everything that depends on the size as shown starts with the first picture."""
        if frame.width * frame.height > PIXELS_MAX:  # which its header may have hidden
            raise _Stopped("picture-too-large")
        size = self._tally.size = shown_size(frame, self._stream.sample_aspect_ratio)
        self._key_frames = KeyFrames(size, self._order["key_frames_max"])
        diet = self._order["diet"]
        if diet is not None:
            plan = Plan.of(diet, self._seconds, self._order["tight"])
            sound = plan.sound and self._sound is not None
            self._parts = Parts(plan, self._files, size=size, sound=sound)

    def _listen(self, frame: AudioFrame) -> None:
        if self._hearing is None:
            return
        at = self._time(frame.pts, frame.time_base, self._hearing.seconds)
        self._not_beyond(at)
        self._hearing.take(frame, at)
        if self._parts is not None and self._hearing.seconds > self._parts.seconds + LAG_SECONDS:
            self._parts.hold_until(self._hearing.seconds - LAG_SECONDS)

    def _hear(self, block: bytes, seconds: float) -> None:
        if self._parts is not None:
            self._parts.hear(block, seconds)

    def _time(self, pts: int | None, base: Fraction | None, otherwise: float) -> float:
        if pts is None or base is None:
            return otherwise
        return float(pts * base) - self._zero

    def _not_beyond(self, seconds: float) -> None:
        if seconds > self._latest:
            raise _Stopped("longer-than-said")

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._tally.said >= SAY_SECONDS:
            self._tally.said = now
            done = max(0, round(1000 * min(self._tally.end, self._seconds)))
            os.write(ANSWER_FD, f"{done} {max(1, round(1000 * self._seconds))}\n".encode("ascii"))

    def _result(self) -> dict[str, Any]:
        tally, hearing = self._tally, self._hearing
        end = max(tally.end, hearing.end if hearing is not None else 0.0)
        self._not_beyond(end)
        sound = hearing.finish(end) if hearing is not None else None
        shots = self._shots.finish(end)
        pictures = self._key_frames.finish(shots) if self._key_frames is not None else []
        parts = self._parts.finish(end) if self._parts is not None else []
        return {
            "seconds": round(end, 3),
            "width": tally.size[0],
            "height": tally.size[1],
            "frames_per_second": round(tally.frames / max(tally.end - tally.first, 0.001), 3),
            "codec": tally.codec,
            "sound": sound,
            "shots": list(zip(shots, pictures, strict=True)),
            "parts": [[round(start, 3), round(stop, 3)] for start, stop in parts],
        }


def _decodable(box: InputContainer, threads: int) -> VideoStream:
    stream = shown_video(box)
    if stream is None:
        raise _Stopped("no-picture")
    # Decoding a stream without a decoder has crashed the process (PyAV #2344), so look first;
    # PyAV's types do not know that there may be none.
    context = cast("VideoCodecContext | None", stream.codec_context)
    if context is None:
        raise _Stopped("codec-unsupported")
    if context.width * context.height > PIXELS_MAX:
        raise _Stopped("picture-too-large")
    count = usable_threads(threads)
    stream.thread_type = "AUTO" if count > 1 else "NONE"
    context.thread_count = count
    return stream


def _codec(stream: VideoStream) -> str:
    name = stream.codec_context.name
    return DECODERS.get(name, name)[:16]


def _zero(video: VideoStream, sound: AudioStream | None) -> float:
    """Find the moment at which playing starts, on the file's own clock."""
    starts = [
        float(stream.start_time * stream.time_base)
        if stream.start_time is not None and stream.time_base is not None
        else 0.0
        for stream in (video, sound)
        if stream is not None
    ]
    earliest = min(starts)
    # A fraction of a frame, such as an encoder's delay, is not worth moving the pictures for.
    return earliest if starts[0] - earliest > START_APART_SECONDS else starts[0]
