"""What a replay decides before any browser is started."""

import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.media.capture import Stand
from functions.media.darkroom import Darkroom
from functions.media.film import Developer, Film, join
from functions.media.pointer import Mark, Overlay
from functions.media.pointer_track import Act, PointerTrack, Sample
from functions.media.pointer_view import PointerView
from functions.media.recording import Recording, open_recording
from functions.media.replay_plan import film_size, plan_film, price_credits, time_limit_seconds
from functions.media.segments import Handout, Segment, plan_segments
from functions.media.timeline import Timeline, plan_timeline
from tests.media.sessions import Session, box, simple

STAND = Stand(live=0, scale=1, left=0, top=0, inner_left=0, inner_top=0)


def timeline(
    milliseconds: float, *activity: float, fps: int = 25, speed: float = 1.0,
    skip: float | None = None,
) -> Timeline:  # fmt: skip
    return plan_timeline(milliseconds, activity, fps=fps, speed=speed, skip_inactivity=skip)


def recorded(session: Session, folder: Path) -> Recording:
    found = open_recording(session.write(folder / "recording"), folder)
    assert isinstance(found, Recording)
    return found


# --- time ------------------------------------------------------------------------------------


def test_the_last_frame_shows_the_last_event() -> None:
    laid = timeline(3001)
    assert laid.frames == 77
    assert laid.session_ms(76) == 3001
    assert laid.frame(3001) == 76


def test_nothing_is_shorter_than_a_second() -> None:
    assert timeline(3).frames == 25


def test_an_event_shows_in_the_first_frame_after_it() -> None:
    laid = timeline(10_000)
    assert [laid.frame(at) for at in (0, 0.001, 40, 40.001, 79.9)] == [0, 1, 1, 2, 2]


def test_speed_shortens_and_slows() -> None:
    assert timeline(60_000, speed=4).seconds == pytest.approx(15, abs=0.05)
    assert timeline(10_000, speed=0.5).session_ms(25) == 500


def test_pauses_are_cut_to_what_is_left_of_them() -> None:
    laid = timeline(100_000, 10_000, 90_000, skip=2.0)
    assert laid.seconds == pytest.approx(6, abs=0.05)
    # The pause until 10 s, the one until 90 s, and the rest: each gives its two ends.
    assert [round(laid.session_ms(frame)) for frame in (0, 24, 25, 49, 50)] == [
        0, 960, 9000, 9960, 10_000]  # fmt: skip
    assert laid.frame(50_000) == laid.frame(89_000)


@given(
    moments=st.lists(st.floats(0, 100_000), max_size=20),
    fps=st.integers(1, 60),
    speed=st.floats(0.25, 16),
    skip=st.none() | st.floats(0.1, 20),
)
def test_every_moment_is_shown_in_order(
    moments: list[float], fps: int, speed: float, skip: float | None
) -> None:
    laid = timeline(100_000, *sorted(moments), fps=fps, speed=speed, skip=skip)
    frames = [laid.frame(moment) for moment in sorted(moments)]
    assert frames == sorted(frames)
    assert all(frame < laid.frames for frame in frames)
    shown = [laid.session_ms(frame) for frame in range(0, laid.frames, 7)]
    assert shown == sorted(shown)
    for moment, frame in zip(sorted(moments), frames, strict=True):
        assert laid.session_ms(frame) >= moment - 0.002


# --- segments --------------------------------------------------------------------------------


@given(
    work=st.sets(st.integers(0, 9_999), max_size=300),
    moves=st.sets(st.integers(0, 9_999), max_size=300),
)
def test_segments_cover_the_film_once(work: set[int], moves: set[int]) -> None:
    segments = plan_segments(10_000, work, moves, fps=25)
    assert segments[0].start == 0
    assert segments[-1].end == 10_000
    for before, after in pairwise(segments):
        assert before.end == after.start
    assert all(segment.end - segment.start >= 50 for segment in segments)


@given(count=st.integers(1, 40), workers=st.integers(1, 8), data=st.data())
def test_each_segment_is_handed_out_once(count: int, workers: int, data: st.DataObject) -> None:
    segments = [Segment(number=n, start=n, end=n + 1) for n in range(count)]
    handout = Handout(segments, workers)
    given_out = []
    while True:
        worker = data.draw(st.integers(0, workers - 1))
        segment = handout.next(worker)
        if segment is None:
            break
        given_out.append(segment.number)
    assert sorted(given_out) == list(range(count))


def test_a_worker_goes_on_where_it_stands() -> None:
    segments = [Segment(number=n, start=n, end=n + 1) for n in range(8)]
    handout = Handout(segments, 2)
    firsts = [handout.next(0), handout.next(1), handout.next(0), handout.next(1)]
    assert [segment.number for segment in firsts if segment] == [0, 4, 1, 5]


def test_the_plan_does_not_depend_on_the_machine(tmp_path: Path) -> None:
    found = recorded(simple(), tmp_path)
    assert plan_film(found).segments == plan_film(found).segments


# --- size ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "wanted", "size"),
    [
        ((1280, 720), None, (1280, 720)),
        ((1279, 719), None, (1278, 718)),
        ((12000, 9000), None, (1440, 1080)),
        ((3840, 1080), None, (1920, 540)),
        ((390, 844), None, (390, 844)),
        ((1, 1), None, (64, 64)),
        ((1280, 720), (641, 361), (640, 360)),
    ],
)
def test_the_size_fits_and_is_even(
    window: tuple[int, int], wanted: tuple[int, int] | None, size: tuple[int, int], tmp_path: Path
) -> None:
    found = recorded(Session(box(0, 0, 5, "red"), size=window).end(10), tmp_path)
    assert film_size(found, wanted) == size


