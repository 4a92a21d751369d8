import itertools
from pathlib import Path

import av
import pytest

from functions.media.motion import film, render_motion
from functions.media.motion_plan import ASPECTS, FPS, MOTIONS, plan_move
from functions.media.photo import Photo, read_photo
from tests.media import pictures
from tests.media.dots import dotted, grey_photo, misses


def photo_of(tmp_path: Path, width: int, height: int) -> Photo:
    path = tmp_path / "photo.jpg"
    path.write_bytes(pictures.jpeg(width, height))
    photo = read_photo(path)
    assert isinstance(photo, Photo)
    return photo


def jerk(found: list[tuple[float, float]]) -> float:
    return max(abs(b[i] - a[i]) for a, b in itertools.pairwise(found) for i in (0, 1))


def largest(found: list[tuple[float, float]]) -> float:
    return max(abs(value) for miss in found for value in miss)


@pytest.mark.parametrize(
    ("motion", "seconds", "dot"),
    [
        ("zoom-in", 30, (500.3, 450.8)),
        ("pan-left", 30, (905.2, 640.1)),
        ("drift", 30, (800.7, 600.4)),
        ("zoom-out", 3, (1000.6, 500.9)),
        ("pan-down", 3, (700.0, 600.5)),
    ],
)
def test_a_dot_moves_smoothly_and_where_it_should(
    motion: str, seconds: int, dot: tuple[float, float]
) -> None:
    photo = dotted(1600, 1200, [dot])
    move = plan_move(motion=motion, seconds=seconds, aspect="16:9", width=1600, height=1200)
    # From the soft start, where the steps are far below a pixel.
    found = misses(itertools.islice(film(photo.frame, move), 60), move, dot)
    assert largest(found) < 0.06
    assert jerk(found) < 0.06


def test_the_encoded_clip_is_as_smooth(tmp_path: Path) -> None:
    dot = (700.3, 520.8)
    photo = dotted(1600, 1200, [dot])
    clip = render_motion(photo, tmp_path / "a.mp4", motion="zoom-in", seconds=3, aspect="16:9")
    move = plan_move(motion="zoom-in", seconds=3, aspect="16:9", width=1600, height=1200)
    with av.open(clip.path) as container:
        found = misses(container.decode(video=0), move, dot)
    assert len(found) == 75
    assert largest(found) < 0.3


def boxes(data: bytes) -> list[bytes]:
    place, names = 0, []
    while place < len(data):
        names.append(data[place + 4 : place + 8])
        place += int.from_bytes(data[place : place + 4])
    return names


@pytest.mark.parametrize("motion", MOTIONS)
def test_each_motion_gives_a_complete_clip(tmp_path: Path, motion: str) -> None:
    aspect = sorted(ASPECTS)[MOTIONS.index(motion) % 3]
    photo = photo_of(tmp_path, 320, 240)
    told: list[tuple[int, int]] = []
    clip = render_motion(
        photo,
        tmp_path / "a.mp4",
        motion=motion,
        seconds=1,
        aspect=aspect,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(done, FPS) for done in range(1, FPS + 1)]
    assert clip.facts["frames"] == FPS
    assert boxes(clip.path.read_bytes())[:2] == [b"ftyp", b"moov"]
    with av.open(clip.path) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert stream.average_rate == stream.guessed_rate == FPS
        frames = list(container.decode(stream))
    assert {(frame.width, frame.height) for frame in frames} == {ASPECTS[aspect]}
    assert [round((frame.time or 0) * FPS) for frame in frames] == list(range(FPS))
    tags = {
        (frame.colorspace, frame.color_range, frame.color_primaries, frame.color_trc)
        for frame in frames
    }
    assert tags == {(1, 1, 1, 1)}
    assert sum(frame.key_frame for frame in frames) == 1


def test_the_last_frame_shows_the_whole_photo(tmp_path: Path) -> None:
    photo = photo_of(tmp_path, 640, 360)
    clip = render_motion(photo, tmp_path / "a.mp4", motion="zoom-out", seconds=1, aspect="16:9")
    with av.open(clip.path) as container:
        *_, final = container.decode(video=0)
    assert pictures.near(pictures.colours(final), pictures.QUARTERS, 6)


def test_the_same_order_gives_the_same_bytes(tmp_path: Path) -> None:
    photo = photo_of(tmp_path, 320, 240)
    files = [
        render_motion(photo, tmp_path / name, motion="drift", seconds=1, aspect="1:1").path
        for name in ("a.mp4", "b.mp4")
    ]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("size", [(64, 64), (5000, 80), (80, 5000), (1601, 1201)])
@pytest.mark.parametrize("motion", ["drift", "pan-up", "pan-right"])
def test_photos_of_any_shape_are_filmed(size: tuple[int, int], motion: str) -> None:
    width, height = size
    photo = grey_photo([bytes(x % 200 for x in range(width))] * height)
    for aspect, out in ASPECTS.items():
        move = plan_move(motion=motion, seconds=1, aspect=aspect, width=width, height=height)
        frames = list(itertools.islice(film(photo.frame, move), 2))
        assert [(frame.width, frame.height) for frame in frames] == [out, out]


def test_nothing_is_left_of_work_that_was_stopped(tmp_path: Path) -> None:
    photo, out = photo_of(tmp_path, 320, 240), tmp_path / "a.mp4"

    def stop(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_motion(photo, out, motion="drift", seconds=1, aspect="16:9", on_progress=stop)
    assert not out.exists()
