"""What the sandbox's child is asked to do: measure one file, and nothing else."""

from collections.abc import Sequence
from typing import IO, BinaryIO, cast

from functions.media.decode_pass import measure
from functions.media.measured import Measured
from functions.media.thumbnails import Thumbnails
from functions.media.verdict import Expected
from functions.media.wire import decode_order, encode_measured


def answer(request: str, files: Sequence[IO[bytes]]) -> str:
    """Measure the first file; the second and third, if given, take the pictures."""
    return encode_measured(measure_with_thumbnails(files, decode_order(request)))


def measure_with_thumbnails(files: Sequence[IO[bytes]], order: Expected) -> Measured:
    """Do the same with values."""
    pictures = [cast("BinaryIO", file) for file in files[1:3]]
    thumbnails = None
    if len(pictures) == 2:  # noqa: PLR2004  a poster and a strip, or neither
        poster, strip = pictures
        thumbnails = Thumbnails(poster=poster, strip=strip, seconds=order.seconds)
    return measure(cast("BinaryIO", files[0]), order, thumbnails)
