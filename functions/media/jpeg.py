"""Writes the small pictures that lie beside a result."""

from fractions import Fraction
from typing import Any

from av.codec.context import CodecContext
from av.video.frame import PictureType, VideoFrame

QUALITY = "4"  # of 2 (best) to 31: no artefacts to be seen at this size


def jpeg(frame: VideoFrame) -> bytes:
    """Encode one picture."""
    encoder: Any = CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "yuvj420p"
    encoder.time_base, encoder.thread_count = Fraction(1, 25), 1
    encoder.options = {"qmin": QUALITY, "qmax": QUALITY}
    frame.pts, frame.pict_type = 0, PictureType.NONE
    return b"".join(bytes(packet) for packet in (*encoder.encode(frame), *encoder.encode(None)))
