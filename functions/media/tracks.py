"""The index of an MP4: what each track says it holds, and which bytes it points at.

Reads one `moov` body that is already in memory. Every loop is bounded by the bytes present,
and whatever cannot be read makes its track `broken` instead of raising.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from functions.media.chunks import Chunks, read_chunks

CHILDREN_MAX = 4096  # boxes per parent; real ones have a dozen
TRACKS_MAX = 64
FAR_FUTURE = 0xFFFF_FFFF  # "unknown" as a 32-bit duration

Child = tuple[str, memoryview]


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One track by its own words. Durations in seconds; None where it does not say."""

    handler: str  # vide, soun, text, ...
    enabled: bool = True
    entry: str = ""  # the sample entry: avc1, hvc1, mp4a, ...
    protected: bool = False  # encrypted
    width: int = 0
    height: int = 0
    pixel_aspect: float = 1.0
    turned: bool = False  # a rotation or mirroring is left to the player
    seconds: float | None = None  # mdhd
    shown_seconds: float | None = None  # by the edit list, gaps included
    gap_seconds: float = 0.0  # of nothing before the first picture or sound
    samples: int = 0
    sample_seconds: float | None = None  # the sum of the samples' durations
    chunks: Chunks | None = None
    broken: str = ""  # what could not be read, or contradicts itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Movie:
    """What the file's index says: the declared length in seconds, and its tracks."""

    seconds: float | None
    extends: bool  # more media follows in fragments
    tracks: tuple[Track, ...]

    def of(self, handler: str) -> tuple[Track, ...]:
        """List the tracks of one type, enabled ones first."""
        found = [track for track in self.tracks if track.handler == handler]
        return tuple(sorted(found, key=lambda track: not track.enabled))


def read_movie(body: bytes) -> Movie:
    """Read a moov's body."""
    scale, seconds, extends = 0, None, False
    raw: list[memoryview] = []
    for kind, content in children(memoryview(body)):
        if kind == "mvhd":
            scale, seconds = _time(content)
        elif kind == "mvex":
            extends = True
        elif kind == "trak" and len(raw) < TRACKS_MAX:
            raw.append(content)
    tracks = tuple(_track(content, scale) for content in raw)
    return Movie(seconds=seconds, extends=extends, tracks=tracks)


def children(body: memoryview, start: int = 0) -> Iterator[Child]:
    """Yield the boxes inside a box; one that overruns its parent is cut at the parent's end."""
    at = start
    for _ in range(CHILDREN_MAX):
        if at + 8 > len(body):
            return
        length = int.from_bytes(body[at : at + 4], "big")
        kind = bytes(body[at + 4 : at + 8]).decode("latin-1")
        header = 8
        if length == 1 and at + 16 <= len(body):
            length, header = int.from_bytes(body[at + 8 : at + 16], "big"), 16
        elif length == 0:
            length = len(body) - at
        if length < header:
            return
        yield kind, body[at + header : at + length]
        at += length


def _down(body: memoryview, *path: str) -> memoryview:
    """Find the first box at a path; empty if there is none."""
    for step in path:
        body = next((content for kind, content in children(body) if kind == step), body[:0])
    return body


def _track(body: memoryview, movie_scale: int) -> Track:
    try:
        return _read_track(body, movie_scale)
    except (struct.error, IndexError, ValueError, OverflowError):
        return Track(handler=_handler(_down(body, "mdia", "hdlr")), broken="headers")


def _handler(hdlr: memoryview) -> str:
    return bytes(hdlr[8:12]).decode("latin-1")


def _read_track(body: memoryview, movie_scale: int) -> Track:
    scale, seconds = _time(_down(body, "mdia", "mdhd"))
    tables = _down(body, "mdia", "minf", "stbl")
    header = _down(body, "tkhd")
    handler = _handler(_down(body, "mdia", "hdlr"))
    picture = _entry(_down(tables, "stsd"), video=handler == "vide")
    shown, gap = _edits(_down(body, "edts", "elst"), movie_scale)
    chunks = read_chunks(dict(children(tables)))
    timed, ticks = _times(_down(tables, "stts"))
    return Track(
        handler=handler,
        enabled=not header or bool(header[3] & 1),
        entry=picture.entry,
        protected=picture.protected,
        width=picture.width,
        height=picture.height,
        pixel_aspect=_aspect(header, picture),
        turned=_turned(header),
        seconds=seconds,
        shown_seconds=shown,
        gap_seconds=gap,
        samples=chunks.samples,
        sample_seconds=ticks / scale if scale > 0 else None,
        chunks=chunks,
        broken=chunks.broken or ("times" if timed != chunks.samples else ""),
    )


