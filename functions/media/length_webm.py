"""The length of a WebM or Matroska file by its segment's information."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from functions.media.length_reading import PIECE_BYTES, Said, Window

# Element numbers, with the marker bits of their own length.
HEADER, SEGMENT, SEEK_HEAD, INFO = 0x1A45DFA3, 0x18538067, 0x114D9B74, 0x1549A966
SEEK, SEEK_ID, SEEK_POSITION = 0x4DBB, 0x53AB, 0x53AC
SCALE, DURATION, CLUSTER = 0x2AD7B1, 0x4489, 0x1F43B675
SCALE_DEFAULT = 1_000_000  # nanoseconds per tick
ID_BYTES_MAX, SIZE_BYTES_MAX = 4, 8
ELEMENTS_MAX = 512
FLOATS = {4: ">f", 8: ">d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    number: int
    body: int  # absolute offset
    end: int | None  # None: as far as it goes


def webm_seconds(window: Window) -> float | Said:
    """Find the length in seconds."""
    segment = next(
        (one for one in _elements(window, 0, window.size) if one.number == SEGMENT), None
    )
    if segment is None:
        return Said.BROKEN
    end = window.size if segment.end is None else min(segment.end, window.size)
    hint: int | None = None
    for element in _elements(window, segment.body, end):
        if element.number == INFO:
            return _length(window, element)
        if element.number == SEEK_HEAD:
            hint = _place_of_info(window, element, segment.body)
        if element.number == CLUSTER or element.end is None:
            break  # media; what comes behind it is found by the directory alone
    if hint is None:
        return Said.BROKEN
    found = next(_elements(window, hint, end), None)
    return _length(window, found) if found is not None and found.number == INFO else Said.BROKEN


def _length(window: Window, info: _Element) -> float | Said:
    scale, ticks = SCALE_DEFAULT, None
    body = info.body
    end = window.size if info.end is None else min(info.end, window.size, body + PIECE_BYTES)
    for element in _elements(window, body, end):
        if element.end is None:
            break
        data = window.at(element.body, min(8, element.end - element.body))
        if element.number == SCALE:
            scale = int.from_bytes(data, "big")
        elif element.number == DURATION and element.end - element.body in FLOATS:
            if len(data) != element.end - element.body:
                return Said.BROKEN
            (ticks,) = struct.unpack(FLOATS[len(data)], data)
    if ticks is None:
        return Said.UNKNOWN
    return float(ticks) * scale / 1e9


def _place_of_info(window: Window, directory: _Element, base: int) -> int | None:
    """Read where the information is said to be, from the segment's beginning."""
    for seek in _elements(window, directory.body, directory.end or directory.body):
        if seek.number != SEEK or seek.end is None:
            continue
        values = {
            one.number: int.from_bytes(window.at(one.body, min(8, one.end - one.body)), "big")
            for one in _elements(window, seek.body, seek.end)
            if one.end is not None
        }
        if values.get(SEEK_ID) == INFO and SEEK_POSITION in values:
            return base + values[SEEK_POSITION]
    return None


def _elements(window: Window, start: int, end: int) -> Iterator[_Element]:
    """Walk elements side by side; one of unknown size is the last."""
    at = start
    for _ in range(ELEMENTS_MAX):
        if at >= end:
            return
        data = window.at(at, ID_BYTES_MAX + SIZE_BYTES_MAX)
        number = _varying(data, ID_BYTES_MAX, marked=True)
        if number is None:
            return
        width = _width(data)
        size = _varying(data[width:], SIZE_BYTES_MAX, marked=False)
        if size is None:
            return
        size_width = _width(data[width:])
        body = at + width + size_width
        unknown = size == (1 << 7 * size_width) - 1
        yield _Element(number=number, body=body, end=None if unknown else body + size)
        if unknown:
            return
        at = body + size


def _width(data: bytes) -> int:
    """Count the bytes of a number by the first bit that is set."""
    return 9 - data[0].bit_length()


def _varying(data: bytes, bytes_max: int, *, marked: bool) -> int | None:
    if not data or not data[0]:
        return None
    width = _width(data)
    if width > bytes_max or len(data) < width:
        return None
    value = int.from_bytes(data[:width], "big")
    return value if marked else value & ((1 << 7 * width) - 1)
