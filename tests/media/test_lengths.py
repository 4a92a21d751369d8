"""A video's length is read in few short reads, and nothing that a file says does harm."""

import struct
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.domain.outcomes import Refused
from functions.media.length_reading import PIECE_BYTES
from functions.media.lengths import READS_MAX, Length, length_of
from functions.media.tracks import FAR_FUTURE
from tests.media.clips import film

REAL = Path(__file__).parents[3] / "shared" / "corpus" / "media" / "real"
# The header says more than the samples that are there; the library goes by those.
CUT_SHORT = {
    "exiftool__QuickTime.mov",
    "mp4parse-rust__bipbop_nonfragment_header.mp4",
    "torchcodec__nasa_13013.mp4",
}
FRAGMENTS = "frag_keyframe+empty_moov+default_base_moof"
SECONDS = 2.0


class Remote:
    """A file that lies elsewhere and counts how it is read. `claimed` is its size by its own."""

    def __init__(self, data: bytes, size: int | None = None) -> None:
        self.data, self.size = data, len(data) if size is None else size
        self.reads: list[int] = []

    def read_at(self, start: int, count: int) -> bytes:
        assert start >= 0
        assert 0 < count <= PIECE_BYTES
        self.reads.append(count)
        return self.data[start : start + count]

    def length(self) -> Length | Refused:
        found = length_of(self.read_at, self.size)
        assert len(self.reads) <= READS_MAX
        return found


def said(data: bytes, size: int | None = None) -> Length | Refused:
    return Remote(data, size).length()


def code(data: bytes, size: int | None = None) -> str:
    found = said(data, size)
    assert isinstance(found, Refused)
    assert found.reason.endswith(".")
    return found.code


def seconds(data: bytes, size: int | None = None) -> float:
    found = said(data, size)
    assert isinstance(found, Length)
    return found.seconds


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("lengths")
    made = {
        "front.mp4": {"movflags": "faststart"},
        "behind.mp4": {},
        "fragments.mp4": {"movflags": FRAGMENTS},
        "indexed.mp4": {"movflags": f"{FRAGMENTS}+global_sidx", "write_prft": "none"},
        "a.mov": {},
        "a.mkv": {},
        "live.mkv": {"live": "1"},
    }
    found = {}
    for name, mux in made.items():
        path = film(folder / name, seconds=SECONDS, mux=mux, g="25")
        found[name] = path.read_bytes()
    path = film(
        folder / "a.webm", seconds=SECONDS, codec="libvpx-vp9", mux={}, deadline="realtime",
        speed="8",
    )  # fmt: skip
    return found | {"a.webm": path.read_bytes()}


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("front.mp4", "mp4"),
        ("behind.mp4", "mp4"),
        ("fragments.mp4", "mp4"),
        ("indexed.mp4", "mp4"),
        ("a.mov", "mov"),
        ("a.mkv", "matroska"),
        ("a.webm", "webm"),
    ],
)
def test_each_container_says_its_length(files: dict[str, bytes], name: str, container: str) -> None:
    found = said(files[name])
    assert isinstance(found, Length), found
    assert found.seconds == pytest.approx(SECONDS, abs=0.05)
    assert found.container == container


def test_reading_is_cheap(files: dict[str, bytes]) -> None:
    hole = 3 << 30  # the media of a long film stands between the two
    data = files["behind.mp4"]
    at = data.index(b"mdat") - 4
    media = struct.pack(">I4sQ", 1, b"mdat", hole)
    index = data[data.index(b"moov") - 4 :]
    reads = []

    def read_at(start: int, count: int) -> bytes:
        reads.append(count)
        front = (data[:at] + media)[start : start + count]
        return front + index[max(0, start - at - hole) :][:count] if start >= at + hole else front

    found = length_of(read_at, at + hole + len(index))
    assert isinstance(found, Length)
    assert found.seconds == pytest.approx(SECONDS, abs=0.05)
    assert len(reads) == 2
    assert sum(reads) <= 2 * PIECE_BYTES


