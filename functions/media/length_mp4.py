"""The length of an MP4 or MOV by its index, of whose beginning the first bytes are enough."""

import struct
from collections.abc import Iterator

from functions.media.boxes import Box, box_at
from functions.media.length_fragments import directory_seconds, extended_seconds, indexed_seconds
from functions.media.length_reading import PIECE_BYTES, Said, Window
from functions.media.tracks import Movie, read_movie

BOXES_MAX = 2048
HEADER_BYTES = 16
TIMES_BYTES = 36  # of a movie header, up to its duration
ODDITIES = (struct.error, IndexError, ValueError, OverflowError, ZeroDivisionError)


def mp4_seconds(window: Window) -> float | Said:
    """Find the length in seconds."""
    try:
        return _seconds(window)
    except ODDITIES:
        return Said.BROKEN


def _seconds(window: Window) -> float | Said:
    index = next((box for box in _boxes(window, 0, window.size) if box.kind == "moov"), None)
    if index is None or index.end > window.size:
        return Said.BROKEN
    body = window.at(index.body, min(PIECE_BYTES, index.end - index.body))
    movie = read_movie(body)
    said = movie.seconds or _header_seconds(window, index)
    if movie.extends:
        found = (
            extended_seconds(body) or _in_front(window, index) or directory_seconds(window, body)
        )
        longest = max(found, said or 0.0)
        return longest if longest > 0 else Said.UNKNOWN
    if said:
        return min(said, _longest(movie) or said) if index.body + len(body) == index.end else said
    # A header without a length, as some recorders leave it; a track's own is as good.
    tracks = [track.seconds for track in movie.tracks if track.seconds is not None]
    if tracks:
        return max(tracks)
    return Said.UNKNOWN if said is None and movie.tracks else Said.BROKEN


def _longest(movie: Movie) -> float:
    """Say how long pictures and sound go on: subtitles may be said to go on long after them."""
    heard = [track for track in movie.tracks if track.handler in ("vide", "soun")]
    return max((track.shown_seconds or track.seconds or 0.0 for track in heard), default=0.0)


def _boxes(window: Window, start: int, end: int) -> Iterator[Box]:
    """Walk the headers of boxes side by side, as far as they can be read."""
    at = start
    for _ in range(BOXES_MAX):
        if at >= end:
            return
        box = box_at(window.at(at, HEADER_BYTES), at, end)
        if box is None or box.end <= at:
            return
        yield box
        at = box.end


def _header_seconds(window: Window, index: Box) -> float | None:
    """Read the movie header where it does not come first, behind tracks of any size."""
    for box in _boxes(window, index.body, index.end):
        if box.kind == "mvhd":
            content = window.at(box.body, min(TIMES_BYTES, box.end - box.body))
            whole = struct.pack(">I4s", 8 + len(content), b"mvhd") + content
            return read_movie(whole).seconds
    return None


def _in_front(window: Window, index: Box) -> float:
    """Read the directories that stand between the index and the first fragment."""
    longest = 0.0
    for box in _boxes(window, index.end, window.size):
        if box.kind in ("moof", "mdat"):
            break
        if box.kind == "sidx":
            content = window.at(box.body, min(PIECE_BYTES, box.end - box.body))
            longest = max(longest, indexed_seconds(content))
    return longest
