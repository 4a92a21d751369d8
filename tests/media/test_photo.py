import random
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.domain.outcomes import Refused
from functions.media import photo_header
from functions.media.photo import SHARP_SIDE, Photo, read_photo
from functions.media.photo_exif import orientation
from functions.media.photo_header import PhotoHeader, sniff_photo
from tests.media import pictures

GREYS = [(v, v, v) for v in (0, 85, 170, 255)]
# The stored quarters in the order in which they stand once the picture is upright.
UPRIGHT = {1: "abcd", 2: "badc", 3: "dcba", 4: "cdab", 5: "acbd", 6: "cadb", 7: "dbca", 8: "bdac"}


def read(tmp_path: Path, data: bytes, name: str = "photo.jpg") -> Photo | Refused:
    path = tmp_path / name
    path.write_bytes(data)
    return read_photo(path)


def good(tmp_path: Path, data: bytes) -> Photo:
    photo = read(tmp_path, data)
    assert isinstance(photo, Photo), photo
    return photo


def code(tmp_path: Path, data: bytes) -> str:
    refused = read(tmp_path, data)
    assert isinstance(refused, Refused)
    assert refused.reason.endswith(".")
    return refused.code


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (pictures.jpeg(), "jpeg"),
        (pictures.png(), "png"),
        (pictures.png(depth=16), "png"),
        (pictures.png(interlace=1), "png"),
        (pictures.png(depth=16, colour=6, interlace=1), "png"),
        *((pictures.png(colour=3, depth=depth, interlace=depth % 2), "png") for depth in (2, 4, 8)),
        (pictures.webp(lossless=True), "webp"),
        (pictures.webp(lossless=False), "webp"),
    ],
)
def test_the_colours_of_every_kind_are_right(tmp_path: Path, data: bytes, kind: str) -> None:
    photo = good(tmp_path, data)
    assert (photo.kind, photo.width, photo.height) == (kind, pictures.WIDTH, pictures.HEIGHT)
    assert photo.frame.format.name == "yuv444p"
    assert pictures.near(pictures.colours(photo.frame), pictures.QUARTERS)


@pytest.mark.parametrize("depth", [2, 4, 8, 16])
@pytest.mark.parametrize("interlace", [0, 1])
def test_grey_pictures_of_all_depths_are_right(tmp_path: Path, depth: int, interlace: int) -> None:
    photo = good(tmp_path, pictures.png(colour=0, depth=depth, interlace=interlace))
    assert pictures.near(pictures.colours(photo.frame), GREYS, 2)


def test_a_grey_jpeg_is_right(tmp_path: Path) -> None:
    photo = good(tmp_path, pictures.blocks_jpeg([[0, 85, 170, 255]]))
    assert pictures.near(pictures.colours(photo.frame), GREYS, 2)


@pytest.mark.parametrize("progressive", [False, True])
def test_baseline_and_progressive_jpeg_agree(tmp_path: Path, *, progressive: bool) -> None:
    planes = [[60, 120, 180, 200], [100, 128, 180, 128], [128, 90, 128, 200]]
    plain = good(tmp_path, pictures.blocks_jpeg(planes))
    other = good(tmp_path, pictures.blocks_jpeg(planes, progressive=progressive))
    assert pictures.colours(plain.frame) == pictures.colours(other.frame)
    assert len(set(pictures.colours(plain.frame))) == 4


def test_cmyk_as_adobe_writes_it_is_right(tmp_path: Path) -> None:
    # Stored inverted: 255 is no ink. The fourth quarter has half its black.
    cyan, magenta, yellow = [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]
    black = [255, 255, 255, 128]
    photo = good(tmp_path, pictures.blocks_jpeg([cyan, magenta, yellow, black], transform=0))
    wanted = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128)]
    assert pictures.near(pictures.colours(photo.frame), wanted)


def test_ycck_as_photoshop_writes_it_is_right(tmp_path: Path) -> None:
    # The colours' complements as luminance and chrominance, and the black inverted.
    luma, blueness, redness, black = [], [], [], [255, 255, 255, 255]
    for colour in pictures.QUARTERS:
        r, g, b = (255 - value for value in colour)
        y = 0.299 * r + 0.587 * g + 0.114 * b
        luma.append(round(y))
        blueness.append(round(128 + (b - y) * 0.564))
        redness.append(round(128 + (r - y) * 0.713))
    photo = good(tmp_path, pictures.blocks_jpeg([luma, blueness, redness, black], transform=2))
    assert pictures.near(pictures.colours(photo.frame), pictures.QUARTERS)