def box(kind: bytes, *content: bytes) -> bytes:
    body = b"".join(content)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def mvhd(scale: int, ticks: int, *, wide: bool = False) -> bytes:
    if wide:
        return box(b"mvhd", bytes((1, 0, 0, 0)), bytes(16), struct.pack(">IQ", scale, ticks))
    return box(b"mvhd", bytes(12), struct.pack(">II", scale, ticks), bytes(80))


def mp4(*boxes: bytes, brand: bytes = b"isom") -> bytes:
    return box(b"ftyp", brand, bytes(4), brand) + b"".join(boxes)


def test_wide_numbers_are_read() -> None:
    assert seconds(mp4(box(b"moov", mvhd(1000, 90_000)))) == 90
    assert seconds(mp4(box(b"moov", mvhd(1, 1 << 33, wide=True)))) == 1 << 33
    wide = struct.pack(">I4sQ", 1, b"moov", 16 + len(mvhd(10, 35))) + mvhd(10, 35)
    assert seconds(mp4(wide)) == 3.5
    assert seconds(mp4(box(b"free", bytes(200_000)), wide)) == 3.5


def test_a_header_behind_long_tracks_is_found() -> None:
    data = mp4(box(b"moov", box(b"trak", bytes(300_000)), mvhd(1000, 4000)))
    assert seconds(data) == 4


def track(handler: bytes, ticks: int) -> bytes:
    header = box(b"mdhd", bytes(12), struct.pack(">II", 1000, ticks), bytes(4))
    named = box(b"hdlr", bytes(8), handler, bytes(12))
    return box(b"trak", box(b"mdia", header, named))


def test_subtitles_that_outlast_the_pictures_are_not_paid_for() -> None:
    long = mvhd(1000, 60_000)
    tracks = (track(b"vide", 13_000), track(b"soun", 13_056), track(b"sbtl", 60_000))
    assert seconds(mp4(box(b"moov", long, *tracks))) == 13.056
    assert seconds(mp4(box(b"moov", long, tracks[2]))) == 60
    far = box(b"moov", long, *tracks, box(b"udta", bytes(100_000)))
    assert seconds(mp4(far)) == 60


def test_fragments_count_with_what_extends_them() -> None:
    mehd = box(b"mehd", bytes(4), struct.pack(">I", 7000))
    assert seconds(mp4(box(b"moov", mvhd(1000, 0), box(b"mvex", mehd)))) == 7
    entries = b"".join(struct.pack(">III", 100, 2500, 0) for _ in range(4))
    sidx = box(b"sidx", bytes(4), struct.pack(">IIIIHH", 1, 1000, 0, 0, 0, 4), entries)
    fragmented = box(b"moov", mvhd(1000, 0), box(b"mvex"))
    assert seconds(mp4(fragmented, sidx, box(b"moof"))) == 10
    assert seconds(mp4(box(b"moov", mvhd(1000, 3000), box(b"mvex")), sidx)) == 10
    assert code(mp4(fragmented, box(b"moof"))) == "length-unknown"


def test_the_last_fragment_counts_to_its_end(files: dict[str, bytes]) -> None:
    data = files["fragments.mp4"]
    assert seconds(data) == pytest.approx(SECONDS, abs=0.05)
    cut = data[: data.index(b"mfra") - 4]  # a recording that was not ended
    assert code(cut) == "length-unknown"


def test_what_has_no_length_is_said() -> None:
    assert code(b"") == "video-empty"
    assert code(mp4(box(b"moov", mvhd(1000, 0)))) == "video-unreadable"
    track = box(b"trak", box(b"mdia", box(b"mdhd", bytes(12), struct.pack(">II", 1000, 0))))
    assert code(mp4(box(b"moov", mvhd(1000, 0), track))) == "video-empty"
    known = box(b"trak", box(b"mdia", box(b"mdhd", bytes(12), struct.pack(">II", 1000, 9000))))
    assert seconds(mp4(box(b"moov", mvhd(1000, 0), known))) == 9
    assert seconds(mp4(box(b"moov", mvhd(1000, FAR_FUTURE), known))) == 9


def cut_in_half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def no_index(data: bytes) -> bytes:
    return data.replace(b"moov", b"free", 1)


