"""How long a video says it is, from a few short reads of a file that lies elsewhere.

This runs before anything is paid, on bytes that anyone may have made: in Python alone, with a
fixed number of reads, and allocating what was read and never what a header claims. Whether the
file tells the truth shows when it is decoded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Final

from functions.domain.outcomes import Refused
from functions.media.length_mp4 import mp4_seconds
from functions.media.length_reading import PIECE_BYTES, Said, Window
from functions.media.length_webm import webm_seconds
from functions.media.sniff import sniff

READS_MAX: Final = 6
PICTURES = frozenset(("gif", "jpeg", "png", "bmp", "webp"))
SOUNDS = frozenset(("mp3", "ogg", "flac", "wav"))
STILL_BRANDS = frozenset((b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis", b"crx "))
SOUND_BRANDS = frozenset((b"M4A ", b"M4B ", b"M4P ", b"F4A "))

REASONS: Final = {
    "video-empty": "The video has no length; record or export it anew and upload it again.",
    "video-unreadable": "The file is not a whole video: it is damaged or its end is missing; "
    "export it anew and upload it again.",
    "length-unknown": "The file does not say how long it is, as live recordings do; save it anew "
    "with a program that writes the length, such as by remuxing it.",
}
TYPE = "This is {}, not a video that can be read here; give an MP4, MOV or WebM file."
NAMES = {
    "html": "a web page",
    "xml": "an XML document",
    "json": "a JSON document",
    "text": "a text file",
    "playlist": "a playlist",
    "pdf": "a PDF document",
    "zip": "an archive",
    "gzip": "an archive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """What a file says of itself: seconds, and mp4, mov, webm or matroska."""

    seconds: float
    container: str


def length_of(read_at: Callable[[int, int], bytes], size_bytes: int) -> Length | Refused:
    """Say how long a video is that `read_at(start, count)` reads from.

    At most `READS_MAX` calls are made, of `PIECE_BYTES` at most each. Nothing is raised for what
    the bytes say, only what `read_at` raises.
    """
    if size_bytes <= 0:
        return _refused("video-empty")
    window = Window(read_at, size_bytes, reads_max=READS_MAX)
    head = window.at(0, PIECE_BYTES)
    kind = sniff(head[:4096])
    if kind == "empty":
        return _refused("video-unreadable")
    if kind == "webm":
        said, container = webm_seconds(window), _doctype(head)
    elif kind == "mp4" or _is_quicktime(head):
        wrong = _wrong_brand(head)
        if wrong is not None:
            return _unsupported(wrong)
        said, container = mp4_seconds(window), _brand(head)
    else:
        return _refused("video-unreadable") if kind == "zeros" else _unsupported(_named(kind))
    return _judged(said, container)


def _judged(said: float | Said, container: str) -> Length | Refused:
    if isinstance(said, Said):
        return _refused(said.value)
    if not isfinite(said) or said < 0:
        return _refused("video-unreadable")
    if said == 0:
        return _refused("video-empty")
    return Length(seconds=said, container=container)


def _refused(code: str) -> Refused:
    return Refused(code=code, reason=REASONS[code])


def _unsupported(what: str) -> Refused:
    return Refused(code="type-unsupported", reason=TYPE.format(what))


def _named(kind: str) -> str:
    if kind in PICTURES:
        return "a picture"
    if kind in SOUNDS:
        return "a sound file"
    return NAMES.get(kind, "a file of another type")


def _is_quicktime(head: bytes) -> bool:
    """Whether it begins with what only old QuickTime files begin with."""
    return head[4:8] in (b"skip", b"pnot", b"uuid", b"udta")


def _wrong_brand(head: bytes) -> str | None:
    if head[4:8] != b"ftyp":
        return None
    if head[8:12] in STILL_BRANDS:
        return "a picture"
    return "a sound file" if head[8:12] in SOUND_BRANDS else None


def _brand(head: bytes) -> str:
    """QuickTime's own brand, or no brand at all, is a MOV."""
    return "mp4" if head[4:8] in (b"ftyp", b"styp") and head[8:12] != b"qt  " else "mov"


def _doctype(head: bytes) -> str:
    return "webm" if b"\x42\x82\x84webm" in head[:64] else "matroska"
