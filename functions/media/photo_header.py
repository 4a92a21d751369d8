"""What an upload claims to be, read from its first bytes by our own small code.

No decoder has run yet when this refuses: the API calls it before credits are held, and `photo.py`
before FFmpeg sees a byte.
"""

import re
import struct
from dataclasses import dataclass
from typing import Final

from functions.domain.outcomes import Refused

PHOTO_TYPES: Final = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
PHOTO_BYTES_MAX: Final = 25_000_000
# 50 megapixels hold any camera's picture that fits in those bytes, and bound the decoder's memory.
PHOTO_PIXELS_MAX: Final = 50_000_000
PHOTO_SIDE_MIN: Final = 64
PHOTO_SIDE_MAX: Final = 16384
# Enough to reach the size behind an ordinary camera's EXIF block, preview and colour profile.
HEAD_BYTES: Final = 65536
# Real files have a few hundred segments or chunks; a file made of empty ones is an attack on time.
PARTS_MAX: Final = 20_000

PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
# A JPEG marker, wherever it stands: fill bytes, stuffed zeros and restart marks are passed over.
JPEG_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]", re.DOTALL)
JPEG_ALONE: Final = frozenset({0x01, 0xD8})
JPEG_END: Final = 0xD9
JPEG_SCAN: Final = 0xDA
JPEG_FRAMES: Final = frozenset(set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC})
# Baseline, extended and progressive. The others (lossless, arithmetic) no browser shows either.
JPEG_FRAMES_READ: Final = frozenset({0xC0, 0xC1, 0xC2})

NOT_AN_IMAGE: Final = "photo-not-an-image"
TYPE_UNSUPPORTED: Final = "photo-type-unsupported"
ANIMATED: Final = "photo-animated"
TRUNCATED: Final = "photo-truncated"
UNREADABLE: Final = "photo-unreadable"
TOO_LARGE: Final = "photo-too-large"
TOO_SMALL: Final = "photo-too-small"

