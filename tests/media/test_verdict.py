"""The rules, on numbers alone."""

from dataclasses import fields, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.media.boxes import Listed
from functions.media.glance import GlanceLog
from functions.media.lanes import Grid, Sum, add, differing, load, masks, often
from functions.media.loops import loop_length
from functions.media.measured import Measured
from functions.media.picture_rules import judge_measured
from functions.media.reasons import REASONS
from functions.media.stillness import Stillness
from functions.media.verdict import (
    Expected,
    Facts,
    Verdict,
    conclude,
    fault,
    hopeless,
    info,
    ok,
)
from functions.media.verify import fetch_checks
from functions.media.wire import Garbled, decode_measured, decode_order, encode_measured
from functions.media.wire import encode_order as encode

ORDER = Expected(seconds=10)
GOOD = Measured(
    codec="h264",
    pixel_format="yuv420p",
    width=640,
    height=360,
    packets=250,
    frames=250,
    shapes=1,
    seconds=10.0,
    hold_longest_seconds=0.04,
    pictures_per_second=8.0,
)

measured = st.builds(
    Measured,
    **{
        field.name: {
            "int": st.integers(0, 10**6),
            "float": st.floats(0, 10**5),
            "str": st.sampled_from(["", "h264", "yuv420p", "errors"]),
        }[type(field.default).__name__]
        for field in fields(Measured)
    },
)
orders = st.builds(
    Expected,
    seconds=st.floats(0.1, 3600),
    kind=st.sampled_from(["video", "image_to_video", "session_to_video"]),
    sound=st.booleans(),
    width=st.none() | st.integers(1, 4000),
    height=st.none() | st.integers(1, 4000),
)


def judged(m: Measured, order: Expected = ORDER) -> Verdict:
    return conclude(judge_measured(m, order), Facts())


@given(measured, orders)
def test_every_measurement_gets_a_verdict_with_a_reason(m: Measured, order: Expected) -> None:
    verdict = judged(m, order)
    assert verdict.verdict in ("accept", "reject", "review")
    assert verdict.reason
    assert (verdict.code == "ok") == (verdict.verdict == "accept")


@given(measured, orders)
def test_damage_is_never_accepted(m: Measured, order: Expected) -> None:
    for name in ("errors", "corrupt_frames", "corrupt_packets", "impossible_packets"):
        damaged = replace(m, **{name: 1})  # type: ignore[arg-type]  # all four are numbers
        assert judged(damaged, order).verdict == "reject"


@given(measured, orders, st.floats(0, 0.9))
def test_too_short_is_never_accepted(m: Measured, order: Expected, share: float) -> None:
    short = replace(m, seconds=(order.seconds - order.tolerance) * share, stopped="")
    if short.seconds > 0:
        assert judged(short, order).verdict == "reject"


@given(st.floats(0, 10), st.floats(0, 10))
def test_more_black_is_never_better(a: float, b: float) -> None:
    rank = {"accept": 0, "review": 1, "reject": 2}
    low, high = sorted((a, b))
    before, after = (judged(replace(GOOD, black_seconds=x)).verdict for x in (low, high))
    assert rank[before] <= rank[after]


def test_what_the_index_promises_must_be_shown() -> None:
    def against(frames: int, width: int) -> str:
        listed = Listed(frames=frames, width=width, height=360)
        return conclude(judge_measured(GOOD, ORDER, listed), Facts()).verdict

    assert against(250, 640) == "accept"
    assert against(251, 640) == "accept"
    assert against(252, 640) == "reject"
    assert against(0, 640) == "accept"
    assert against(250, 624) == "review"


def test_the_good_one_is_accepted() -> None:
    assert judged(GOOD).verdict == "accept"


