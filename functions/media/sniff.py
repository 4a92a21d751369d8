"""What a file is by its first bytes, whatever it is called."""

# Longest first where one is the beginning of another.
STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\x1a\x45\xdf\xa3", "webm"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n", "png"),
    (b"ID3", "mp3"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"FLV\x01", "flv"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"%PDF", "pdf"),
    (b"\x00\x00\x00\x01", "h264"),
    (b"\x00\x00\x01\xba", "mpeg"),
    (b"\x00\x00\x01\xb3", "mpeg"),
    (b"\x00\x00\x01", "h264"),
    (b"DKIF", "ivf"),
    (b"\x30\x26\xb2\x75", "wmv"),
    (b"#EXTM3U", "playlist"),
    (b"BM", "bmp"),
)
RIFF = {b"AVI ": "avi", b"WAVE": "wav", b"WEBP": "webp"}
TEXT = (  # matched in lower case behind white space and a byte-order mark
    (b"<?xml", "xml"),
    (b"<error", "xml"),
    (b"<!doctype", "html"),
    (b"<html", "html"),
    (b"<head", "html"),
    (b"<body", "html"),
    (b"{", "json"),
    (b"[", "json"),
)
# The fixed size of a transport-stream packet, each of which starts with 0x47.
TS_PACKET = 188
TEXT_PROBE_BYTES = 256


def sniff(head: bytes) -> str:
    """Name the type of a file from its first bytes: `mp4`, another type, or `unknown`."""
    if not head:
        return "empty"
    if head[4:8] in (b"ftyp", b"moov", b"moof", b"mdat", b"styp", b"sidx", b"wide", b"free"):
        return "mp4"
    for start, name in STARTS:
        if head.startswith(start):
            return name
    if head.startswith(b"RIFF"):
        return RIFF.get(head[8:12], "riff")
    if not any(head):
        return "zeros"
    return _text(head) or _frames(head) or "unknown"


def _text(head: bytes) -> str | None:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for start, name in TEXT:
        if text.startswith(start):
            return name
    probe = head[:TEXT_PROBE_BYTES]
    printable = sum(0x20 <= byte < 0x7F or byte in b"\t\r\n" for byte in probe)  # noqa: PLR2004
    return "text" if printable == len(probe) else None


def _frames(head: bytes) -> str | None:
    if head[0] == 0x47 and head[TS_PACKET : TS_PACKET + 1] == b"\x47":  # noqa: PLR2004
        return "mpeg-ts"
    if head[0] == 0xFF and head[1:2] and head[1] & 0xE0 == 0xE0:  # noqa: PLR2004  sync word
        return "mp3"
    return None
