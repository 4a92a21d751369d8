"""JPEG files: segments, scans, and where the picture really ends."""

from dataclasses import dataclass, field
from typing import Final

from functions.domain.outcomes import Refused
from functions.media.photo_header import (
    JPEG_ALONE,
    JPEG_END,
    JPEG_FRAMES,
    JPEG_FRAMES_READ,
    JPEG_MARKER,
    JPEG_SCAN,
    PARTS_MAX,
    check_size,
    truncated,
    unreadable,
    unsupported,
)
from functions.media.photo_payload import Payload

# Each scan may cost a pass over the whole picture. Encoders write 10 or so.
_SCANS_MAX: Final = 64
_EXIF: Final = 0xE1
_ADOBE: Final = 0xEE
_DEPTH: Final = 8
_CMYK: Final = 4
# Tables, restart interval, number of lines, and Adobe's note on the colours.
_KEPT: Final = frozenset({0xC4, 0xDB, 0xDC, 0xDD, _ADOBE})


@dataclass(slots=True, kw_only=True)
class _Jpeg:
    kept: list[bytes] = field(default_factory=lambda: [b"\xff\xd8"])
    exif: bytes = b""
    adobe: bool = False
    size: tuple[int, int] | None = None
    wanted: frozenset[int] = frozenset()
    seen: set[int] = field(default_factory=set)
    scans: int = 0


def take_jpeg(data: bytes) -> Payload | Refused:
    """Walk to the end of the first picture; further ones (previews, depth maps) are left behind."""
    jpeg, place = _Jpeg(), 2
    for _ in range(PARTS_MAX):
        mark = JPEG_MARKER.search(data, place)
        if mark is None:
            return truncated() if jpeg.size else unreadable("no picture starts in it")
        kind, place = data[mark.end() - 1], mark.end()
        if kind == JPEG_END:
            return _whole(jpeg)
        if kind in JPEG_ALONE:
            continue
        length = int.from_bytes(data[place : place + 2])
        body = data[place + 2 : place + length]
        if place + max(length, 2) > len(data):
            return truncated()
        if length < 2:  # noqa: PLR2004 - counts itself
            return unreadable("a part of it has no length")
        place += length
        if kind == JPEG_SCAN:
            scan_end = JPEG_MARKER.search(data, place)
            if scan_end is None:
                return truncated()
            place = scan_end.start()
        if refused := _take(jpeg, kind, body, data[mark.start() : place]):
            return refused
    return unreadable("it has too many parts")


def _take(jpeg: _Jpeg, kind: int, body: bytes, segment: bytes) -> Refused | None:
    if kind in JPEG_FRAMES:
        jpeg.kept.append(segment)
        return _take_frame(jpeg, kind, body)
    if kind == JPEG_SCAN:
        jpeg.scans += 1
        jpeg.seen.update(body[1 : 1 + 2 * body[0] : 2] if body else b"")
        if jpeg.size is None or jpeg.scans > _SCANS_MAX:
            return unreadable("its scans are out of order")
        jpeg.kept.append(segment)
    elif kind in _KEPT:
        jpeg.adobe = jpeg.adobe or (kind == _ADOBE and body.startswith(b"Adobe"))
        jpeg.kept.append(segment)
    elif kind == _EXIF and body.startswith(b"Exif\0\0"):
        jpeg.exif = jpeg.exif or body
    return None


def _take_frame(jpeg: _Jpeg, kind: int, body: bytes) -> Refused | None:
    if kind not in JPEG_FRAMES_READ:
        return unsupported("lossless or arithmetic JPEG")
    if jpeg.size is not None or len(body) < 6 or len(body) != 6 + 3 * body[5]:  # noqa: PLR2004
        return unreadable("its header is damaged")
    if body[0] != _DEPTH:
        return unsupported(f"{body[0]}-bit JPEG")
    jpeg.size = int.from_bytes(body[3:5]), int.from_bytes(body[1:3])
    jpeg.wanted = frozenset(body[6::3])
    return check_size(*jpeg.size)


def _whole(jpeg: _Jpeg) -> Payload | Refused:
    if jpeg.size is None:
        return unreadable("no picture starts in it")
    if not jpeg.wanted <= jpeg.seen:
        return truncated()
    if len(jpeg.wanted) == _CMYK and not jpeg.adobe:
        # Without Adobe's note nobody knows whether 0 is full ink or none.
        return unsupported("CMYK JPEG without a note on its inks")
    width, height = jpeg.size
    data = b"".join((*jpeg.kept, b"\xff\xd9"))
    return Payload(codec="mjpeg", data=data, width=width, height=height, exif=jpeg.exif)
