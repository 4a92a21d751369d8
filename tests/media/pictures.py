"""Photos for tests, good and evil, made here byte by byte or by PyAV's encoders.

The usual picture has four quarters of different colours, so that a turn or a wrong colour shows.
"""

import struct
import zlib
from collections.abc import Sequence
from fractions import Fraction

import av
from av.codec.context import CodecContext
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

Colour = tuple[int, int, int]
# Upper left, upper right, lower left, lower right.
QUARTERS: tuple[Colour, ...] = ((200, 30, 30), (30, 180, 40), (30, 50, 200), (220, 200, 40))
WIDTH, HEIGHT = 96, 80
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


def quarter(x: int, y: int, width: int = WIDTH, height: int = HEIGHT) -> int:
    return (x >= width // 2) + 2 * (y >= height // 2)


def frame(width: int = WIDTH, height: int = HEIGHT, alpha: Sequence[int] = ()) -> VideoFrame:
    name = "rgba" if alpha else "rgb24"
    colours = [bytes((*colour, *alpha[i : i + 1])) for i, colour in enumerate(QUARTERS)]
    made = VideoFrame(width, height, name)
    plane = made.planes[0]
    rows = []
    for y in range(height):
        row = b"".join(colours[quarter(x, y, width, height)] for x in range(width))
        rows.append(row.ljust(plane.line_size, b"\0"))
    plane.update(b"".join(rows))
    return made


def encode(codec: str, picture: VideoFrame, pixels: str, **options: str) -> bytes:
    context = CodecContext.create(codec, "w")
    assert isinstance(context, VideoCodecContext)
    context.width, context.height, context.pix_fmt = picture.width, picture.height, pixels
    context.time_base, context.options = Fraction(1), options
    ready = picture.reformat(
        format=pixels, dst_colorspace="ITU601", dst_color_range="JPEG" if "j" in pixels else "MPEG"
    )
    return b"".join(bytes(packet) for packet in (*context.encode(ready), *context.encode(None)))


def jpeg(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    return encode("mjpeg", frame(width, height), "yuvj444p", qmin="2", qmax="2")


def tiff(orientation: int, order: str = "<") -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entries = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0)
    return mark + struct.pack(f"{order}IH", 8, 1) + entries + bytes(4)


def segment(kind: int, body: bytes) -> bytes:
    return bytes((0xFF, kind)) + struct.pack(">H", len(body) + 2) + body


def with_exif(photo: bytes, block: bytes) -> bytes:
    """Put an EXIF block into a JPEG, PNG or WebP file."""
    if photo.startswith(b"\xff\xd8"):
        return photo[:2] + segment(0xE1, b"Exif\0\0" + block) + photo[2:]
    if photo.startswith(PNG_SIGNATURE):
        return photo[:33] + chunk(b"eXIf", block) + photo[33:]
    sides = (WIDTH - 1).to_bytes(3, "little") + (HEIGHT - 1).to_bytes(3, "little")
    canvas = riff_chunk(b"VP8X", b"\x08\0\0\0" + sides)
    return webp_file(canvas, photo[12:], riff_chunk(b"EXIF", block))


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_header(
    width: int = WIDTH, height: int = HEIGHT, depth: int = 8, colour: int = 2, interlace: int = 0
) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def png(
    *,
    depth: int = 8,
    colour: int = 2,
    interlace: int = 0,
    alpha: Sequence[int] = (255, 255, 255, 255),
    extra: Sequence[bytes] = (),
    raw: bytes | None = None,
) -> bytes:
    """Write any kind of PNG; `raw` replaces the pixels."""
    samples = [_png_samples(i, depth, colour, alpha[i]) for i in range(4)]
    rows = _png_rows(samples, depth, interlace) if raw is None else raw
    palette = chunk(b"PLTE", b"".join(map(bytes, QUARTERS))) if colour == 3 else b""
    clear = chunk(b"tRNS", bytes(alpha)) if colour == 3 and min(alpha) < 255 else b""
    return b"".join(
        (
            PNG_SIGNATURE,
            png_header(depth=depth, colour=colour, interlace=interlace),
            *extra,
            palette,
            clear,
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def grey_of(index: int, depth: int) -> int:
    """Return the grey of a quarter as a sample of `depth` bits."""
    return ((1 << depth) - 1) * index // 3


def _png_samples(index: int, depth: int, colour: int, alpha: int) -> tuple[int, ...]:
    wide = 257 if depth == 16 else 1
    if colour == 3:
        return (index,)
    if colour in (0, 4):
        return (grey_of(index, depth), alpha * wide)[: 1 + colour // 4]
    return tuple(value * wide for value in (*QUARTERS[index], alpha))[: 3 + colour // 6]


def _png_rows(samples: list[tuple[int, ...]], depth: int, interlace: int) -> bytes:
    out = bytearray()
    for left, top, across, down in ADAM7 if interlace else ((0, 0, 1, 1),):
        for y in range(top, HEIGHT, down):
            values = [v for x in range(left, WIDTH, across) for v in samples[quarter(x, y)]]
            bits = "".join(f"{value:0{depth}b}" for value in values)
            bits = bits.ljust(-(-len(bits) // 8) * 8, "0")
            out += b"\0" + int(bits, 2).to_bytes(len(bits) // 8)
    return bytes(out)


def riff_chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def webp_file(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp(*, lossless: bool, alpha: Sequence[int] = ()) -> bytes:
    if lossless:
        return encode("libwebp", frame(alpha=alpha), "bgra", lossless="1")
    pixels = "yuva420p" if alpha else "yuv420p"
    return encode("libwebp", frame(alpha=alpha), pixels, quality="95")


def blocks_jpeg(
    planes: Sequence[Sequence[int]],
    *,
    transform: int | None = None,
    progressive: bool = False,
    precision: int = 8,
) -> bytes:
    """Write a JPEG whose components hold one value for each quarter of the picture.

    It knows nothing but the mean of a block, which is all that such a picture needs. With
    `transform` it carries Adobe's note, as every CMYK file does.
    """
    count = len(planes)
    ids = range(1, count + 1)
    adobe = struct.pack(">5sHHHB", b"Adobe", 100, 0, 0, transform or 0)
    components = b"".join(bytes((i, 0x11, 0)) for i in ids)
    size = struct.pack(">BHHB", precision, HEIGHT, WIDTH, count)
    scan = bytes((count,)) + b"".join(bytes((i, 0)) for i in ids)
    scan += b"\0\0\0" if progressive else b"\0\x3f\0"
    return b"".join(
        (
            b"\xff\xd8",
            segment(0xEE, adobe) if transform is not None else b"",
            segment(0xDB, b"\0" + b"\x08" * 64),
            segment(0xC2 if progressive else 0xC0, size + components),
            # Twelve codes of four bits for the size of a mean; one code of one bit, "no more".
            segment(0xC4, b"\0" + b"\0\0\0\x0c" + bytes(12) + bytes(range(12))),
            segment(0xC4, b"\x10" + b"\x01" + bytes(15) + b"\0"),
            segment(0xDA, scan),
            _blocks(planes, end="" if progressive else "0"),
            b"\xff\xd9",
        )
    )


def _blocks(planes: Sequence[Sequence[int]], end: str) -> bytes:
    last, bits = [0] * len(planes), []
    for y in range(0, HEIGHT, 8):
        for x in range(0, WIDTH, 8):
            for i, plane in enumerate(planes):
                mean = plane[quarter(x, y)] - 128
                step, last[i] = mean - last[i], mean
                length = abs(step).bit_length()
                coded = step if step > 0 else step + 2**length - 1
                bits.append(f"{length:04b}" + (f"{coded:0{length}b}" if length else "") + end)
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8).replace(b"\xff", b"\xff\0")


def colours(picture: VideoFrame) -> list[Colour]:
    """Return the colour in the middle of each quarter."""
    rgb = picture.reformat(
        format="rgb24", src_colorspace="ITU709", src_color_range="MPEG", dst_color_range="JPEG"
    )
    plane = rgb.planes[0]
    data = bytes(plane)
    found = []
    for y in (rgb.height // 4, rgb.height * 3 // 4):
        for x in (rgb.width // 4, rgb.width * 3 // 4):
            start = y * plane.line_size + 3 * x
            red, green, blue = data[start : start + 3]
            found.append((red, green, blue))
    return found


def near(found: Sequence[Colour], wanted: Sequence[Colour], tolerance: int = 4) -> bool:
    pairs = zip(found, wanted, strict=True)
    return all(abs(a - b) <= tolerance for x, y in pairs for a, b in zip(x, y, strict=True))


def disguises() -> dict[str, bytes]:
    """Files that customers really send under the name of a photo."""
    gif = encode("gif", frame(), "rgb8")
    return {
        "empty": b"",
        "html": b"<!doctype html><html><body>404 Not Found</body></html>",
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640"/>',
        "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
        "mp4": b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + bytes(64),
        "heic": b"\0\0\0\x24ftypheic\0\0\0\0mif1heic" + bytes(64),
        "avif": b"\0\0\0\x24ftypavif\0\0\0\0mif1avif" + bytes(64),
        "gif": gif if gif.startswith(b"GIF") else b"GIF89a" + gif,
        "bmp": b"BM" + bytes(64),
        "tiff": b"II*\0\x08\0\0\0" + bytes(64),
        "playlist": b"#EXTM3U\nfile:///etc/passwd\n",
        "concat": b"ffconcat version 1.0\nfile /etc/passwd\n",
        "zeros": bytes(4096),
    }


def decodes(data: bytes, codec: str) -> bool:
    """Tell whether FFmpeg returns a picture for these bytes when it is not told to be strict."""
    context = CodecContext.create(codec, "r")
    assert isinstance(context, VideoCodecContext)
    try:
        return bool(context.decode(av.Packet(data)) + context.decode(None))
    except av.FFmpegError:
        return False