@pytest.mark.parametrize(
    ("change", "verdict", "code"),
    [
        ({"opened": "InvalidDataError"}, "reject", "unreadable"),
        ({"frames": 0}, "reject", "no_pictures"),
        ({"frames": 200}, "reject", "damaged"),
        ({"frames": 249}, "accept", "ok"),
        ({"backward": 1}, "reject", "bad_times"),
        ({"shapes": 2}, "reject", "size_changes"),
        ({"pixel_format": "yuv420p10le"}, "reject", "pixel_format"),
        ({"pixel_aspect": 2.0, "coded_aspect": 2.0}, "review", "pixel_aspect"),
        ({"pixel_aspect": 4 / 3, "coded_aspect": 4 / 3}, "accept", "ok"),
        ({"coded_aspect": 0.42}, "review", "pixel_aspect"),
        ({"rotation": 90}, "review", "rotated"),
        ({"seconds": 9.6}, "accept", "ok"),
        ({"seconds": 9.4}, "reject", "too_short"),
        ({"seconds": 20.0, "frames": 500, "packets": 500}, "review", "too_long"),
        ({"start_seconds": 5.0}, "review", "late_start"),
        ({"frames": 1, "packets": 1}, "reject", "frozen"),
        ({"frames": 10, "packets": 10}, "reject", "stutter"),
        ({"frames": 70, "packets": 70}, "review", "stutter"),
        ({"hold_longest_seconds": 1.6}, "review", "stutter"),
        ({"pictures_per_second": 1.0}, "review", "stutter"),
        ({"flashes": 100}, "reject", "flicker"),
        ({"strobes": 100}, "review", "flicker"),
        ({"black_seconds": 0.6}, "accept", "ok"),
        ({"black_seconds": 3.0}, "review", "black"),
        ({"black_seconds": 6.0}, "reject", "black"),
        ({"dim_seconds": 9.0}, "review", "dim"),
        ({"plain_seconds": 10.0}, "reject", "no_picture"),
        ({"plain_seconds": 10.0, "plain_range": 90.0}, "review", "no_picture"),
        ({"noise_share": 0.95}, "review", "noise"),
        ({"loop_seconds": 2.0}, "review", "loop"),
        ({"empty_rows_share": 0.5}, "review", "half_picture"),
        ({"still_seconds": 8.0, "pictures_per_second": 1.6}, "reject", "frozen"),
        ({"still_seconds": 10.0, "card_share": 0.95}, "review", "frozen"),
        ({"still_seconds": 2.0, "edge_seconds": 2.0}, "review", "frozen"),
        ({"still_seconds": 2.0}, "accept", "ok"),
        ({"grain_seconds": 10.0}, "review", "grain"),
    ],
)
def test_each_rule(change: dict[str, float | str], verdict: str, code: str) -> None:
    found = judged(replace(GOOD, **change))  # type: ignore[arg-type]  # one field at a time
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(
    "change",
    [
        {"still_seconds": 10.0, "pictures_per_second": 0.0},
        {"frames": 12, "packets": 12, "hold_longest_seconds": 5.0},
        {"empty_rows_share": 0.3},
        {"dim_seconds": 10.0},
        {"loop_seconds": 1.0},
    ],
)
def test_a_recorded_page_may_be_idle_dark_and_flat(change: dict[str, float]) -> None:
    session = Expected(seconds=10, kind="session_to_video")
    m = replace(GOOD, **change)  # type: ignore[arg-type]  # one field at a time
    assert judged(m, session).verdict == "accept"
    assert judged(m).verdict != "accept"


def test_the_worst_finding_decides_and_the_first_of_its_kind_explains() -> None:
    findings = [
        ok("a", 1),
        fault("review", "b", 1, "0", "rotated"),
        fault("fail", "c", 1, "0", "wrong_length", repair="declared_length"),
        fault("fail", "d", 1, "0", "truncated"),
        fault("fail", "e", 1, "0", "damaged"),
    ]
    verdict = conclude(findings, Facts())
    assert (verdict.verdict, verdict.code) == ("reject", "truncated")
    assert verdict.repair == ()  # nothing mends the end that is missing
    assert hopeless(findings)
    mendable = conclude(findings[:3], Facts())
    assert (mendable.verdict, mendable.code) == ("reject", "wrong_length")
    assert mendable.repair == ("declared_length",)
    assert not hopeless(findings[:3])
    assert conclude([info("a", 1)], Facts()).verdict == "accept"


def test_the_strictest_defaults_are_those_of_an_unknown_kind() -> None:
    assert not Expected.for_kind("nonsense", seconds=3).still_allowed
    assert Expected.for_kind("image_to_video", seconds=3).still_allowed
    assert Expected.for_kind("session_to_video", seconds=3).may_hold
    assert Expected(seconds=3, kind="session_to_video").may_hold
    assert not Expected(seconds=3).may_hold


def test_sentences_are_sentences() -> None:
    for code, reason in REASONS.items():
        assert reason.endswith("."), code
        assert reason[0].isupper() or reason[0] == "{", code


@given(measured)
def test_measurements_cross_the_border_unchanged(m: Measured) -> None:
    assert decode_measured(encode_measured(m).encode()) == m


