import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.media.motion_grid import MARGIN, fit_span, plan_canvases, plan_shot
from functions.media.motion_plan import (
    ASPECTS,
    FPS,
    MOTIONS,
    SECONDS_MAX,
    SECONDS_MIN,
    Move,
    Window,
    ease,
    plan_move,
)

moves = st.builds(
    plan_move,
    motion=st.sampled_from(MOTIONS),
    seconds=st.integers(SECONDS_MIN, SECONDS_MAX),
    aspect=st.sampled_from(sorted(ASPECTS)),
    width=st.integers(64, 16384),
    height=st.integers(64, 16384),
)


def move(motion: str, *, width: int = 1600, height: int = 1200, seconds: int = 4) -> Move:
    return plan_move(motion=motion, seconds=seconds, aspect="16:9", width=width, height=height)


@settings(deadline=None)
@given(
    st.sampled_from(MOTIONS),
    st.integers(SECONDS_MIN, SECONDS_MAX),
    st.sampled_from(sorted(ASPECTS)),
    st.integers(64, 16384),
    st.integers(64, 16384),
)
def test_every_window_lies_in_the_photo_and_has_the_aspect(
    motion: str, seconds: int, aspect: str, width: int, height: int
) -> None:
    planned = plan_move(motion=motion, seconds=seconds, aspect=aspect, width=width, height=height)
    assert planned.frames == seconds * FPS
    assert (planned.width, planned.height) == ASPECTS[aspect]
    for frame in range(0, planned.frames, max(1, planned.frames // 20)):
        window = planned.at(frame)
        assert window.x >= -1e-9
        assert window.y >= -1e-9
        assert window.right <= width + 1e-6
        assert window.bottom <= height + 1e-6
        assert math.isclose(window.w * planned.height, window.h * planned.width, rel_tol=1e-9)


@settings(deadline=None)
@given(moves)
def test_the_ends_are_exact_and_the_way_never_turns(planned: Move) -> None:
    windows = [planned.at(frame) for frame in range(planned.frames)]
    assert windows[0] == planned.start
    assert windows[-1] == planned.end
    assert planned.start != planned.end
    for side in ("x", "y", "w", "h"):
        values = [getattr(window, side) for window in windows]
        sign = 1 if values[-1] >= values[0] else -1
        assert all((b - a) * sign >= -1e-7 for a, b in itertools.pairwise(values))


@settings(deadline=None)
@given(moves)
def test_the_speed_changes_gently(planned: Move) -> None:
    scale = planned.width / planned.start.w
    steps = [
        math.hypot(b.x - a.x, b.y - a.y) * scale
        for a, b in itertools.pairwise(planned.at(frame) for frame in range(planned.frames))
    ]
    peak = max(steps)
    assert all(abs(a - b) <= peak * 0.3 for a, b in itertools.pairwise(steps))


@pytest.mark.parametrize("ramp", [0.05, 0.25, 0.5])
def test_easing_goes_all_the_way_and_is_symmetric(ramp: float) -> None:
    assert ease(0, ramp) == pytest.approx(0)
    assert ease(1, ramp) == pytest.approx(1)
    assert ease(0.5, ramp) == pytest.approx(0.5)
    for i in range(101):
        assert ease(i / 100, ramp) + ease(1 - i / 100, ramp) == pytest.approx(1)


def test_each_motion_moves_the_way_it_is_called() -> None:
    zoom_in, zoom_out = move("zoom-in"), move("zoom-out")
    assert zoom_in.end.w < zoom_in.start.w == 1600
    assert (zoom_out.start, zoom_out.end) == (zoom_in.end, zoom_in.start)
    assert move("pan-right").end.x > move("pan-right").start.x
    assert move("pan-left").end.x < move("pan-left").start.x
    assert move("pan-down").end.y > move("pan-down").start.y
    assert move("pan-up").end.y < move("pan-up").start.y
    drift = move("drift")
    assert drift.end.x > drift.start.x
    assert drift.end.w < drift.start.w


def test_a_pan_uses_the_room_of_a_panorama_at_a_walking_pace() -> None:
    pan = move("pan-right", width=9000, height=900, seconds=10)
    assert pan.start.h == 900
    assert pan.end.x - pan.start.x == pytest.approx(0.8 * pan.start.w)
    assert move("pan-up", width=9000, height=900).start.h < 900


@pytest.mark.parametrize(
    ("motion", "seconds", "aspect"),
    [("spin", 4, "16:9"), ("drift", 0, "16:9"), ("drift", 31, "16:9"), ("drift", 4, "4:3")],
)
def test_an_order_that_nobody_can_make_is_a_bug(motion: str, seconds: int, aspect: str) -> None:
    with pytest.raises(ValueError, match="no such"):
        plan_move(motion=motion, seconds=seconds, aspect=aspect, width=640, height=480)


@settings(deadline=None)
@given(moves)
def test_every_shot_is_within_a_fraction_of_a_pixel(planned: Move) -> None:
    canvases = plan_canvases(planned)
    for frame in range(0, planned.frames, max(1, planned.frames // 15)):
        shot = plan_shot(planned, canvases, frame)
        assert shot.error < 0.08
        canvas = canvases[shot.canvas]
        for span, length in ((shot.across, canvas.width), (shot.down, canvas.height)):
            assert span.start >= -MARGIN
            assert span.start + span.size <= length + MARGIN
            assert span.cut % 2 == 0
            assert span.scaled % 2 == 0


@settings(deadline=None)
@given(st.floats(0, 500), st.floats(1.64, 2.5), st.sampled_from([720, 960, 1280]))
def test_a_span_puts_the_window_where_it_says(start: float, step: float, out: int) -> None:
    span = fit_span(start, start + out * step, out)
    scale = span.size / span.scaled
    left = span.start + span.cut * scale
    right = span.start + (span.cut + out) * scale
    assert abs(left - start) / step <= span.error * 1.1 + 1e-6
    assert abs(right - start - out * step) / step <= span.error * 1.1 + 1e-6


def test_canvases_hold_whole_pixels_of_the_photo() -> None:
    for canvas in plan_canvases(move("drift", width=1601, height=1203)):
        part = canvas.part
        assert part == Window(x=int(part.x), y=int(part.y), w=int(part.w), h=int(part.h))
        assert part.right <= 1601
        assert part.bottom <= 1203
