"""The length of a film in fragments, whose index leaves it open.

It stands in the index's part about fragments, or in a directory in front of them; or else it is
the time of the last fragment, named by the directory behind them, and what that fragment holds.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from functions.media.length_reading import PIECE_BYTES, Window
from functions.media.tracks import children

SAMPLES_MAX = 100_000  # in one fragment
DIRECTORY_END_BYTES = 16  # the box that ends a file and says how long the directory is
DEFAULT_DURATION, BASE_OFFSET, DESCRIPTION = 0x08, 0x01, 0x02  # what a fragment's header gives
DATA_OFFSET, FIRST_FLAGS = 0x001, 0x004  # what a run of samples gives
RUN_DURATION, RUN_FIELDS = 0x100, (0x100, 0x200, 0x400, 0x800)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Track:
    scale: int  # ticks a second
    sample: int  # ticks of a sample, unless a fragment says otherwise


def extended_seconds(moov: bytes) -> float:
    """Read the length including fragments; zero if the index does not say it."""
    scale, length = 0, 0
    for kind, content in children(memoryview(moov)):
        if kind == "mvhd":
            scale = _scale(content)
        elif kind == "mvex":
            header = next((inner for name, inner in children(content) if name == "mehd"), None)
            if header is not None:
                length = _number(header, 4, wide=header[0] == 1)
    return length / scale if scale > 0 else 0.0


def indexed_seconds(sidx: bytes) -> float:
    """Add up what a segment index lists."""
    body = memoryview(sidx)
    (scale,) = struct.unpack(">I", body[8:12])
    at = 30 if body[0] else 22
    (count,) = struct.unpack(">H", body[at : at + 2])
    entries = range(at + 2, min(len(body) - 11, at + 2 + 12 * count), 12)
    ticks = sum(int.from_bytes(body[entry + 4 : entry + 8], "big") for entry in entries)
    return ticks / scale if scale else 0.0


def directory_seconds(window: Window, moov: bytes) -> float:
    """Find the end of the last fragment by the directory at the end of the file."""
    tail_at = max(0, window.size - PIECE_BYTES)
    tail = window.at(tail_at, PIECE_BYTES)
    end = tail[-DIRECTORY_END_BYTES:]
    if end[4:8] != b"mfro":
        return 0.0
    start = window.size - int.from_bytes(end[12:16], "big") - tail_at
    if start < 0:
        return 0.0
    tracks, longest = _tracks(moov), 0.0
    for kind, content in children(memoryview(tail)[start + 8 :]):
        track = tracks.get(int.from_bytes(content[4:8], "big")) if kind == "tfra" else None
        if track is not None and track.scale > 0:
            time, fragment = _last_entry(content)
            number = int.from_bytes(content[4:8], "big")
            ticks = time + _held(window, fragment, number, track.sample)
            longest = max(longest, ticks / track.scale)
    return longest


def _tracks(moov: bytes) -> dict[int, _Track]:
    scales: dict[int, int] = {}
    samples: dict[int, int] = {}
    for kind, content in children(memoryview(moov)):
        if kind == "trak":
            parts = dict(children(content))
            header = dict(children(parts.get("mdia", content[:0]))).get("mdhd", content[:0])
            if "tkhd" in parts and header:
                wide = bool(parts["tkhd"][0])
                scales[_number(parts["tkhd"], 20 if wide else 12)] = _scale(header)
        elif kind == "mvex":
            for name, inner in children(content):
                if name == "trex":
                    samples[_number(inner, 4)] = _number(inner, 12)
    return {
        number: _Track(scale=scales[number], sample=samples.get(number, 0)) for number in scales
    }


def _last_entry(tfra: memoryview) -> tuple[int, int]:
    """Time and place of the last fragment listed."""
    wide = bool(tfra[0])
    sizes, count = tfra[11], _number(tfra, 12)
    step = (16 if wide else 8) + sum((sizes >> shift & 3) + 1 for shift in (0, 2, 4))
    count = min(count, (len(tfra) - 16) // step)
    if count <= 0:
        return 0, -1
    at = 16 + (count - 1) * step
    return _number(tfra, at, wide=wide), _number(tfra, at + (8 if wide else 4), wide=wide)


def _held(window: Window, at: int, number: int, sample: int) -> int:
    """Add up the ticks of a track's samples in the fragment at a place; zero if it is none."""
    header = window.at(at, 8)
    if header[4:8] != b"moof":
        return 0
    size = min(PIECE_BYTES, int.from_bytes(header[:4], "big"))
    body = memoryview(window.at(at, size))[8:]
    return sum(
        _run_ticks(run, duration)
        for kind, content in children(body)
        if kind == "traf"
        for duration, run in _runs(content, number, sample)
    )


def _runs(traf: memoryview, number: int, sample: int) -> Iterator[tuple[int, memoryview]]:
    duration = sample
    for kind, content in children(traf):
        if kind == "tfhd":
            if _number(content, 4) != number:
                return
            flags = _number(content, 0) & 0xFFFFFF
            at = 8 + (8 if flags & BASE_OFFSET else 0) + (4 if flags & DESCRIPTION else 0)
            duration = _number(content, at) if flags & DEFAULT_DURATION else sample
        elif kind == "trun":
            yield duration, content


def _run_ticks(trun: memoryview, duration: int) -> int:
    flags, count = _number(trun, 0) & 0xFFFFFF, _number(trun, 4)
    if not flags & RUN_DURATION:
        return min(count, SAMPLES_MAX) * duration
    start = 8 + (4 if flags & DATA_OFFSET else 0) + (4 if flags & FIRST_FLAGS else 0)
    step = 4 * sum(bool(flags & field) for field in RUN_FIELDS)
    entries = islice(range(start, len(trun) - step + 1, step), min(count, SAMPLES_MAX))
    return sum(_number(trun, at) for at in entries)


def _scale(header: memoryview) -> int:
    """Ticks a second of an mvhd or mdhd."""
    return _number(header, 20 if header[0] == 1 else 12)


def _number(data: memoryview, at: int, *, wide: bool = False) -> int:
    (value,) = struct.unpack(">Q" if wide else ">I", data[at : at + (8 if wide else 4)])
    return int(value)
