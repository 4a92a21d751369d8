"""Rules on the container: what a file says of itself before any of it is decoded."""

from collections.abc import Iterator

from functions.media.boxes import Layout
from functions.media.tracks import Movie, Track
from functions.media.verdict import Expected, Finding, fault, info, ok

# What a first brand says about the file.
BRANDS_MP4 = ("iso", "mp4", "avc", "M4V", "MSNV", "f4v", "F4V", "dash", "cmf", "3g", "mmp4",
              "hvc1", "av01", "XAVC", "NDS", "m4v", "msdh", "kddi")  # fmt: skip
BRANDS_IMAGE = ("hei", "hevc", "hevx", "mif1", "msf1", "avif", "avis", "crx ", "jpeg")
BRANDS_AUDIO = ("M4A", "M4B", "M4P")

# Sample entries and the codecs they name.
ENTRIES = {
    "avc1": "h264", "avc3": "h264", "hvc1": "hevc", "hev1": "hevc", "dvh1": "hevc",
    "dvhe": "hevc", "av01": "av1", "vp09": "vp9", "vp08": "vp8", "mp4v": "mpeg4",
    "s263": "h263", "vvc1": "vvc", "vvi1": "vvc", "jpeg": "mjpeg", "mjpa": "mjpeg",
}  # fmt: skip
PROTECTED = ("encv", "enca", "drmi", "drms")

# Pixel shapes in use reach from 10:11 to 64:45 and HDV's 4:3; beyond, players disagree.
PIXEL_ASPECT_MIN, PIXEL_ASPECT_MAX = 0.7, 1.5
GAP_SECONDS_MAX = 0.5  # of nothing before the first picture; encoders shift by a few frames

NAMES = {
    "html": "a web page", "xml": "an error message", "json": "an error message",
    "text": "text", "empty": "empty", "zeros": "only zeros", "gif": "a GIF picture",
    "jpeg": "a JPEG picture", "png": "a PNG picture", "webp": "a WebP picture",
    "webm": "a WebM or Matroska video", "avi": "an AVI video", "mpeg-ts": "a transport stream",
    "mp3": "an MP3 sound file", "h264": "a raw stream without a container",
}  # fmt: skip


def judge_layout(layout: Layout, order: Expected) -> Iterator[Finding]:
    """Yield findings in the order in which they explain a file best."""
    if layout.sniffed != "mp4":
        what = NAMES.get(layout.sniffed, "not a video that can be played")
        yield fault("fail", "type", layout.sniffed, "mp4", code="not_mp4",
                    reason=f"The delivered file is {what}, not an MP4 video.")  # fmt: skip
        return
    yield ok("type", "mp4", "mp4")
    yield from _brand(layout)
    yield from _wholeness(layout)
    if layout.movie is None or not layout.movie.tracks:
        yield fault("fail", "index", "missing", "one index", code="no_index",
                    reason="The file has no index of its pictures, so no player can open it.")  # fmt: skip
        return
    yield from _tracks(layout, layout.movie, order)
    yield from _delivery(layout, layout.movie)


def _brand(layout: Layout) -> Iterator[Finding]:
    brand = layout.brands[0] if layout.brands else ""
    if not brand:
        yield fault("fail", "brand", "none", "MP4", code="no_brand", repair="brand",
                    reason="The file does not say that it is an MP4, so browsers refuse it.")  # fmt: skip
    elif brand.startswith(BRANDS_IMAGE):
        yield fault("fail", "brand", brand, "MP4", code="image",
                    reason="The delivered file is a still picture, not a video.")  # fmt: skip
    elif brand.startswith((*BRANDS_MP4, *BRANDS_AUDIO)):
        yield ok("brand", brand, "MP4")
    else:
        yield fault("review", "brand", brand, "MP4", code="not_mp4_brand", repair="brand",
                    reason="The file is a QuickTime or other relative of MP4; "
                    "some players refuse it.")  # fmt: skip