@pytest.mark.parametrize(
    "data",
    [
        pictures.png(colour=6, alpha=(255, 0, 128, 255)),
        pictures.png(colour=6, depth=16, alpha=(255, 0, 128, 255)),
        pictures.png(colour=3, alpha=(255, 0, 128, 255)),
        pictures.webp(lossless=True, alpha=(255, 0, 128, 255)),
        pictures.webp(lossless=False, alpha=(255, 0, 128, 255)),
    ],
)
def test_what_is_transparent_becomes_white(tmp_path: Path, data: bytes) -> None:
    red, _, blue, gold = pictures.QUARTERS
    pale = tuple((value + 256) // 2 for value in blue)
    photo = good(tmp_path, data)
    wanted = [red, (255, 255, 255), (pale[0], pale[1], pale[2]), gold]
    assert pictures.near(pictures.colours(photo.frame), wanted)


def test_transparent_grey_becomes_white(tmp_path: Path) -> None:
    photo = good(tmp_path, pictures.png(colour=4, alpha=(0, 255, 0, 255)))
    assert pictures.near(pictures.colours(photo.frame), [GREYS[3], GREYS[1], GREYS[3], GREYS[3]])


@pytest.mark.parametrize("turn", UPRIGHT)
@pytest.mark.parametrize(
    "data",
    [pictures.jpeg(), pictures.png(), pictures.webp(lossless=True)],
    ids=["jpeg", "png", "webp"],
)
def test_the_camera_may_be_held_in_any_way(tmp_path: Path, data: bytes, turn: int) -> None:
    order = ">" if turn % 2 else "<"
    photo = good(tmp_path, pictures.with_exif(data, pictures.tiff(turn, order)))
    wanted = [pictures.QUARTERS["abcd".index(letter)] for letter in UPRIGHT[turn]]
    size = (pictures.WIDTH, pictures.HEIGHT) if turn < 5 else (pictures.HEIGHT, pictures.WIDTH)
    assert (photo.width, photo.height) == size == (photo.frame.width, photo.frame.height)
    assert pictures.near(pictures.colours(photo.frame), wanted)


@pytest.mark.parametrize("value", [0, 9, 255, 65535])
def test_a_nonsensical_orientation_means_upright(value: int) -> None:
    assert orientation(pictures.tiff(value)) == 1


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 60))
def test_any_exif_block_gives_an_orientation(junk: bytes, cut: int) -> None:
    whole = pictures.tiff(6)
    for block in (junk, b"II*\0" + junk, b"MM\0*" + junk, whole[:cut] + junk):
        assert 1 <= orientation(block) <= 8


@pytest.mark.parametrize(("name", "data"), pictures.disguises().items())
def test_other_files_are_refused_whatever_they_are_called(
    tmp_path: Path, name: str, data: bytes
) -> None:
    known = name in ("heic", "avif", "gif", "bmp", "tiff")
    wanted = "photo-type-unsupported" if known else "photo-not-an-image"
    assert code(tmp_path, data) == wanted
    sniffed = sniff_photo(data)
    assert isinstance(sniffed, Refused)
    assert sniffed.code == wanted


@pytest.mark.parametrize(
    "data",
    [pictures.jpeg(), pictures.png(), pictures.webp(lossless=True), pictures.webp(lossless=False)],
    ids=["jpeg", "png", "lossless", "lossy"],
)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_a_cut_file_is_refused(tmp_path: Path, data: bytes, share: float) -> None:
    cut = data[: int(len(data) * share)]
    assert code(tmp_path, cut) in ("photo-truncated", "photo-unreadable")


