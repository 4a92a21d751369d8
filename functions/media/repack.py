"""What the sandbox's child does to repack a file: copy packets, touch no picture."""

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

import av
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer

from functions.media.decode_pass import READ_BYTES
from functions.media.media_library import shown_video

if TYPE_CHECKING:
    from av.stream import Stream


def answer(request: str, files: Sequence[IO[bytes]]) -> str:
    """Repack the first file into the second. `request` is the room to leave for the index."""
    source, target = files
    # Without dates and versions, so that packing the same bytes again gives the same bytes.
    options = {"moov_size": str(int(request)), "fflags": "bitexact"}
    with (
        av.open(source, "r", format="mov", buffer_size=READ_BYTES, metadata_errors="ignore") as old,
        av.open(target, "w", format="mp4", options=options, buffer_size=READ_BYTES) as new,
    ):
        _copy(old, new)
    return "packed"


def _copy(old: InputContainer, new: OutputContainer) -> None:
    video, sound = shown_video(old), old.streams.best("audio")
    pairs: dict[int, Stream] = {}
    if video is not None:
        copy = new.add_stream_from_template(video, opaque=True)
        if video.codec_context.codec_tag == "hev1":
            copy.codec_context.codec_tag = "hvc1"
        pairs[video.index] = copy
    if isinstance(sound, AudioStream):
        pairs[sound.index] = new.add_stream_from_template(sound, opaque=True)
    for packet in old.demux([old.streams[index] for index in pairs]):
        if packet.dts is None:  # the demuxer's signal that it is done
            continue
        packet.stream = pairs[packet.stream_index]
        new.mux(packet)
