"""The box walk survives everything, and reads well-formed files right."""

import io
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.media.boxes import Layout, box_at, read_layout
from functions.media.chunks import Chunks, read_chunks
from functions.media.sniff import sniff
from functions.media.tracks import read_movie
from functions.media.units import impossible, length_bytes
from tests.media.clips import film


def box(kind: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def layout(data: bytes) -> Layout:
    return read_layout(io.BytesIO(data))


FTYP = box(b"ftyp", b"isom\0\0\2\0isomavc1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path: Path = tmp_path_factory.mktemp("boxes") / "a.mp4"
    return film(path, sound="tone").read_bytes()


def test_a_real_file_is_read_right(whole: bytes) -> None:
    found = layout(whole)
    assert found.movie is not None
    assert found.brands[0] == "isom"
    assert found.index_first
    assert not found.fragmented
    (video,), (sound,) = found.movie.of("vide"), found.movie.of("soun")
    assert (video.entry, video.width, video.height, video.samples) == ("avc1", 320, 180, 75)
    assert video.sample_seconds == pytest.approx(3.0)
    assert video.seconds == pytest.approx(3.0)
    assert sound.entry == "mp4a"
    assert video.chunks is not None
    assert sound.chunks is not None
    assert max(video.chunks.end, sound.chunks.end) == len(whole)


def test_missing_and_trailing_bytes_are_counted(whole: bytes) -> None:
    assert layout(whole[:-5]).missing_bytes == 5
    assert layout(whole + b"<html>not a box</html>").trailing_bytes == 22
    assert layout(whole + bytes(40)).trailing_bytes == 40
    assert layout(whole).trailing_bytes == 0


def test_a_second_file_is_seen(whole: bytes) -> None:
    found = layout(whole + whole)
    assert (found.count("ftyp"), found.count("moov")) == (2, 2)


def test_lengths_of_all_three_kinds_are_understood() -> None:
    assert box_at(box(b"free", b"abc"), 0, 100) == box_at(box(b"free", b"abc") + b"x", 0, 100)
    long = box_at(struct.pack(">I4sQ", 1, b"mdat", 50), 10, 100)
    assert long is not None
    assert (long.body, long.end) == (26, 60)
    rest = box_at(struct.pack(">I4s", 0, b"mdat"), 10, 100)
    assert rest is not None
    assert rest.end == 100
    assert box_at(struct.pack(">I4s", 7, b"mdat"), 0, 100) is None
    assert box_at(b"\0\0", 0, 100) is None


def test_claims_cost_no_memory() -> None:
    huge = struct.pack(">I4sQ", 1, b"moov", 1 << 62)
    assert layout(FTYP + huge).missing_bytes > 0
    sizes = struct.pack(">IIII", 0, 0, 0xFFFF_FFFF, 7)
    assert read_chunks({"stsz": memoryview(sizes)}).broken == "sizes"


@given(st.binary(max_size=400))
def test_any_bytes_are_walked(data: bytes) -> None:
    layout(data)
    layout(FTYP + data)
    layout(FTYP + box(b"moov", box(b"trak", data)) + box(b"mdat", data))
    read_movie(data)
    sniff(data)


@given(st.integers(0, 2**32 - 1))
def test_a_mutated_index_is_read_without_raising(whole: bytes, seed: int) -> None:
    random_source = random.Random(seed)
    start = whole.index(b"moov")
    mutant = bytearray(whole[: start + 6000])
    for _ in range(random_source.randint(1, 40)):
        mutant[random_source.randrange(start, len(mutant))] = random_source.randrange(256)
    found = layout(bytes(mutant))
    for track in found.movie.tracks if found.movie else ():
        if track.chunks is not None:
            track.chunks.outside([(0, len(whole))])


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 100)), max_size=20),
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=5),
)
def test_chunks_outside_are_those_in_no_span(
    ranges: list[tuple[int, int]], spans: list[tuple[int, int]]
) -> None:
    # Spans of real files do not overlap: make them so.
    apart = sorted({edge for span in spans for edge in span})
    pairs = list(zip(apart[::2], apart[1::2], strict=False))
    starts, ends = [start for start, _ in ranges], [start + size for start, size in ranges]
    chunks = Chunks(samples=0, starts=starts, ends=ends)
    naive = sum(
        not any(low <= start and end <= high for low, high in pairs)
        for start, end in zip(starts, ends, strict=True)
    )
    assert chunks.outside(pairs) == naive


def test_units_must_fit_and_hold_no_zeros() -> None:
    def unit(body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + body

    assert not impossible(unit(b"\x65\x88\x84\x00\x21"), 4)
    assert not impossible(unit(b"\x65\x00\x00\x03\x01") + unit(b"\x41\x9a"), 4)
    assert not impossible(unit(b"\x0e\x00\x00\x00\x01\x41"), 4)  # wrapped twice
    assert impossible(unit(b"\x65" + bytes(8) + b"\x21"), 4)
    assert impossible(unit(b"\x65" + bytes(200)), 4)
    assert impossible(unit(b"\x65\x88") + b"\x00", 4)
    assert impossible(b"\x00\x00\x40\x00\x65", 4)


def test_the_length_of_lengths_is_read_from_the_record() -> None:
    assert length_bytes("h264", b"\x01\x64\x00\x1f\xff") == 4
    assert length_bytes("h264", b"\x01\x64\x00\x1f\xfd") == 2
    assert length_bytes("hevc", bytes([1]) + bytes(20) + b"\x0f") == 4
    assert length_bytes("h264", b"\x00\x00\x00\x01\x67") == 0
    assert length_bytes("av1", b"\x81\x05\x0c\x00") == 0
