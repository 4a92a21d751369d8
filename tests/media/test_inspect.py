"""Good videos are accepted; each way of being bad is found and named."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from functions.media.inspect import inspect_file, inspect_sandboxed
from functions.media.verdict import Expected, Verdict
from tests.media.clips import LOOKS, film, joined, patched

ORDER = Expected(seconds=3)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return film(tmp_path_factory.mktemp("good") / "good.mp4", sound="tone")


def judged(path: Path, order: Expected = ORDER) -> tuple[str, str]:
    verdict = inspect_file(path, order)
    return verdict.verdict, verdict.code


def test_a_good_video_is_accepted_with_its_facts(good: Path) -> None:
    verdict = inspect_file(good, ORDER)
    assert verdict.verdict == "accept"
    assert verdict.repair == ()
    assert verdict.facts.duration_seconds == pytest.approx(3, abs=0.05)
    assert (verdict.facts.width, verdict.facts.height) == (320, 180)
    assert verdict.facts.codec == "h264"
    assert verdict.facts.frames == 75
    assert verdict.facts.fps == pytest.approx(25, abs=0.5)
    assert verdict.facts.bytes == good.stat().st_size
    assert len(verdict.facts.sha256) == 64
    assert {check.verdict for check in verdict.checks} <= {"pass", "info"}


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        ("black", ("reject", "black")),
        ("grey", ("reject", "no_picture")),
        ("still", ("reject", "frozen")),
        ("flicker", ("reject", "flicker")),
        ("noise", ("review", "noise")),
        ("half green", ("review", "half_picture")),
        ("small motion", ("accept", "ok")),
    ],
)
def test_what_is_shown_decides(tmp_path: Path, look: str, expected: tuple[str, str]) -> None:
    assert judged(film(tmp_path / "a.mp4", look)) == expected


def test_grain_over_a_still_is_for_a_person(tmp_path: Path) -> None:
    verdict = inspect_file(film(tmp_path / "a.mp4", "grain"), ORDER)
    assert verdict.verdict != "accept"
    assert verdict.code in ("frozen", "grain")


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        (("moving", "moving", "moving", "still"), ("review", "frozen")),
        (("black", "moving", "moving", "moving"), ("review", "black")),
        (("black", "black", "black", "moving"), ("reject", "black")),
        (("moving",), ("accept", "ok")),
    ],
)
def test_a_part_is_judged_as_a_part(
    tmp_path: Path, looks: tuple[str, ...], expected: tuple[str, str]
) -> None:
    path = film(tmp_path / "a.mp4", *looks, seconds=8)
    assert judged(path, Expected(seconds=8)) == expected


def test_a_recording_may_stand_still_and_a_photo_may_for_a_while(tmp_path: Path) -> None:
    whole = film(tmp_path / "a.mp4", "still")
    partly = film(tmp_path / "b.mp4", "moving", "still", seconds=6)
    session = Expected(seconds=3, kind="session_to_video")
    photo = Expected.for_kind("image_to_video", seconds=3)
    assert judged(whole, session) == ("accept", "ok")
    assert judged(whole, photo) == ("review", "still")
    assert judged(partly, Expected.for_kind("image_to_video", seconds=6)) == ("accept", "ok")


def test_the_same_seconds_again_and_again_are_noticed(tmp_path: Path) -> None:
    part = film(tmp_path / "part.mp4", seconds=1.6)
    assert judged(joined(tmp_path / "a.mp4", [part] * 4), Expected(seconds=6.4)) == (
        "review",
        "loop",
    )


def test_length_is_held_against_the_order(good: Path) -> None:
    assert judged(good, Expected(seconds=6)) == ("reject", "too_short")
    assert judged(good, Expected(seconds=2)) == ("review", "too_long")
    assert judged(good, Expected(seconds=3.4)) == ("accept", "ok")
    assert judged(good, Expected(seconds=3.4, tolerance_seconds=0.1)) == ("reject", "too_short")


def test_size_is_held_against_the_order(good: Path) -> None:
    assert judged(good, Expected(seconds=3, width=320, height=180)) == ("accept", "ok")
    assert judged(good, Expected(seconds=3, width=640, height=360)) == ("review", "wrong_size")
    assert judged(good, Expected(seconds=3, width=180, height=320)) == ("reject", "wrong_size")


def test_sound_counts_only_if_it_was_ordered(tmp_path: Path, good: Path) -> None:
    heard = Expected(seconds=3, sound=True)
    mute = film(tmp_path / "mute.mp4")
    silent = film(tmp_path / "silent.mp4", sound="silence")
    assert judged(good, heard) == ("accept", "ok")
    assert judged(mute, heard) == ("reject", "no_sound")
    assert judged(silent, heard) == ("reject", "silent")
    assert judged(silent) == ("accept", "ok")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><title>Access denied</title>", "web page"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "error message"),
        (b'{"error": "expired"}', "error message"),
        (b"GIF89a" + bytes(100), "GIF"),
        (b"\x1a\x45\xdf\xa3" + bytes(100), "WebM"),
        (b"\xff\xd8\xff\xe0" + bytes(100), "JPEG"),
        (b"ID3\x04" + bytes(100), "MP3"),
        (bytes(5000), "zeros"),
        (os.urandom(3000), ""),
    ],
)
def test_what_is_not_a_video_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    verdict = inspect_file(path, ORDER)
    assert verdict.verdict == "reject"
    assert says in verdict.reason


def halves(data: bytes) -> bytes:
    return data[: len(data) // 2]


def one_byte_less(data: bytes) -> bytes:
    return data[:-1]


def hole(data: bytes) -> bytes:
    at = len(data) * 2 // 3
    return data[:at] + bytes(600) + data[at + 600 :]


def zero_tail(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes(len(data) - len(data) // 2)


def as_text(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def missing_middle(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + data[at + 4096 :]


def twice(data: bytes) -> bytes:
    return data + data


def no_index(data: bytes) -> bytes:
    return data.replace(b"moov", b"free", 1)


def encrypted(data: bytes) -> bytes:
    return data.replace(b"avc1", b"encv")


def unknown_codec(data: bytes) -> bytes:
    return data.replace(b"avc1", b"zzzz")


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (halves, "truncated"),
        (one_byte_less, "truncated"),
        (missing_middle, "truncated"),
        (hole, "damaged"),
        (zero_tail, "damaged"),
        (as_text, None),
        (twice, "two_files"),
        (no_index, "no_index"),
        (encrypted, "encrypted"),
        (unknown_codec, "codec"),
    ],
)
def test_damage_is_refused(
    tmp_path: Path, good: Path, damage: Callable[[bytes], bytes], code: str | None
) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(damage(good.read_bytes()))
    verdict = inspect_file(path, ORDER)
    assert verdict.verdict == "reject"
    assert code in (None, verdict.code)


def test_noise_in_each_tenth_of_the_pictures_is_mostly_found(tmp_path: Path) -> None:
    data = film(tmp_path / "good.mp4", preset="medium").read_bytes()
    start = data.index(b"mdat") + 800  # behind the encoder's note of its settings
    dice = random.Random(1)
    found = 0
    for tenth in range(10):
        at = start + tenth * (len(data) - start - 300) // 10
        path = tmp_path / "a.mp4"
        path.write_bytes(data[:at] + dice.randbytes(200) + data[at + 200 :])
        found += judged(path) != ("accept", "ok")
    assert found >= 8  # damage at the end of a picture's data may decode as well


def test_pictures_that_an_index_hides_are_missed(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", preset="medium")  # with pictures that wait for later ones
    data = path.read_bytes()
    at = data.index(b"ctts") + 12
    for entry in range(4):  # shown far beyond the end, where the edit list cuts them off
        data = data[: at + 8 * entry + 4] + b"\x00\x7f\xff\xff" + data[at + 8 * entry + 8 :]
    path.write_bytes(data)
    assert judged(path)[0] == "reject"


def test_what_packing_can_mend_is_said(tmp_path: Path) -> None:
    slow = inspect_file(film(tmp_path / "a.mp4", mux={}), ORDER)
    assert (slow.verdict, slow.repair) == ("accept", ("fast_start",))
    lying = film(tmp_path / "b.mp4")
    patched(lying, b"mvhd", 16, (3_600_000).to_bytes(4, "big"))
    verdict = inspect_file(lying, ORDER)
    assert (verdict.verdict, verdict.code) == ("reject", "wrong_length")
    assert verdict.repair == ("declared_length",)
    trailing = film(tmp_path / "c.mp4")
    trailing.write_bytes(trailing.read_bytes() + b"<html>gateway timeout</html>")
    verdict = inspect_file(trailing, ORDER)
    assert (verdict.verdict, verdict.repair) == ("review", ("trailing_bytes",))


def test_fragments_are_measured_not_believed(tmp_path: Path) -> None:
    mux = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    path = film(tmp_path / "a.mp4", mux=mux, g="25")
    assert judged(path) == ("review", "fragmented")
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"moof") - 4])  # a valid file with a fragment less
    assert judged(path, Expected(seconds=3, tolerance_seconds=0.5)) == ("reject", "too_short")


def test_an_edit_list_that_starts_late_is_for_a_person(tmp_path: Path) -> None:
    path = joined(tmp_path / "b.mp4", [film(tmp_path / "a.mp4")], late=2 * 12_800)
    assert judged(path) == ("review", "late_start")


def test_a_turned_picture_is_for_a_person(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4")
    quarter = [0, 1 << 16, 0, (1 << 32) - (1 << 16), 0]
    patched(path, b"tkhd", 40, b"".join(value.to_bytes(4, "big") for value in quarter))
    assert judged(path) == ("review", "rotated")


def test_a_size_that_changes_in_the_middle_is_refused(tmp_path: Path) -> None:
    first = film(tmp_path / "one.mp4", seconds=1.6, x264="repeat-headers=1")
    other = film(tmp_path / "two.mp4", seconds=1.6, size=(160, 90), x264="repeat-headers=1")
    path = joined(tmp_path / "a.mp4", [first, other])
    assert judged(path, Expected(seconds=3.2)) == ("reject", "size_changes")


def test_formats_that_do_not_play_everywhere(tmp_path: Path) -> None:
    assert judged(film(tmp_path / "a.mp4", pixels="yuv444p")) == ("reject", "pixel_format")
    assert judged(film(tmp_path / "b.mp4", codec="mpeg4")) == ("reject", "codec")
    assert judged(film(tmp_path / "c.mp4", codec="libx265")) == ("review", "codec")
    assert judged(film(tmp_path / "d.mp4", rate=3)) == ("reject", "stutter")


def test_the_sandbox_says_the_same_as_this_process(tmp_path: Path, good: Path) -> None:
    for path in (good, film(tmp_path / "a.mp4", "still")):
        assert inspect_sandboxed(path, ORDER) == inspect_file(path, ORDER)


def test_a_poster_and_a_strip_are_left(tmp_path: Path, good: Path) -> None:
    verdict = inspect_sandboxed(good, ORDER, thumbnails=tmp_path)
    assert isinstance(verdict, Verdict)
    for name in ("poster.jpg", "strip.jpg"):
        data = (tmp_path / name).read_bytes()
        assert data.startswith(b"\xff\xd8\xff")
        assert data.endswith(b"\xff\xd9")


def test_no_picture_is_left_of_what_is_not_a_video(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"<html>")
    inspect_sandboxed(path, ORDER, thumbnails=tmp_path)
    assert [found.name for found in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.parametrize(
    ("look", "status"), [("moving", 0), ("black", 1), ("half green", 2), (None, 3)]
)
def test_the_command_prints_one_line_and_exits_by_verdict(
    tmp_path: Path, look: str | None, status: int
) -> None:
    path = tmp_path / "a.mp4"
    if look in LOOKS:
        film(path, look or "")
    command = [sys.executable, "-m", "functions.media.inspect", str(path), "--seconds", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status
    (line,) = done.stdout.splitlines()
    assert {"code", "reason"} <= json.loads(line).keys()
    assert done.stderr == ""