def _time(header: memoryview) -> tuple[int, float | None]:
    """Time scale and duration of an mvhd or mdhd."""
    if len(header) < 20:  # noqa: PLR2004  the short form up to its duration
        return 0, None
    if header[0] == 1:
        scale, length = struct.unpack(">iQ", header[20:32])
        unknown = length == (1 << 64) - 1
    else:
        scale, length = struct.unpack(">iI", header[12:20])
        unknown = length == FAR_FUTURE
    return scale, None if unknown or scale <= 0 else length / scale


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    entry: str
    protected: bool
    width: int = 0
    height: int = 0
    pixel_aspect: float | None = None  # said by a pasp box


def _entry(stsd: memoryview, *, video: bool) -> _Picture:
    """Read the first sample entry; protected if any of them is."""
    entries = list(children(stsd, 8))
    if not entries:
        return _Picture(entry="", protected=False)
    protected = any(
        kind in ("encv", "enca", "drmi", "drms") or b"sinf" in bytes(content[:4096])
        for kind, content in entries
    )
    kind, content = entries[0]
    if not video:
        return _Picture(entry=kind, protected=protected)
    width, height = struct.unpack(">HH", content[24:28])
    across, down = 0, 0
    for name, inner in children(content, 78):
        if name == "pasp":
            across, down = struct.unpack(">II", inner[:8])
    return _Picture(
        entry=kind,
        protected=protected,
        width=width,
        height=height,
        pixel_aspect=across / down if across and down else None,
    )


def _turned(tkhd: memoryview) -> bool:
    """Whether the display matrix does more than scale and shift."""
    at = 52 if tkhd and tkhd[0] == 1 else 40
    if len(tkhd) < at + 36:
        return False
    a, b, _, c, d = struct.unpack(">iiiii", tkhd[at : at + 20])
    return bool(b or c or a < 0 or d < 0)


def _aspect(tkhd: memoryview, picture: _Picture) -> float:
    """Say the shape of a pixel: as said, or as the track's shown size implies."""
    at = 88 if tkhd and tkhd[0] == 1 else 76
    if picture.pixel_aspect is not None:
        return picture.pixel_aspect
    if len(tkhd) < at + 8 or not picture.width or not picture.height:
        return 1.0
    width, height = struct.unpack(">II", tkhd[at : at + 8])
    if not width or not height:
        return 1.0
    return float(width / height / (picture.width / picture.height))


def _edits(elst: memoryview, movie_scale: int) -> tuple[float | None, float]:
    """Shown seconds and leading gap of an edit list; None if there is no usable one."""
    if len(elst) < 8 or movie_scale <= 0:  # noqa: PLR2004  version, flags, count
        return None, 0.0
    form, step = (">Qq", 20) if elst[0] == 1 else (">Ii", 12)
    count = min(int.from_bytes(elst[4:8], "big"), (len(elst) - 8) // step)
    edits = [
        struct.unpack(form, elst[at : at + step - 4]) for at in range(8, 8 + count * step, step)
    ]
    total = sum(length for length, _ in edits)
    gap = 0
    for length, start in edits:
        if start >= 0:
            break
        gap += length
    return (total / movie_scale if total else None), gap / movie_scale


def _times(stts: memoryview) -> tuple[int, int]:
    """Count samples and take the sum of their durations in ticks."""
    count = min(int.from_bytes(stts[4:8], "big"), max(0, len(stts) - 8) // 8)
    flat = struct.unpack(f">{2 * count}I", stts[8 : 8 + 8 * count])
    runs = list(zip(flat[::2], flat[1::2], strict=True))
    return sum(number for number, _ in runs), sum(number * ticks for number, ticks in runs)
