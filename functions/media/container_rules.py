"""Rules on the container: what a file says of itself before any of it is decoded."""

from collections.abc import Iterator

from functions.media.boxes import Layout
from functions.media.tracks import Movie, Track
from functions.media.verdict import Expected, Finding, fault, info, ok

# How first brands begin, by what they say of the file.
BRANDS = (
    "iso mp4 avc1 M4V m4v MSNV f4v F4V dash cmf 3g mmp4 hvc1 av01 XAVC NDS msdh kddi M4A M4B M4P"
)
BRANDS_MP4 = tuple(BRANDS.split(" "))
BRANDS_IMAGE = ("hei", "hevc", "hevx", "mif1", "msf1", "avif", "avis", "crx ", "jpeg")

# Sample entries and the codecs they name.
ENTRIES = {
    "avc1": "h264",
    "avc3": "h264",
    "hvc1": "hevc",
    "hev1": "hevc",
    "av01": "av1",
    "vp09": "vp9",
}

# Pixel shapes in use reach from 10:11 to 64:45; beyond, players disagree.
PIXEL_ASPECT_MIN, PIXEL_ASPECT_MAX = 0.7, 1.5
GAP_SECONDS_MAX = 0.5  # of nothing before the first picture; encoders shift by a few frames
# Declared and real lengths differ by rounding, a last frame and the padding of sound.
LENGTH_SECONDS_APART, LENGTH_SHARE_APART = 0.5, 0.05

NAMES = {
    "html": "a web page",
    "xml": "an error message",
    "json": "an error message",
    "text": "plain text",
    "empty": "empty",
    "zeros": "made of zeros",
    "gif": "a GIF picture",
    "jpeg": "a JPEG picture",
    "png": "a PNG picture",
    "webp": "a WebP picture",
    "webm": "a WebM or Matroska video",
    "avi": "an AVI video",
    "mpeg-ts": "a transport stream",
    "mp3": "an MP3 sound file",
    "h264": "a raw stream without a container",
}


def judge_layout(layout: Layout, order: Expected) -> Iterator[Finding]:
    """Yield findings in the order in which they explain a file best."""
    if layout.sniffed != "mp4":
        what = NAMES.get(layout.sniffed, "something else")
        yield fault("fail", "type", layout.sniffed, "mp4", "not_mp4", what=what)
        return
    yield ok("type", "mp4", "mp4")
    yield from _brand(layout)
    yield from _wholeness(layout)
    if layout.movie is None or not layout.movie.tracks:
        yield fault("fail", "index", "missing", "one", "no_index")
        return
    yield from _tracks(layout, layout.movie, order)
    yield from _delivery(layout, layout.movie)


def _brand(layout: Layout) -> Iterator[Finding]:
    brand = layout.brands[0] if layout.brands else ""
    if not brand:
        yield fault("fail", "brand", "none", "MP4", "no_brand", repair="brand")
    elif brand.startswith(BRANDS_IMAGE):
        yield fault("fail", "brand", brand, "MP4", "image")
    elif brand.startswith(BRANDS_MP4):
        yield ok("brand", brand, "MP4")
    else:
        yield fault("review", "brand", brand, "MP4", "not_mp4_brand", repair="brand")


def _wholeness(layout: Layout) -> Iterator[Finding]:
    moov, mdat = layout.count("moov"), layout.count("mdat")
    files = max(moov, layout.count("ftyp"))
    if files > 1:
        yield fault("fail", "files", files, "1", "two_files")
    if layout.missing_bytes:
        yield fault("fail", "missing bytes", layout.missing_bytes, "0", "truncated")
    else:
        yield ok("missing bytes", 0, "0")
    if not mdat:
        yield fault("fail", "media", 0, "some", "no_media")
    trailing = layout.trailing_bytes
    if trailing and moov and mdat:
        yield fault("review", "trailing bytes", trailing, "0", "trailing", repair="trailing_bytes")
    elif trailing:
        yield fault("fail", "unreadable bytes", trailing, "0", "damaged")
    else:
        yield ok("trailing bytes", 0, "0")


def _tracks(layout: Layout, movie: Movie, order: Expected) -> Iterator[Finding]:
    if any(track.protected for track in movie.tracks):
        yield fault("fail", "encryption", "yes", "no", "encrypted")
        return
    videos, sounds = movie.of("vide"), movie.of("soun")
    if not videos:
        yield fault("fail", "video tracks", 0, "1", "no_video")
        return
    yield (ok if len(videos) == 1 else info)("video tracks", len(videos), "1")
    if order.sound and not sounds:
        yield fault("fail", "sound tracks", 0, "1", "no_sound")
    yield from _codec(videos[0], order)
    yield from _size(videos[0], order)
    yield from _index(layout, (*videos, *sounds))
    if not layout.fragmented:
        yield from _length(videos[0], order)


