"""Repacking mends what it says and touches no picture."""

import hashlib
from pathlib import Path

import av
import pytest

from functions.media.boxes import read_layout
from functions.media.remux import NotRepaired, Repaired, repair_file
from functions.media.verdict import Expected
from functions.media.verify import Verified, verify_file
from tests.media.clips import film, patched

ORDER = Expected(seconds=3)


def pictures(path: Path) -> list[bytes]:
    with av.open(path) as box:
        return [bytes(packet) for packet in box.demux(video=0) if packet.size]


def verified(path: Path, folder: Path, order: Expected = ORDER) -> Verified:
    outcome = verify_file(path, order, folder)
    assert isinstance(outcome, Verified)
    return outcome


@pytest.mark.parametrize(
    ("fault", "repair"),
    [
        ("slow start", "fast_start"),
        ("wrong length", "declared_length"),
        ("trailing", "trailing_bytes"),
        ("fragments", "fragments"),
        ("quicktime", "brand"),
    ],
)
def test_each_fault_is_mended(tmp_path: Path, fault: str, repair: str) -> None:
    path = tmp_path / "a.mp4"
    if fault == "slow start":
        film(path, mux={}, sound="tone")
    elif fault == "wrong length":
        patched(film(path), b"mvhd", 16, (3_600_000).to_bytes(4, "big"))
    elif fault == "trailing":
        film(path).write_bytes(path.read_bytes() + b"<html>504</html>")
    elif fault == "fragments":
        film(path, mux={"movflags": "frag_keyframe+empty_moov"}, g="25")
    else:
        patched(film(path), b"ftyp", 0, b"qt  ")
    before = path.read_bytes()
    outcome = verified(path, tmp_path)
    assert outcome.verdict.verdict == "accept"
    assert repair in outcome.repairs
    assert outcome.path != path
    assert path.read_bytes() == before
    assert pictures(outcome.path) == pictures(path)
    delivered = outcome.path.read_bytes()
    assert outcome.verdict.facts.sha256 == hashlib.sha256(delivered).hexdigest()
    with outcome.path.open("rb") as file:
        layout = read_layout(file)
    assert layout.index_first
    assert not layout.fragmented
    assert layout.trailing_bytes == 0
    assert "repacked" in [check.name for check in outcome.verdict.checks]


def test_the_label_that_apple_refuses_is_changed(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", codec="libx265")
    order = Expected(seconds=3, codecs=("h264", "hevc"))
    assert b"hev1" in path.read_bytes()
    outcome = verified(path, tmp_path, order)
    assert outcome.verdict.verdict == "accept"
    assert outcome.repairs == ("hvc1",)
    assert b"hvc1" in outcome.path.read_bytes()
    assert b"hev1" not in outcome.path.read_bytes()


def test_a_good_file_is_delivered_as_it_is(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4")
    outcome = verified(path, tmp_path)
    assert (outcome.path, outcome.repairs) == (path, ())
    assert outcome.verdict.verdict == "accept"


def test_packing_does_not_hide_damage(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", mux={})
    data = bytearray(path.read_bytes())
    at = data.index(b"mdat") + len(data) // 3
    data[at : at + 600] = bytes(600)
    path.write_bytes(data)
    assert verified(path, tmp_path).verdict.verdict == "reject"


def test_nothing_is_packed_that_cannot_be_saved(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4")
    path.write_bytes(path.read_bytes()[:-1000])
    outcome = verified(path, tmp_path)
    assert outcome.verdict.code == "truncated"
    assert [found.name for found in tmp_path.iterdir()] == ["a.mp4"]


def test_packing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", mux={})
    sums = []
    for name in ("b.mp4", "c.mp4"):
        repaired = repair_file(path, tmp_path / name, ("fast_start",))
        assert isinstance(repaired, Repaired)
        sums.append(repaired.sha256)
    assert sums[0] == sums[1]


def test_a_failed_packing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\x08moov")
    outcome = repair_file(path, tmp_path / "b.mp4", ("fast_start",))
    assert isinstance(outcome, NotRepaired)
    assert not (tmp_path / "b.mp4").exists()
