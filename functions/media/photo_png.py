"""PNG files: chunks, check sums, and exactly as many pixels as the header promises."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from functions.domain.outcomes import Refused
from functions.media.photo_header import (
    PARTS_MAX,
    PNG_SIGNATURE,
    animated,
    check_size,
    truncated,
    unreadable,
)
from functions.media.photo_payload import Payload

_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PALETTE: Final = 3
_KEPT: Final = frozenset({b"PLTE", b"tRNS"})
# First column and row, then the steps, of each pass of an interlaced picture.
_ADAM7: Final = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
_PIECE: Final = 65536


@dataclass(slots=True, kw_only=True)
class _Png:
    header: bytes = b""
    kept: list[bytes] = field(default_factory=list)
    names: set[bytes] = field(default_factory=set)
    pixels: list[bytes] = field(default_factory=list)
    exif: bytes = b""


def take_png(data: bytes) -> Payload | Refused:
    """Walk the chunks to IEND and check that the compressed pixels are all there."""
    png, place = _Png(), len(PNG_SIGNATURE)
    for _ in range(PARTS_MAX):
        head = data[place : place + 8]
        length, name = int.from_bytes(head[:4]), head[4:]
        end = place + 12 + length
        if len(head) < 8 or end > len(data):  # noqa: PLR2004 - length and name
            return truncated()
        if zlib.crc32(data[place + 4 : end - 4]) != int.from_bytes(data[end - 4 : end]):
            return unreadable("a check sum is wrong")
        if refused := _take(png, name, data[place + 8 : end - 4], data[place:end]):
            return refused
        if name == b"IEND":
            return _whole(png)
        place = end
    return unreadable("it has too many parts")


def _take(png: _Png, name: bytes, body: bytes, chunk: bytes) -> Refused | None:
    if not png.header:
        png.header, png.kept = body, [PNG_SIGNATURE, chunk]
        return _check_header(name, body)
    if name in (b"acTL", b"fcTL", b"fdAT"):
        return animated()
    if name == b"IDAT":
        png.pixels.append(body)
        png.kept.append(chunk)
    elif name in _KEPT:
        if name in png.names or png.pixels:
            return unreadable("its parts are out of order")
        png.names.add(name)
        png.kept.append(chunk)
    elif name == b"eXIf":
        png.exif = png.exif or body
    elif name in (b"IHDR", b"CgBI"):
        return unreadable("its header is damaged")
    return None


def _check_header(name: bytes, body: bytes) -> Refused | None:
    if name != b"IHDR" or len(body) != 13:  # noqa: PLR2004 - the length of every IHDR
        return unreadable("it does not start as a PNG must")
    width, height, depth, colour, packing, filters, interlace = struct.unpack(">IIBBBBB", body)
    if depth not in _DEPTHS.get(colour, ()) or packing or filters or interlace > 1:
        return unreadable("its header is damaged")
    return check_size(width, height)


def _whole(png: _Png) -> Payload | Refused:
    if png.header[9] == _PALETTE and b"PLTE" not in png.names:
        return unreadable("its palette is missing")
    if refused := _check_pixels(png.pixels, _raw_bytes(png.header)):
        return refused
    width, height = struct.unpack_from(">II", png.header)
    end = b"\0\0\0\0IEND\xaeB`\x82"
    data = b"".join((*png.kept, end))
    return Payload(codec="png", data=data, width=width, height=height, exif=png.exif)


def _raw_bytes(header: bytes) -> int:
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    bits = depth * _SAMPLES[colour]
    passes = _ADAM7 if interlace else ((0, 0, 1, 1),)
    total = 0
    for x, y, across, down in passes:
        columns, rows = -((x - width) // across), -((y - height) // down)
        # A pass without pixels has no rows either; each row starts with its filter's number.
        total += rows * (1 + (columns * bits + 7) // 8) if columns > 0 and rows > 0 else 0
    return total


def _check_pixels(pixels: list[bytes], wanted: int) -> Refused | None:
    """Unpack without keeping, and never more than a piece beyond what the size allows."""
    unpack, total = zlib.decompressobj(), 0
    try:
        for piece in _pieces(pixels):
            total += _unpacked(unpack, piece, wanted - total)
            if total > wanted:
                return unreadable("it holds more pixels than its size says")
    except zlib.error:
        return unreadable("its pixels are damaged")
    return None if total == wanted else truncated()


def _unpacked(unpack: "zlib._Decompress", piece: bytes, room: int) -> int:
    """Count what a piece unpacks to, stopping soon after `room` is passed."""
    total, rest = 0, piece
    while total <= room and not unpack.eof:
        got = len(unpack.decompress(rest, _PIECE))
        total, rest = total + got, unpack.unconsumed_tail
        if not rest and got < _PIECE:
            break
    return total


def _pieces(pixels: list[bytes]) -> Iterator[bytes]:
    for body in pixels:
        for start in range(0, len(body), _PIECE):
            yield body[start : start + _PIECE]
