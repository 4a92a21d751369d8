"""Cuts are found to the frame, and nothing else is taken for one."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from av.video.frame import VideoFrame

from functions.media import miniatures, shots
from functions.media.miniatures import Miniaturist, difference, unexplained
from functions.media.shots import ShotFinder, Span
from tests.media.scenes import RATE, SCENES, Step, pictures

OUT: Step = ("fade", "out:25:15")
IN: Step = ("fade", "in:0:15")


def found(
    *looks: tuple[str, int], fades: Mapping[int, Sequence[Step]] | None = None
) -> list[float]:
    """Numbers of the frames at which shots begin, besides the first."""
    artist, finder, count = Miniaturist(), ShotFinder(), 0
    for frame in pictures(*looks, fades=fades):
        finder.take(artist.draw(frame), count / RATE)
        count += 1
    spans = finder.finish(count / RATE)
    whole(spans, count / RATE)
    return [round(span.start * RATE, 2) for span in spans[1:]]


def whole(spans: Sequence[Span], end: float) -> None:
    assert (spans[0].start, spans[-1].end) == (0.0, end)
    assert all(one.end == two.start for one, two in pairwise(spans))


@pytest.mark.parametrize("look", sorted(SCENES))
def test_within_a_scene_nothing_is_cut(look: str) -> None:
    assert found((look, 70)) == []


def test_cuts_are_found_to_the_frame() -> None:
    looks = (("fractal", 40), ("test", 30), ("bars", 20), ("gradient", 30), ("squares", 25))
    assert found(*looks) == [40, 70, 90, 120]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fast pan", "other pan"),
        ("fast pan", "corner"),
        ("corner", "fast pan"),
        ("noise", "corner"),
        ("zoom", "gradient"),
        ("flash", "test"),
        ("red", "blue"),
    ],
)
def test_a_cut_stands_out_from_movement_and_noise(before: str, after: str) -> None:
    assert found((before, 40), (after, 40)) == [40]


@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_fade_through_one_colour_is_one_boundary_in_its_middle(colour: str) -> None:
    out, back = ((name, f"{step}:color={colour}") for name, step in (OUT, IN))
    (at,) = found(("fractal", 40), ("test", 40), fades={0: [out], 1: [back]})
    assert at == pytest.approx(40, abs=2)
    (at,) = found(("fractal", 40), (colour, 10), ("test", 40), fades={0: [out], 2: [back]})
    assert at == pytest.approx(45, abs=2)


def test_a_short_black_is_a_gap_and_a_long_one_a_shot() -> None:
    assert found(("fractal", 40), ("black", 10), ("test", 40)) == [45]
    assert found(("fractal", 40), ("black", 40), ("test", 40)) == [40, 80]
    assert found(("black", 10), ("test", 40)) == []
    assert found(("black", 40), ("test", 40)) == [40]
    assert found(("test", 40), ("black", 10)) == []
    assert found(("test", 40), ("black", 40)) == [40]


def test_shots_are_not_too_short() -> None:
    assert found(("fractal", 40), ("test", 5), ("bars", 40)) == [45]  # the stronger one
    assert found(("fractal", 5), ("test", 40)) == []
    assert found(("fractal", 40), ("test", 5)) == []


def drawn(*looks: tuple[str, int]) -> list[miniatures.Miniature]:
    artist = Miniaturist()
    return [artist.draw(frame) for frame in pictures(*looks)]


def test_slides_with_one_frame_each_are_shots() -> None:
    slides = drawn(("fractal", 1), ("test", 1), ("bars", 1), ("bars", 1), ("corner", 1))
    finder = ShotFinder()
    for second, slide in enumerate(slides):
        finder.take(slide, float(second))
    assert [span.start for span in finder.finish(5.0)] == [0, 1, 2, 4]


def test_only_the_strongest_cuts_are_kept_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shots, "SHOTS_MAX", 20)
    one, two, three = drawn(("fractal", 1), ("test", 1), ("bars", 1))
    finder, number_of_shots = ShotFinder(), 60
    for number in range(number_of_shots):
        # Every tenth cut is stronger than the others.
        picture = three if number % 10 == 0 else (one, two)[number % 2]
        finder.take(picture, number * 0.5)
        finder.take(picture, number * 0.5 + 0.25)
    spans = finder.finish(number_of_shots * 0.5)
    whole(spans, number_of_shots * 0.5)
    assert len(spans) == 20
    assert {5.0, 10.0, 15.0, 20.0, 25.0} <= {span.start for span in spans}


def test_frames_that_come_too_fast_are_looked_at_as_often_as_needed() -> None:
    one, two = drawn(("fractal", 1), ("test", 1))
    finder = ShotFinder()
    for number in range(4000):
        finder.take(one if number < 2000 else two, number / 2000)
    assert len(finder._recent) < 50  # noqa: SLF001 - what bounds its memory
    (_, second) = finder.finish(2.0)
    assert second.start == pytest.approx(1.0, abs=0.02)


def test_without_pictures_there_is_one_shot() -> None:
    assert ShotFinder().finish(3.0) == [Span(0.0, 3.0)]


def cells(picture: miniatures.Miniature) -> list[list[int]]:
    data = memoryview(picture.luma.to_bytes(2 * miniatures.CELLS, "little")).cast("H").tolist()
    return [data[at : at + miniatures.ACROSS] for at in range(0, len(data), miniatures.ACROSS)]


def test_lanes_calculate_what_samples_do() -> None:
    one, two = drawn(("fractal", 1), ("test", 1))
    left, right = cells(one), cells(two)
    for across, down in ((0, 0), (5, -2), (-12, 6)):
        apart = [
            abs(left[y - down][x - across] - right[y][x])
            for y in range(miniatures.DOWN)
            for x in range(miniatures.ACROSS)
            if 0 <= x - across < miniatures.ACROSS and 0 <= y - down < miniatures.DOWN
        ]
        mean = sum(apart) / len(apart) / miniatures.SAMPLES
        calculated = miniatures.shifted_difference(one, two, (across, down))
        assert calculated == pytest.approx(mean)
    assert difference(one, one) == 0
    assert unexplained(one, one) == 1


def test_movement_explains_a_difference() -> None:
    *_, before, after = drawn(("fast pan", 50))
    assert difference(before, after) > 10
    assert unexplained(before, after) < 0.4
    assert unexplained(*drawn(("fractal", 1), ("test", 1))) > 0.6


def test_odd_shapes_and_depths_are_drawn() -> None:
    (frame,) = pictures(("fractal", 1))
    like = Miniaturist().draw(frame)
    for size, pixels in (((35, 67), "yuv444p"), ((321, 181), "yuv420p10le"), ((2, 2), "rgb24")):
        other = frame.reformat(*size, pixels)
        assert isinstance(other, VideoFrame)
        assert difference(like, Miniaturist().draw(other)) < 60