def _wholeness(layout: Layout) -> Iterator[Finding]:
    moov, mdat = layout.count("moov"), layout.count("mdat")
    if layout.count("ftyp") > 1 or moov > 1:
        yield fault("fail", "files", max(moov, layout.count("ftyp")), "1", code="two_files",
                    reason="Two recordings were joined byte by byte; "
                    "players show only one of them.")  # fmt: skip
    if layout.missing_bytes:
        yield fault("fail", "missing bytes", layout.missing_bytes, "0", code="truncated",
                    reason="The end of the file is missing.")  # fmt: skip
    else:
        yield ok("missing bytes", 0, "0")
    if not mdat:
        yield fault("fail", "media", 0, "some", code="no_media",
                    reason="The file has a header but no pictures.")  # fmt: skip
    if layout.trailing_bytes and moov and mdat:
        yield fault("review", "trailing bytes", layout.trailing_bytes, "0", code="trailing",
                    repair="trailing_bytes",
                    reason="Foreign bytes follow the end of the video.")  # fmt: skip
    elif layout.trailing_bytes:
        yield fault("fail", "unreadable bytes", layout.trailing_bytes, "0", code="damaged",
                    reason="A part of the file is unreadable.")  # fmt: skip
    else:
        yield ok("trailing bytes", 0, "0")


def _tracks(layout: Layout, movie: Movie, order: Expected) -> Iterator[Finding]:
    if any(track.protected for track in movie.tracks):
        yield fault("fail", "encryption", "yes", "no", code="encrypted",
                    reason="The video is encrypted and cannot be played without a key.")  # fmt: skip
        return
    videos, sounds = movie.of("vide"), movie.of("soun")
    if not videos:
        yield fault("fail", "video tracks", 0, "1", code="no_video",
                    reason="The file contains no video.")  # fmt: skip
        return
    yield (ok if len(videos) == 1 else info)("video tracks", len(videos), "1")
    if order.sound and not sounds:
        yield fault("fail", "sound tracks", 0, "1", code="no_sound",
                    reason="Sound was ordered and the video has none.")  # fmt: skip
    yield from _codec(videos[0], order)
    yield from _size(videos[0], order)
    yield from _index(layout, (*videos, *sounds))
    if not layout.fragmented:
        yield from _length(videos[0], order)


def _codec(track: Track, order: Expected) -> Iterator[Finding]:
    codec = ENTRIES.get(track.entry, "unknown")
    limit = ", ".join(order.codecs)
    if codec in order.codecs:
        yield ok("codec", codec, limit)
    elif codec in order.codecs_review:
        yield fault("review", "codec", codec, limit, code="codec",
                    reason=f"The video is coded as {codec.upper()}, "
                    "which not all devices can play.")  # fmt: skip
    else:
        yield fault("fail", "codec", track.entry or "none", limit, code="codec",
                    reason="The video is coded in a way that browsers and phones cannot play.")  # fmt: skip
    if track.entry == "hev1":
        yield fault("pass", "sample entry", "hev1", "hvc1", code="hev1", repair="hvc1",
                    reason="Apple devices refuse this label.")  # fmt: skip


def _size(track: Track, order: Expected) -> Iterator[Finding]:
    """Sizes by the header; the decode pass looks at the pictures themselves."""
    size, limit = f"{track.width}x{track.height}", f">= {order.side_min}"
    if min(track.width, track.height) < order.side_min:
        yield fault("fail", "size", size, limit, code="too_small",
                    reason=f"The picture is only {track.width} by {track.height} pixels.")  # fmt: skip
    elif track.width * track.height > order.pixels_max:
        yield fault("fail", "size", size, f"<= {order.pixels_max}", code="too_large",
                    reason="The picture is larger than any device can play.")  # fmt: skip
    if not PIXEL_ASPECT_MIN <= track.pixel_aspect <= PIXEL_ASPECT_MAX:
        yield fault("review", "pixel aspect", track.pixel_aspect, "0.7 to 1.5",
                    code="pixel_aspect",
                    reason="The picture looks squeezed in some players.")  # fmt: skip
    if track.turned:
        yield fault("review", "rotation", "by the player", "none", code="rotated",
                    reason="The picture lies on its side in players that do not turn it.")  # fmt: skip


