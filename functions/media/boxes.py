"""A bounded walk over an MP4's top-level boxes, in Python alone.

It runs in the parent process: it reads a few headers and the index, allocates what the file
really holds and never what a header claims, and reports oddities as values.
"""

import os
from dataclasses import dataclass
from typing import BinaryIO

from functions.media.sniff import sniff
from functions.media.tracks import Movie, read_movie

BOXES_MAX = 20_000  # an hour in half-second fragments has 14,400 boxes
INDEX_BYTES_MAX = 64 << 20  # a ten-hour film's index is about 20 MB
# By how much an edit list may be shorter than the samples without leaving any out on purpose.
LEFT_OUT_SECONDS = 0.05
HEAD_BYTES = 4096  # enough to recognise any file type and to read all brands

# What may stand at the top level of a file; anything else that also overruns it is not a box.
TOP_LEVEL = "ftyp styp moov moof mdat free skip wide udta meta uuid sidx ssix mfra pdin prft emsg"
KNOWN = frozenset(TOP_LEVEL.split(" "))
WHOLE_FILE = frozenset(("ftyp", "moov"))  # of which a file has one each


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One top-level box: absolute offsets of its first byte, its body and its declared end."""

    kind: str
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What an index promises, to be held against what is decoded. Zero: it leaves it open."""

    frames: int = 0
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the container says of itself, before any of it is decoded."""

    size_bytes: int
    sniffed: str  # mp4, or what the bytes are instead: html, webm, gif, empty, ...
    brands: tuple[str, ...] = ()  # major brand first
    boxes: tuple[Box, ...] = ()
    missing_bytes: int = 0  # that the last box claims beyond the end of the file
    trailing_bytes: int = 0  # behind the last box
    movie: Movie | None = None  # the first moov's content

    def count(self, kind: str) -> int:
        """Count the boxes of one kind."""
        return sum(box.kind == kind for box in self.boxes)

    @property
    def index_first(self) -> bool:
        """Whether the index precedes the media, so that playing starts while loading."""
        order = [box.kind for box in self.boxes if box.kind in ("moov", "mdat")]
        return not order or order[0] == "moov"

    @property
    def fragmented(self) -> bool:
        """Whether media is indexed piece by piece."""
        return self.count("moof") > 0 or (self.movie is not None and self.movie.extends)

    @property
    def listed(self) -> Listed:
        """What the index promises of the pictures that players show."""
        videos = self.movie.of("vide") if self.movie is not None else ()
        if not videos:
            return Listed()
        track = videos[0]
        left_out = 0.0
        if track.shown_seconds is not None and track.sample_seconds is not None:
            left_out = track.sample_seconds - (track.shown_seconds - track.gap_seconds)
        complete = not self.fragmented and left_out <= LEFT_OUT_SECONDS
        return Listed(
            frames=track.samples if complete else 0, width=track.width, height=track.height
        )


def read_layout(file: BinaryIO) -> Layout:
    """Walk a file. Never raises for what the bytes say, only if the file cannot be read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(HEAD_BYTES)
    sniffed = sniff(head)
    if sniffed not in ("mp4", "unknown"):
        return Layout(size_bytes=size, sniffed=sniffed)
    boxes, stop = _walk(file, size)
    if not any(box.kind in KNOWN for box in boxes):
        return Layout(size_bytes=size, sniffed="unknown")
    return Layout(
        size_bytes=size,
        sniffed="mp4",
        brands=_brands(head, boxes),
        boxes=tuple(boxes),
        missing_bytes=max(0, boxes[-1].end - size),
        trailing_bytes=max(0, size - stop),
        movie=_movie(file, boxes, size),
    )


def _walk(file: BinaryIO, size: int) -> tuple[list[Box], int]:
    """List the boxes and say where the last one ends."""
    boxes: list[Box] = []
    at = 0
    while at < size and len(boxes) < BOXES_MAX:
        file.seek(at)
        box = box_at(file.read(16), at, size)
        if box is None or (box.end > size and box.kind not in KNOWN):
            break
        boxes.append(box)
        at = box.end
    return boxes, at


def box_at(header: bytes, at: int, size: int) -> Box | None:
    """Read one header of up to 16 bytes; None if no box can start so."""
    kind = header[4:8]
    if len(header) < 8 or not _is_kind(kind):  # noqa: PLR2004  a header is 8 bytes
        return None
    length = int.from_bytes(header[:4], "big")
    body = at + 8
    if length == 1:
        if len(header) < 16:  # noqa: PLR2004  or 16 with a 64-bit length
            return None
        length, body = int.from_bytes(header[8:16], "big"), at + 16
    elif length == 0:
        length = size - at  # by definition the rest of the file
    if at + length < body:
        return None
    return Box(kind=kind.decode("latin-1"), start=at, body=body, end=at + length)


def _is_kind(kind: bytes) -> bool:
    """Four printable characters; the first may be the copyright sign of old QuickTime."""
    return all(0x20 <= byte < 0x7F or byte == 0xA9 for byte in kind)  # noqa: PLR2004


def _brands(head: bytes, boxes: list[Box]) -> tuple[str, ...]:
    first = boxes[0]
    if first.kind != "ftyp":
        return ()
    body = head[first.body : min(first.end, len(head))]
    found = [body[:4], *(body[at : at + 4] for at in range(8, len(body) - 3, 4))]
    return tuple(brand.decode("latin-1") for brand in found if len(brand) == 4)  # noqa: PLR2004


def _movie(file: BinaryIO, boxes: list[Box], size: int) -> Movie | None:
    for box in boxes:
        if box.kind != "moov":
            continue
        end = min(box.end, size)
        if end - box.body > INDEX_BYTES_MAX:
            return None
        file.seek(box.body)
        return read_movie(file.read(end - box.body))
    return None