def test_a_jpeg_cut_in_its_pixels_is_truncated(tmp_path: Path) -> None:
    data = pictures.jpeg(640, 480)
    half = data[: len(data) * 2 // 3]
    assert pictures.decodes(half, "mjpeg"), "FFmpeg is content with it, so we must not be"
    assert code(tmp_path, half) == "photo-truncated"


def test_a_jpeg_closed_after_the_cut_is_refused(tmp_path: Path) -> None:
    data = pictures.jpeg(640, 480)
    closed = data[: len(data) * 2 // 3].rstrip(b"\xff") + b"\xff\xd9"
    assert code(tmp_path, closed) == "photo-unreadable"


def test_a_jpeg_of_which_a_component_is_missing_is_truncated(tmp_path: Path) -> None:
    data = pictures.blocks_jpeg([[0, 85, 170, 255]] * 3)
    one = data.replace(bytes((3, 1, 0, 2, 0, 3, 0, 0, 63, 0)), bytes((1, 1, 0, 0, 63, 0)))
    one = one.replace(b"\xff\xda\0\x0c", b"\xff\xda\0\x08")
    assert code(tmp_path, one) == "photo-truncated"


def test_what_follows_the_picture_does_not_matter(tmp_path: Path) -> None:
    preview = pictures.jpeg(64, 64)
    for data in (pictures.jpeg(), pictures.png(), pictures.webp(lossless=True)):
        photo = good(tmp_path, data + preview + b"\0" * 100)
        assert pictures.near(pictures.colours(photo.frame), pictures.QUARTERS)


def test_damaged_pixels_are_refused(tmp_path: Path) -> None:
    data = bytearray(pictures.png())
    data[-30] ^= 0x40
    assert code(tmp_path, bytes(data)) == "photo-unreadable"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (pictures.png(extra=[pictures.chunk(b"acTL", bytes(8))]), "photo-animated"),
        (
            pictures.webp_file(
                pictures.riff_chunk(b"VP8X", b"\x02" + bytes(9)),
                pictures.riff_chunk(b"ANIM", bytes(6)),
            ),
            "photo-animated",
        ),
        (pictures.blocks_jpeg([[0] * 4] * 4), "photo-type-unsupported"),
        (pictures.blocks_jpeg([[0] * 4], precision=12), "photo-type-unsupported"),
        (pictures.jpeg().replace(b"\xff\xc0", b"\xff\xc3"), "photo-type-unsupported"),
        (pictures.jpeg().replace(b"\xff\xc0", b"\xff\xc9"), "photo-type-unsupported"),
        (pictures.jpeg(64, 48), "photo-too-small"),
        (pictures.png(colour=3).replace(b"PLTE", b"PLTF"), "photo-unreadable"),
        (b"\xff\xd8\xff<html>", "photo-truncated"),
        (pictures.PNG_SIGNATURE + b"<html><body></body></html>", "photo-truncated"),
        (b"\xff\xd8\xff\xfe\x00\x04ab" * 30_000, "photo-unreadable"),
    ],
)
def test_odd_files_are_refused_with_their_reason(tmp_path: Path, data: bytes, wanted: str) -> None:
    assert code(tmp_path, data) == wanted


def test_bombs_are_refused_before_a_decoder_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.media.photo._decode", lambda _: pytest.fail("decoded"))
    vast = pictures.PNG_SIGNATURE + pictures.png_header(60000, 60000)
    wide = pictures.jpeg().replace(
        struct.pack(">HH", pictures.HEIGHT, pictures.WIDTH), struct.pack(">HH", 65535, 65535)
    )
    lossless = bytearray(pictures.webp(lossless=True))
    lossless[21:25] = b"\xff\xff\xff\x0f"
    for data in (vast, wide, bytes(lossless)):
        assert code(tmp_path, data) == "photo-too-large"
        sniffed = sniff_photo(data)
        assert isinstance(sniffed, Refused)
        assert sniffed.code == "photo-too-large"
    # A kilobyte's worth of pixels that unpacks to half a gigabyte.
    pack = zlib.compressobj(9)
    packed = b"".join(pack.compress(bytes(1 << 20)) for _ in range(512)) + pack.flush()
    bomb = b"".join(
        (
            pictures.PNG_SIGNATURE,
            pictures.png_header(),
            pictures.chunk(b"IDAT", packed),
            pictures.chunk(b"IEND", b""),
        )
    )
    assert code(tmp_path, bomb) == "photo-unreadable"


def test_hidden_text_never_reaches_the_decoder(tmp_path: Path) -> None:
    bomb = pictures.chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1 << 24), 9))
    photo = good(tmp_path, pictures.png(extra=[bomb]))
    assert pictures.near(pictures.colours(photo.frame), pictures.QUARTERS)