def test_begun_minutes_are_priced_and_time_is_allowed() -> None:
    assert [price_credits(seconds) for seconds in (1, 60, 60.1, 3600)] == [5, 5, 10, 300]
    assert time_limit_seconds(60) == 420


def test_planning_needs_no_media_library() -> None:
    code = "import sys; import functions.media.replay_plan; assert 'av' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


# --- pointer ---------------------------------------------------------------------------------


def view(*samples: Sample, trail: bool = False) -> PointerView:
    return PointerView(track=PointerTrack.of(samples), speed=1.0, trail=trail)


def test_the_pointer_is_hidden_until_it_first_moves() -> None:
    seen = view(Sample(100, 5, 5, 1, Act.MOVE))
    assert seen.mark(99, STAND, 0) == Mark()
    assert seen.mark(100, STAND, 0).arrow == (5, 5)


def test_the_pointer_glides_between_near_positions_and_jumps_after_a_pause() -> None:
    seen = view(Sample(0, 0, 0, 1, Act.MOVE), Sample(50, 100, 0, 1, Act.MOVE),
                Sample(1000, 500, 0, 1, Act.MOVE))  # fmt: skip
    arrows = [seen.mark(at, STAND, 0).arrow for at in (0, 25, 50, 999, 1000)]
    assert arrows == [(0, 0), (50, 0), (100, 0), (100, 0), (500, 0)]
    assert seen.next_change(60) == 1000


def test_the_pointer_follows_the_page_into_its_place() -> None:
    stand = Stand(live=0, scale=0.5, left=100, top=20, inner_left=40, inner_top=10)
    assert view(Sample(0, 60, 30, 1, Act.MOVE)).mark(0, stand, 0).arrow == (150, 40)


def test_a_click_spreads_and_ends() -> None:
    seen = view(Sample(0, 9, 9, 1, Act.CLICK))
    assert seen.mark(180, STAND, 0).ripples == ((9, 9, 0.5),)
    assert seen.next_change(180) == 180
    assert seen.mark(400, STAND, 0).ripples == ()
    assert seen.next_change(400) == float("inf")


def test_a_finger_is_seen_while_it_is_down() -> None:
    seen = view(Sample(0, 9, 9, 1, Act.TOUCH), Sample(50, 9, 9, 1, Act.LIFT))
    assert (seen.mark(10, STAND, 0).finger, seen.mark(10, STAND, 0).arrow) == ((9, 9), None)
    assert seen.mark(60, STAND, 0).finger is None


def test_what_is_drawn_is_taken_out_again() -> None:
    frame = av.VideoFrame(128, 96, "yuv420p")
    for index, plane in enumerate(frame.planes):
        plane.update(bytes((at * 7 + index) % 256 for at in range(plane.buffer_size)))
    before = [bytes(plane) for plane in frame.planes]
    overlay = Overlay(frame)
    mark = Mark(arrow=(120, 90), finger=(1, 1), ripples=((64, 48, 0.3),), trail=((0, 0), (127, 95)))
    overlay.draw(mark)
    assert all(bytes(plane) != was for plane, was in zip(frame.planes, before, strict=True))
    overlay.clear()
    assert [bytes(plane) for plane in frame.planes] == before


# --- film ------------------------------------------------------------------------------------


def test_pictures_are_held_until_the_next_one(tmp_path: Path) -> None:
    frame = av.VideoFrame(64, 64, "yuv420p")
    for plane in frame.planes:
        plane.update(bytes([90]) * plane.buffer_size)
    for number in range(2):
        with Film(tmp_path / f"{number}.mp4", size=(64, 64), fps=25) as film:
            for at in (0, 7, 30):
                film.show(frame, at)
    out = tmp_path / "out.mp4"
    join([(0, tmp_path / "0.mp4"), (50, tmp_path / "1.mp4")], out, frames=100, fps=25)
    with av.open(str(out)) as box_:
        times = [packet.pts for packet in box_.demux(video=0) if packet.size]
        stream = box_.streams.video[0]
        assert stream.time_base is not None
        ticks = [round(time * stream.time_base * 25) for time in times if time is not None]
        assert stream.duration is not None
        assert round(stream.duration * stream.time_base * 25) == 100
    assert ticks == [0, 7, 30, 50, 57, 80]
    data = out.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_full_disk_is_told_to_the_camera() -> None:
    with pytest.raises(OSError, match="No space left"):
        filmed(picture(), Path("/dev/full"))


def test_a_broken_picture_is_told_to_the_camera() -> None:
    with pytest.raises(av.FFmpegError):
        filmed(b"no picture", Path("/dev/null"))


def filmed(jpeg: bytes, path: Path) -> None:
    with Darkroom(path, size=(64, 64), fps=25) as darkroom:
        for frame in range(20):
            darkroom.show(jpeg, Mark(), frame, changed=True)


def picture() -> bytes:
    frame = av.VideoFrame(64, 64, "yuvj420p")
    encoder = av.CodecContext.create("mjpeg", "w")
    assert isinstance(encoder, av.VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = 64, 64, "yuvj420p"
    encoder.time_base = Fraction(1, 25)
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def test_a_picture_that_is_none_is_not_developed() -> None:
    with pytest.raises(av.FFmpegError):
        Developer().develop(b"\xff\xd8nothing")
