"""PyAV, loaded to its last module, what it raises for what a file says, and which track plays."""

from typing import cast

import av

# PyAV loads these when it meets a stream of their kind, which in the sandbox is too late.
import av.subtitles.codeccontext
import av.subtitles.stream
import av.subtitles.subtitle
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

# A cut header raises EOFError, a seek before the beginning OSError, absurd numbers ValueError.
MEDIA_ERRORS = (av.FFmpegError, OSError, EOFError, ValueError)


def heard_sound(box: InputContainer) -> AudioStream | None:
    """Pick the sound track that players choose, if there is a decoder for it."""
    stream = box.streams.best("audio")
    usable = isinstance(stream, AudioStream) and stream.codec_context is not None
    return cast("AudioStream", stream) if usable else None


def shown_video(box: InputContainer) -> VideoStream | None:
    """Pick the video track that players show: the first enabled one, or else the first."""
    videos = [
        stream for stream in box.streams.video if not stream.disposition & Disposition.attached_pic
    ]
    enabled = [stream for stream in videos if stream.disposition & Disposition.default]
    return next(iter(enabled or videos), None)
