"""What the walkers hand to the decoder."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A whole picture, and nothing but the picture, with the size that it must decode to."""

    codec: str
    data: bytes
    width: int
    height: int
    exif: bytes = b""