_SEND: Final = "send a JPEG, PNG or WebP photo"
_OTHER_IMAGES: Final = (
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF or camera raw"),
    (b"MM\x00*", "TIFF or camera raw"),
    (b"8BPS", "Photoshop"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
    (b"\x00\x00\x01\x00", "icon"),
)
_STILL_BRANDS: Final = {b"avif": "AVIF", b"avis": "AVIF"} | dict.fromkeys(
    (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "HEIC"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoHeader:
    """What the first bytes say. The size is None while it lies behind the bytes at hand."""

    kind: str
    width: int | None
    height: int | None


def sniff_photo(head: bytes) -> PhotoHeader | Refused:
    """Identify a photo by its first bytes (HEAD_BYTES or more of them) and check its size.

    Neither the name nor the declared content type of a file is trusted.
    """
    kind = photo_kind(head)
    if isinstance(kind, Refused):
        return kind
    size = {"jpeg": _jpeg_size, "png": _png_size, "webp": _webp_size}[kind](head)
    if isinstance(size, Refused):
        return size
    if size is None:
        return PhotoHeader(kind=kind, width=None, height=None)
    return check_size(*size) or PhotoHeader(kind=kind, width=size[0], height=size[1])


def photo_kind(head: bytes) -> str | Refused:
    """Name the type, one of PHOTO_TYPES, by magic bytes."""
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith(PNG_SIGNATURE):
        return "png"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    other = next((name for start, name in _OTHER_IMAGES if head.startswith(start)), None)
    if head[4:8] == b"ftyp":
        other = _STILL_BRANDS.get(head[8:12])
    if other:
        return Refused(
            code=TYPE_UNSUPPORTED,
            reason=f"This is a picture of the type {other}, which is not read here; {_SEND}.",
        )
    what = "The file is empty" if not head else "This file is not a picture, whatever its name says"
    return Refused(code=NOT_AN_IMAGE, reason=f"{what}; {_SEND}.")


def check_size(width: int, height: int) -> Refused | None:
    """Refuse a picture that is too large to decode or too small to fill a video."""
    if width < 1 or height < 1:
        return unreadable("its size is missing")
    size = f"The picture has {width} x {height} pixels"
    if max(width, height) > PHOTO_SIDE_MAX or width * height > PHOTO_PIXELS_MAX:
        limit = f"{PHOTO_PIXELS_MAX // 1_000_000} megapixels and {PHOTO_SIDE_MAX} on a side"
        return Refused(code=TOO_LARGE, reason=f"{size}; scale it down to at most {limit}.")
    if min(width, height) < PHOTO_SIDE_MIN:
        return Refused(
            code=TOO_SMALL,
            reason=f"{size}; send one with at least {PHOTO_SIDE_MIN} on each side.",
        )
    return None


def check_bytes(count: int) -> Refused | None:
    """Refuse a file that is too large to read."""
    if count <= PHOTO_BYTES_MAX:
        return None
    return Refused(
        code=TOO_LARGE,
        reason=(
            f"The file has {count / 1e6:.1f} MB; "
            f"save it with at most {PHOTO_BYTES_MAX // 1_000_000} MB."
        ),
    )


def unreadable(why: str) -> Refused:
    """Refuse a picture whose data contradict its format."""
    reason = f"The picture cannot be read ({why}); save it again as JPEG or PNG and send that."
    return Refused(code=UNREADABLE, reason=reason)


def truncated() -> Refused:
    """Refuse a picture of which a part is missing."""
    reason = "The file is cut off before the picture's end; upload it again completely."
    return Refused(code=TRUNCATED, reason=reason)


def animated() -> Refused:
    """Refuse a picture that moves already."""
    reason = "This is an animated picture; send a still photo (save one of its frames)."
    return Refused(code=ANIMATED, reason=reason)


def unsupported(what: str) -> Refused:
    """Refuse a variant of a known format."""
    reason = f"This {what} is not read here; save it again as an ordinary JPEG or PNG."
    return Refused(code=TYPE_UNSUPPORTED, reason=reason)


def _jpeg_size(head: bytes) -> tuple[int, int] | Refused | None:
    place = 2
    for _ in range(PARTS_MAX):
        mark = JPEG_MARKER.search(head, place)
        if mark is None or mark.end() + 8 > len(head):
            return None
        kind, place = head[mark.end() - 1], mark.end()
        if kind in JPEG_ALONE:
            continue
        if kind in JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", head, place + 3)
            return int(width), int(height)
        length = int.from_bytes(head[place : place + 2])
        if kind in (JPEG_SCAN, JPEG_END) or length < 2:  # noqa: PLR2004 - counts itself
            break
        place += length
    return unreadable("no picture starts in it")


def _png_size(head: bytes) -> tuple[int, int] | Refused | None:
    if len(head) < 24:  # noqa: PLR2004 - signature, chunk head, two numbers
        return None
    if head[12:16] != b"IHDR":
        return unreadable("it does not start as a PNG must")
    width, height = struct.unpack_from(">II", head, 16)
    return int(width), int(height)


def _webp_size(head: bytes) -> tuple[int, int] | Refused | None:
    body = head[20:30]
    if len(body) < 10:  # noqa: PLR2004 - the longest of the three headers
        return None
    if head[12:16] == b"VP8X" and body[0] & 2:
        return animated()
    size = webp_size(head[12:16], body)
    return size or unreadable("it does not start as a WebP must")


def webp_size(name: bytes, body: bytes) -> tuple[int, int] | None:
    """Read the size from the first 10 bytes of a WebP chunk that holds one."""
    if name == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if name == b"VP8 " and body[3:6] == b"\x9d\x01\x2a" and not body[0] & 1:
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF
    if name == b"VP8L" and body[0] == 0x2F:  # noqa: PLR2004 - its signature byte
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None
