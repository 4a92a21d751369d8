"""WebP files: RIFF chunks around one lossy or lossless picture."""

from dataclasses import dataclass
from typing import Final

from functions.domain.outcomes import Refused
from functions.media.photo_header import (
    PARTS_MAX,
    animated,
    check_size,
    truncated,
    unreadable,
    webp_size,
)
from functions.media.photo_payload import Payload

_ANIMATION: Final = 0x02
_ALPHA: Final = 0x10
_RIFF_BYTES: Final = 12
_HEAD_BYTES: Final = 10
_PICTURES: Final = frozenset({b"VP8 ", b"VP8L"})


@dataclass(slots=True, kw_only=True)
class _Webp:
    canvas: bytes = b""
    alpha: bytes = b""
    exif: bytes = b""
    name: bytes = b""
    picture: bytes = b""


def take_webp(data: bytes) -> Payload | Refused:
    """Walk the chunks within the length that the file declares."""
    end = 8 + int.from_bytes(data[4:8], "little")
    if end > len(data):
        return truncated()
    webp, place = _Webp(), _RIFF_BYTES
    for _ in range(PARTS_MAX):
        if place + 8 > end:
            return _whole(webp)
        name = data[place : place + 4]
        length = int.from_bytes(data[place + 4 : place + 8], "little")
        if place + 8 + length > end:
            return truncated()
        if refused := _take(webp, name, data[place + 8 : place + 8 + length]):
            return refused
        place += 8 + length + length % 2
    return unreadable("it has too many parts")


def _take(webp: _Webp, name: bytes, body: bytes) -> Refused | None:
    if name in (b"ANIM", b"ANMF") or (name == b"VP8X" and body and body[0] & _ANIMATION):
        return animated()
    if name == b"VP8X":
        webp.canvas = webp.canvas or body
    elif name == b"ALPH":
        webp.alpha = webp.alpha or body
    elif name == b"EXIF":
        webp.exif = webp.exif or body
    elif name in _PICTURES:
        if webp.picture:
            return unreadable("it holds more than one picture")
        webp.name, webp.picture = name, body
    return None


def _whole(webp: _Webp) -> Payload | Refused:
    if not webp.picture:
        return truncated()
    if len(webp.picture) < _HEAD_BYTES:
        return unreadable("its picture is damaged")
    size = webp_size(webp.name, webp.picture[:_HEAD_BYTES])
    if size is None or (webp.canvas and webp_size(b"VP8X", webp.canvas) != size):
        return unreadable("its sizes contradict each other")
    if refused := check_size(*size):
        return refused
    if webp.name == b"VP8 " and _first_part(webp.picture) > len(webp.picture):
        return truncated()
    width, height = size
    return Payload(
        codec="webp", data=_rebuilt(webp, width, height), width=width, height=height, exif=webp.exif
    )


def _first_part(picture: bytes) -> int:
    """Return where the first partition of a lossy picture ends."""
    return _HEAD_BYTES + (int.from_bytes(picture[:3], "little") >> 5)


def _rebuilt(webp: _Webp, width: int, height: int) -> bytes:
    chunks = _chunk(webp.name, webp.picture)
    if webp.alpha and webp.name == b"VP8 ":
        sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        canvas = _chunk(b"VP8X", bytes((_ALPHA, 0, 0, 0)) + sides)
        chunks = canvas + _chunk(b"ALPH", webp.alpha) + chunks
    return b"RIFF" + (4 + len(chunks)).to_bytes(4, "little") + b"WEBP" + chunks


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)
