"""The one fact that is wanted of EXIF: which way up the camera was held."""

import struct
from typing import Final

UPRIGHT: Final = 1
_EXIF: Final = b"Exif\0\0"
_ORIENTATION: Final = 0x0112
_SHORT: Final = 3
_ENTRY_BYTES: Final = 12
# Cameras write about a dozen entries.
_ENTRIES_MAX: Final = 512
_HEADERS: Final = {b"II*\0": "<", b"MM\0*": ">"}


def orientation(block: bytes) -> int:
    """Return the EXIF orientation 1..8; a block that is damaged or silent means upright.

    Only the first directory is read, no pointer is followed out of it, and every read is inside
    the block, since the block is a stranger's.
    """
    tiff = block.removeprefix(_EXIF)
    order = _HEADERS.get(tiff[:4])
    if order is None or len(tiff) < 8:  # noqa: PLR2004 - a TIFF header
        return UPRIGHT
    (start,) = struct.unpack_from(f"{order}I", tiff, 4)
    if start + 2 > len(tiff):
        return UPRIGHT
    (count,) = struct.unpack_from(f"{order}H", tiff, start)
    room = (len(tiff) - start - 2) // _ENTRY_BYTES
    for index in range(min(count, room, _ENTRIES_MAX)):
        entry = struct.unpack_from(f"{order}HHIH", tiff, start + 2 + index * _ENTRY_BYTES)
        tag, kind, values, value = entry
        if tag == _ORIENTATION:
            valid = kind == _SHORT and values == 1 and value in range(1, 9)
            return value if valid else UPRIGHT
    return UPRIGHT