def _index(layout: Layout, tracks: tuple[Track, ...]) -> Iterator[Finding]:
    spans = [(box.body, min(box.end, layout.size_bytes)) for box in layout.boxes
             if box.kind == "mdat"]  # fmt: skip
    broken = next((track.broken for track in tracks if track.broken), "")
    beyond = max((t.chunks.end for t in tracks if t.chunks), default=0) - layout.size_bytes
    stray = sum(track.chunks.outside(spans) for track in tracks if track.chunks)
    if beyond > 0:
        yield fault("fail", "bytes beyond the end", beyond, "0", code="truncated",
                    reason="The end of the file is missing.")  # fmt: skip
    elif broken:
        yield fault("fail", "index", broken, "consistent", code="bad_index",
                    reason="The file's index contradicts itself.")  # fmt: skip
    elif stray:
        yield fault("fail", "stray chunks", stray, "0", code="bad_index",
                    reason="The file's index points to the wrong places.")  # fmt: skip
    else:
        yield ok("index", "consistent", "consistent")


def _length(track: Track, order: Expected) -> Iterator[Finding]:
    """What the index holds; no edit makes more of it, so too little ends here."""
    held = track.sample_seconds
    least = order.seconds - order.tolerance
    if held is not None and held < least:
        yield fault("fail", "indexed seconds", held, f">= {least:.2f}", code="too_short",
                    reason=f"The video lasts {held:.1f} seconds instead of "
                    f"{order.seconds:g}.", seconds=held)  # fmt: skip


def _delivery(layout: Layout, movie: Movie) -> Iterator[Finding]:
    """What players stumble over and repacking mends."""
    if not layout.fragmented:
        yield from _declared(movie)
    else:
        yield fault("review", "fragments", layout.count("moof"), "0", code="fragmented",
                    repair="fragments",
                    reason="The video is cut into fragments; some players show no length.")  # fmt: skip
    gap = movie.of("vide")[0].gap_seconds if movie.of("vide") else 0.0
    if gap > GAP_SECONDS_MAX:
        yield fault("review", "gap at the start", gap, f"<= {GAP_SECONDS_MAX}", code="late_start",
                    reason=f"The picture starts only after {gap:.1f} seconds.", gap=gap)  # fmt: skip
    if not layout.index_first:
        yield fault("pass", "fast start", "no", "yes", code="slow_start", repair="fast_start",
                    reason="Playing starts only after the whole file is loaded.")  # fmt: skip
    else:
        yield ok("fast start", "yes", "yes")


def _declared(movie: Movie) -> Iterator[Finding]:
    """The declared length must be that of the longest track."""
    shown = [track.shown_seconds or track.seconds or 0.0 for track in movie.tracks]
    longest, declared = max(shown, default=0.0), movie.seconds or 0.0
    wrong = [
        track
        for track in movie.of("vide") + movie.of("soun")
        if _apart(track.seconds or 0.0, track.sample_seconds or 0.0)
    ]
    if _apart(declared, longest) or wrong:
        yield fault("fail", "declared seconds", declared, f"{longest:.2f}", code="wrong_length",
                    repair="declared_length",
                    reason="The file declares a wrong length, so players show a wrong "
                    "time line.", declared=declared)  # fmt: skip
    else:
        yield ok("declared seconds", declared, f"{longest:.2f}")


def _apart(a: float, b: float) -> bool:
    """Further apart than rounding, a last frame's length and audio padding explain."""
    return abs(a - b) > max(0.5, 0.05 * b)