def test_a_file_with_too_many_bytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    with path.open("wb") as file:
        file.truncate(photo_header.PHOTO_BYTES_MAX + 1)
    refused = read_photo(path)
    assert isinstance(refused, Refused)
    assert refused.code == "photo-too-large"


def test_a_large_photo_is_shrunk_to_what_a_clip_can_show(tmp_path: Path) -> None:
    photo = good(tmp_path, pictures.jpeg(4000, 3200))
    assert (photo.width, photo.height) == (4000, 3200)
    assert (photo.frame.width, photo.frame.height) == (SHARP_SIDE * 4000 // 3200, SHARP_SIDE)
    assert pictures.near(pictures.colours(photo.frame), pictures.QUARTERS)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (pictures.with_exif(pictures.jpeg(), pictures.tiff(6)), "jpeg"),
        (pictures.png(), "png"),
        (pictures.webp(lossless=True), "webp"),
        (pictures.webp(lossless=False), "webp"),
        (pictures.with_exif(pictures.webp(lossless=False), pictures.tiff(6)), "webp"),
    ],
)
def test_the_head_tells_type_and_size(data: bytes, kind: str) -> None:
    head = sniff_photo(data[:1024])
    assert head == PhotoHeader(kind=kind, width=pictures.WIDTH, height=pictures.HEIGHT)


def test_a_size_behind_the_head_is_unknown_and_not_refused() -> None:
    far = pictures.jpeg()[:2] + pictures.segment(0xE2, bytes(60_000)) * 2 + pictures.jpeg()[2:]
    head = sniff_photo(far[: photo_header.HEAD_BYTES])
    assert head == PhotoHeader(kind="jpeg", width=None, height=None)


GOOD = (
    pictures.with_exif(pictures.jpeg(64, 64), pictures.tiff(3)),
    pictures.blocks_jpeg([[0, 85, 170, 255]] * 4, transform=2),
    pictures.blocks_jpeg([[0, 85, 170, 255]] * 3, progressive=True),
    pictures.png(colour=3, alpha=(0, 9, 99, 255)),
    pictures.png(colour=6, depth=16, interlace=1),
    pictures.webp(lossless=True),
    pictures.webp(lossless=False, alpha=(255, 0, 128, 255)),
)


def mutated(data: bytes, seed: int) -> bytes:
    rng = random.Random(seed)
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        place, what = rng.randrange(len(out)), rng.randrange(5)
        if what == 0:
            out[place] ^= 1 << rng.randrange(8)
        elif what == 1:
            out[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif what == 2:
            del out[place : place + rng.randint(1, 40)]
        elif what == 3:
            out[place:place] = rng.randbytes(rng.randint(1, 20))
        else:
            out[place : place + 4] = rng.choice((b"\xff\xff\xff\xff", bytes(4), out[:4]))
        out = out or bytearray(b"\0")
    return mended(bytes(out)) if rng.random() < 0.5 else bytes(out)


def mended(data: bytes) -> bytes:
    """Put a PNG's check sums right again, so that the damage gets further."""
    out, place = bytearray(data), 8
    while data.startswith(pictures.PNG_SIGNATURE) and place + 12 <= len(out):
        end = place + 8 + int.from_bytes(out[place : place + 4])
        if end + 4 > len(out):
            break
        out[end : end + 4] = zlib.crc32(out[place + 4 : end]).to_bytes(4)
        place = end + 4
    return bytes(out)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(GOOD), st.integers(0, 2**32))
def test_no_damage_raises_anything(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, seed: int
) -> None:
    bad = mutated(data, seed)
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_bytes(bad)
    assert isinstance(read_photo(path), (Photo, Refused))
    assert isinstance(sniff_photo(bad[:512]), (PhotoHeader, Refused))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from((b"", b"\xff\xd8\xff", pictures.PNG_SIGNATURE, b"RIFF\x40\0\0\0WEBPVP8 ")),
    st.binary(max_size=300),
)
def test_no_bytes_raise_anything(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(start + rest)
    assert isinstance(read_photo(path), (Photo, Refused))
    assert isinstance(sniff_photo(start + rest), (PhotoHeader, Refused))