@given(orders)
def test_orders_cross_the_border_unchanged(order: Expected) -> None:
    assert decode_order(encode(order)) == order


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"verdict": "accept"}',
        b"[" * 10_000,
        b"\xff\xfe",
        encode_measured(GOOD).encode()[:-1],
        encode_measured(GOOD).encode() * 2,
        encode_measured(GOOD).encode() + b" " * 20_000,
        encode_measured(GOOD).replace('"frames": 250', '"frames": "250"').encode(),
        encode_measured(GOOD).replace('"frames": 250', '"frames": -1').encode(),
        encode_measured(GOOD).replace('"frames": 250', '"frames": true').encode(),
        encode_measured(GOOD).replace('"frames": 250', '"frames": 2.5').encode(),
        encode_measured(GOOD).replace('"frames": 250', '"frames": 1e999').encode(),
        encode_measured(GOOD).replace('"seconds": 10.0', '"seconds": NaN').encode(),
        encode_measured(GOOD).replace('"h264"', '"' + "x" * 40 + '"').encode(),
        encode_measured(GOOD).replace('"h264"', '"\\u001b[31m"').encode(),
        encode_measured(GOOD).replace('"frames"', '"framez"').encode(),
    ],
)
def test_nothing_else_crosses_it(answer: bytes) -> None:
    with pytest.raises(Garbled):
        decode_measured(answer)


def test_a_transfer_is_judged_by_length_and_checksum() -> None:
    def codes(**changes: object) -> list[str]:
        given_: dict[str, object] = {
            "status": 200,
            "declared_bytes": 100,
            "received_bytes": 100,
            "bytes_max": 1000,
            "sha256_expected": "AB",
            "sha256": "ab",
        }
        findings = fetch_checks(**(given_ | changes))  # type: ignore[arg-type]
        return [f.code for f in findings if f.check.verdict == "fail"]

    assert codes() == []
    assert codes(declared_bytes=None) == []
    assert codes(received_bytes=99) == ["cut_transfer"]
    assert codes(status=206) == ["not_delivered"]
    assert codes(declared_bytes=2000, received_bytes=2000) == ["too_many_bytes"]
    assert codes(sha256="ac") == ["changed_bytes"]


GRID = Grid(width=6, height=4, pitch=8)
planes = st.binary(min_size=32, max_size=32)


def cells(plane: bytes) -> list[int]:
    rows = [plane[y * 8 : y * 8 + 6] for y in range(4)] + [bytes(6)]
    pairs = [[row[x] + row[x + 1] for x in range(0, 6, 2)] for row in rows]
    return [a + b for upper, lower in pairwise(pairs) for a, b in zip(upper, lower, strict=True)]


@given(planes, planes, planes, st.sampled_from([0.0, 1.0, 1.5, 4.0]))
def test_lanes_do_what_loops_over_pixels_would(a: bytes, b: bytes, c: bytes, levels: float) -> None:
    two = add(load(a, GRID), load(b, GRID))
    limit = int(levels * 4 * 2)
    expected = sum(
        abs(x + y - 2 * z) > limit for x, y, z in zip(cells(a), cells(b), cells(c), strict=True)
    )
    assert differing(two, load(c, GRID), GRID, levels).bit_count() == expected


@given(st.lists(planes, min_size=1, max_size=9), st.integers(1, 9))
def test_marks_add_up_per_cell(seen: list[bytes], least: int) -> None:
    nothing = Sum(lanes=0, depth=1)
    total = sum(differing(load(p, GRID), nothing, GRID, 100.0) for p in seen)
    by_hand = [sum(cell > 400 for cell in each) for each in zip(*map(cells, seen), strict=True)]
    assert often(total, GRID, least) == sum(count >= least for count in by_hand)
    assert masks(GRID).ones.bit_count() == GRID.cells


def test_a_hold_is_found_where_it_is() -> None:
    grid = Grid(width=64, height=36, pitch=64)
    still = Stillness(grid, 8.0)
    for look in range(80):
        moving = look < 40
        plane = bytes((x * 3 + y * 5 + (look * 9 if moving else 360)) % 251
                      for y in range(36) for x in range(64))  # fmt: skip
        still.take(load(plane, grid), look / 8)
    (hold,) = still.finish(10.0)
    assert hold.start == pytest.approx(5.0, abs=0.5)
    assert hold.end == pytest.approx(10.0)
    assert not hold.grain


def test_a_loop_is_found_with_its_period_and_a_film_has_none() -> None:
    times = [index / 25 for index in range(250)]
    looped = [[float((index % 50) * 7 % 90)] * 1 for index in range(250)]
    column = [value for (value,) in looped]
    assert loop_length(times, [column, column, column]) == pytest.approx(2.0)
    rising = [index * 0.9 for index in range(250)]
    assert loop_length(times, [rising, rising, rising]) == 0.0
    constant = [50.0] * 250
    assert loop_length(times, [constant, constant, constant]) == 0.0


def test_flashes_and_strobes_are_counted_frame_by_frame() -> None:
    log = GlanceLog()
    for index in range(50):
        level = 16 if index % 2 else 120
        plane = memoryview(bytes([level]) * (32 * 16))
        log.take(index / 25, plane, 32, 32, 16)
    assert log.flashes(2.0) == 25
    assert log.strobes() == 48
