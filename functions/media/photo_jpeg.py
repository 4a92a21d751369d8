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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A segment, and behind a scan's header the scan itself."""

    kind: int
    body: bytes
    raw: bytes
    end: int


def take_jpeg(data: bytes) -> Payload | Refused:
    """Walk to the end of the first picture; further ones (previews, depth maps) are left behind."""
    jpeg, place = _Jpeg(), 2
    for _ in range(PARTS_MAX):
        part = _next_part(data, place)
        if isinstance(part, Refused):
            return part
        if part.kind == JPEG_END:
            return _whole(jpeg)
        if refused := _take(jpeg, part):
            return refused
        place = part.end
    return unreadable("it has too many parts")


def _next_part(data: bytes, place: int) -> _Part | Refused:
    mark = JPEG_MARKER.search(data, place)
    if mark is None:
        return truncated()
    kind, start = data[mark.end() - 1], mark.end()
    if kind == JPEG_END or kind in JPEG_ALONE:
        return _Part(kind=kind, body=b"", raw=b"", end=start)
    length = int.from_bytes(data[start : start + 2])
    end = start + max(length, 2)
    if end > len(data):
        return truncated()
    body = data[start + 2 : end]
    if kind == JPEG_SCAN:
        behind = JPEG_MARKER.search(data, end)
        if behind is None:
            return truncated()
        end = behind.start()
    return _Part(kind=kind, body=body, raw=data[mark.start() : end], end=end)


def _take(jpeg: _Jpeg, part: _Part) -> Refused | None:
    if part.kind in JPEG_FRAMES:
        jpeg.kept.append(part.raw)
        return _take_frame(jpeg, part.kind, part.body)
    if part.kind == JPEG_SCAN:
        jpeg.scans += 1
        if jpeg.size is None or jpeg.scans > _SCANS_MAX or not part.body:
            return unreadable("its scans are out of order")
        jpeg.seen.update(part.body[1 : 1 + 2 * part.body[0] : 2])
        jpeg.kept.append(part.raw)
    elif part.kind in _KEPT:
        jpeg.adobe = jpeg.adobe or (part.kind == _ADOBE and part.body.startswith(b"Adobe"))
        jpeg.kept.append(part.raw)
    elif part.kind == _EXIF and part.body.startswith(b"Exif\0\0"):
        jpeg.exif = jpeg.exif or part.body
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