@pytest.mark.parametrize("damage", [cut_in_half, no_index])
def test_damage_is_said(files: dict[str, bytes], damage: Callable[[bytes], bytes]) -> None:
    assert code(damage(files["behind.mp4"])) == "video-unreadable"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"GIF89a" + bytes(50), "picture"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "picture"),
        (b"<!DOCTYPE html><title>x</title>", "web page"),
        (b"#EXTM3U\n#EXTINF:10,\na.ts\n", "playlist"),
        (b'{"a": 1}', "JSON"),
        (b"ID3" + bytes(50), "sound"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "another type"),
        (b"FLV\x01" + bytes(50), "another type"),
        (mp4(brand=b"heic"), "picture"),
        (mp4(brand=b"M4A "), "sound"),
        (b"\x93\x11 random bytes \x00\x01" * 20, "another type"),
    ],
)
def test_other_files_are_named(data: bytes, what: str) -> None:
    found = said(data)
    assert isinstance(found, Refused)
    assert found.code == "type-unsupported"
    assert what in found.reason


def test_zeros_are_a_broken_upload() -> None:
    assert code(bytes(5000)) == "video-unreadable"
    assert code(b"", size=5000) == "video-unreadable"


def element(number: int, *content: bytes, size: int | None = None) -> bytes:
    body = b"".join(content)
    ident = number.to_bytes((number.bit_length() + 7) // 8, "big")
    length = (1 << 56) | (len(body) if size is None else size)
    return ident + length.to_bytes(8, "big") + body


UNKNOWN_SIZE = (1 << 56) - 1
EBML = element(0x1A45DFA3, element(0x4282, b"webm"))
SEGMENT, SEEK_HEAD, INFO, CLUSTER = 0x18538067, 0x114D9B74, 0x1549A966, 0x1F43B675


def info(ticks: float, scale: int | None = None, form: str = ">d") -> bytes:
    scaled = b"" if scale is None else element(0x2AD7B1, scale.to_bytes(4, "big"))
    return element(INFO, scaled, element(0x4489, struct.pack(form, ticks)))


def webm(*content: bytes, unknown: bool = False) -> bytes:
    return EBML + element(SEGMENT, *content, size=UNKNOWN_SIZE if unknown else None)


def test_webm_is_read_with_its_own_clock() -> None:
    assert seconds(webm(info(4500.0))) == 4.5
    assert seconds(webm(info(4500.0, form=">f"))) == 4.5
    assert seconds(webm(info(450.0, scale=10_000_000))) == 4.5
    assert seconds(webm(element(0xEC, bytes(90_000)), info(4500.0), unknown=True)) == 4.5


def test_webm_information_behind_the_media_is_found_by_the_directory() -> None:
    cluster = element(CLUSTER, bytes(150_000))
    place = len(element(SEEK_HEAD, bytes(61))) + len(cluster)
    entry = element(
        0x4DBB, element(0x53AB, INFO.to_bytes(4, "big")), element(0x53AC, place.to_bytes(8, "big"))
    )
    directory = element(SEEK_HEAD, entry, element(0xEC, bytes(61 - len(entry) - 9)))
    assert len(directory) == len(element(SEEK_HEAD, bytes(61)))
    assert seconds(webm(directory, cluster, info(7000.0))) == 7
    assert code(webm(directory, cluster, cluster)) == "video-unreadable"


def test_a_live_recording_is_said_to_have_no_length(files: dict[str, bytes]) -> None:
    assert code(files["live.mkv"]) == "length-unknown"
    assert code(webm(element(INFO), element(CLUSTER, size=UNKNOWN_SIZE))) == "length-unknown"


@pytest.mark.parametrize("ticks", [float("nan"), float("inf"), -5.0])
def test_absurd_lengths_are_damage(ticks: float) -> None:
    assert code(webm(info(ticks))) == "video-unreadable"


def test_no_length_in_webm_is_said() -> None:
    assert code(webm(info(0.0))) == "video-empty"
    assert code(webm()) == "video-unreadable"
    assert code(EBML) == "video-unreadable"


def test_what_claims_to_be_huge_costs_nothing() -> None:
    many = b"".join(box(b"free") for _ in range(100_000))
    assert code(mp4(many, box(b"moov", mvhd(1, 5)))) == "video-unreadable"
    far = struct.pack(">I4sQ", 1, b"free", 1 << 62)
    assert code(mp4(far), size=1 << 63) == "video-unreadable"
    assert code(mp4(struct.pack(">I4s", 0xFFFF_FFF0, b"moov"))) == "video-unreadable"
    assert code(webm(element(0xEC, size=1 << 55))) == "video-unreadable"
    assert code(webm(*(element(0xEC) for _ in range(100_000)))) == "video-unreadable"


def test_a_server_that_gives_less_is_survived(files: dict[str, bytes]) -> None:
    data = files["behind.mp4"]
    for most in (0, 1, 9, 40, 200):
        reads: list[int] = []

        def read_at(start: int, count: int, most: int = most, reads: list[int] = reads) -> bytes:
            reads.append(count)
            return data[start : start + min(count, most)]

        assert isinstance(length_of(read_at, len(data)), Length | Refused)
        assert len(reads) <= READS_MAX


NAMES = st.sampled_from(
    [b"ftyp", b"moov", b"mvhd", b"mvex", b"mehd", b"trex", b"trak", b"tkhd", b"mdia", b"mdhd",
     b"sidx", b"moof", b"traf", b"tfhd", b"trun", b"mfra", b"tfra", b"mfro", b"mdat", b"free"]
)  # fmt: skip
BOXES = st.recursive(
    st.builds(box, NAMES, st.binary(max_size=48)),
    lambda inner: st.builds(lambda name, all_of: box(name, *all_of), NAMES, st.lists(inner)),
    max_leaves=12,
)
NUMBERS = st.sampled_from(
    [SEGMENT, SEEK_HEAD, INFO, CLUSTER, 0x4DBB, 0x53AB, 0x53AC, 0x2AD7B1, 0x4489, 0xEC, 0x1A45DFA3]
)
ELEMENTS = st.recursive(
    st.builds(element, NUMBERS, st.binary(max_size=24)),
    lambda inner: st.builds(
        lambda number, all_of, size: element(number, *all_of, size=size),
        NUMBERS,
        st.lists(inner),
        st.sampled_from([None, UNKNOWN_SIZE, 3, 1 << 50]),
    ),
    max_leaves=12,
)


def survived(data: bytes, size: int | None = None) -> None:
    assert isinstance(said(data, size), Length | Refused)


@settings(max_examples=150, deadline=None)
@given(st.lists(BOXES, max_size=5), st.integers(-40, 40))
def test_no_boxes_do_harm(boxes: list[bytes], off: int) -> None:
    data = mp4(*boxes)
    survived(data)
    survived(data, size=max(0, len(data) + off))


@settings(max_examples=150, deadline=None)
@given(st.lists(ELEMENTS, max_size=5), st.booleans())
def test_no_elements_do_harm(elements: list[bytes], unknown: bool) -> None:  # noqa: FBT001
    survived(webm(*elements, unknown=unknown))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_changed_byte_does_harm(files: dict[str, bytes], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(files)))
    original = bytearray(files[name])
    heads = (0, max(0, len(original) - 2000))
    for _ in range(data.draw(st.integers(1, 6))):
        base = data.draw(st.sampled_from(heads))
        at = base + data.draw(st.integers(0, 1500))
        if at < len(original):
            original[at] = data.draw(st.integers(0, 255))
    survived(bytes(original[: data.draw(st.integers(0, len(original)))]))
    survived(bytes(original))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_do_harm(data: bytes) -> None:
    survived(data)
    survived(b"\x1a\x45\xdf\xa3" + data)


@pytest.mark.skipif(not REAL.is_dir(), reason="the corpus is not here")
def test_real_files_say_what_the_media_library_reads() -> None:
    compared = 0
    apart = set()
    for path in sorted(REAL.iterdir()):
        found = said(path.read_bytes())
        if isinstance(found, Refused):
            continue
        try:
            with av.open(str(path)) as opened:
                declared = opened.duration
        except (av.FFmpegError, OSError):
            continue
        if declared:
            compared += 1
            if found.seconds != pytest.approx(declared / 1e6, abs=0.1):
                apart.add(path.name)
    assert compared > 40
    assert apart <= CUT_SHORT