def _codec(track: Track, order: Expected) -> Iterator[Finding]:
    codec, limit = ENTRIES.get(track.entry, "unknown"), ", ".join(order.codecs)
    if codec in order.codecs:
        yield ok("codec", codec, limit)
    elif codec in order.codecs_review:
        yield fault("review", "codec", codec, limit, "codec")
    else:
        yield fault("fail", "codec", track.entry or "none", limit, "codec")
    if track.entry == "hev1":
        yield fault("pass", "sample entry", "hev1", "hvc1", "hev1", repair="hvc1")


def _size(track: Track, order: Expected) -> Iterator[Finding]:
    """Judge sizes by the header; the decode pass looks at the pictures themselves."""
    size = f"{track.width} by {track.height}"
    if min(track.width, track.height) < order.side_min:
        yield fault("fail", "size", size, f">= {order.side_min}", "too_small")
    elif track.width * track.height > order.pixels_max:
        yield fault("fail", "size", size, f"<= {order.pixels_max}", "too_large")
    aspect = track.pixel_aspect
    if not PIXEL_ASPECT_MIN <= aspect <= PIXEL_ASPECT_MAX:
        yield fault("review", "pixel aspect", aspect, "0.7 to 1.5", "pixel_aspect")
    if track.turned:
        yield fault("review", "rotation", "by the player", "none", "rotated")


def _index(layout: Layout, tracks: tuple[Track, ...]) -> Iterator[Finding]:
    spans = [
        (box.body, min(box.end, layout.size_bytes)) for box in layout.boxes if box.kind == "mdat"
    ]
    broken = next((track.broken for track in tracks if track.broken), "")
    beyond = max((t.chunks.end for t in tracks if t.chunks), default=0) - layout.size_bytes
    stray = sum(track.chunks.outside(spans) for track in tracks if track.chunks)
    if beyond > 0:
        yield fault("fail", "bytes beyond the end", beyond, "0", "truncated")
    elif broken:
        yield fault("fail", "index", broken, "consistent", "bad_index")
    elif stray:
        yield fault("fail", "stray chunks", stray, "0", "bad_index")
    else:
        yield ok("index", "consistent", "consistent")


def _length(track: Track, order: Expected) -> Iterator[Finding]:
    """Judge what the index holds; no edit makes more of it, so too little ends here."""
    held, least = track.sample_seconds, order.seconds - order.tolerance
    if held is not None and held < least:
        yield fault(
            "fail",
            "indexed seconds",
            held,
            f">= {least:.2f}",
            "too_short",
            {"seconds": held, "ordered": order.seconds},
        )


def _delivery(layout: Layout, movie: Movie) -> Iterator[Finding]:
    """Judge what players stumble over and repacking mends."""
    if not layout.fragmented:
        yield from _declared(movie)
    else:
        count = layout.count("moof")
        yield fault("review", "fragments", count, "0", "fragmented", repair="fragments")
    gap = movie.of("vide")[0].gap_seconds if movie.of("vide") else 0.0
    if gap > GAP_SECONDS_MAX:
        limit = f"<= {GAP_SECONDS_MAX}"
        yield fault("review", "gap at the start", gap, limit, "late_start", {"gap": gap})
    if not layout.index_first:
        yield fault("pass", "fast start", "no", "yes", "slow_start", repair="fast_start")
    else:
        yield ok("fast start", "yes", "yes")


def _declared(movie: Movie) -> Iterator[Finding]:
    """Hold the declared length against the longest track, and each track's against its samples."""
    shown = [track.shown_seconds or track.seconds or 0.0 for track in movie.tracks]
    longest, declared = max(shown, default=0.0), movie.seconds or 0.0
    wrong = any(
        _apart(track.seconds or 0.0, track.sample_seconds or 0.0)
        for track in movie.of("vide") + movie.of("soun")
    )
    if wrong or _apart(declared, longest):
        yield fault(
            "fail",
            "declared seconds",
            declared,
            f"{longest:.2f}",
            "wrong_length",
            {"declared": declared},
            repair="declared_length",
        )
    else:
        yield ok("declared seconds", declared, f"{longest:.2f}")


def _apart(a: float, b: float) -> bool:
    return abs(a - b) > max(LENGTH_SECONDS_APART, LENGTH_SHARE_APART * b)
