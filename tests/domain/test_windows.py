from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.deadlines import Limits
from functions.domain.states import TaskState
from functions.domain.tasks import Step, Task
from functions.domain.windows import (
    ACCURACY,
    HALF_LIFE,
    SAMPLES_MIN,
    SECONDS,
    Sample,
    Sketch,
    added,
    sample_of,
    window,
)
from tests.doubles.world import START
from tests.factories import task

LIMITS = Limits(window_seconds=900, window_seconds_min=60, window_seconds_max=3600)
DAY = timedelta(days=1)


def sketched(*seconds: float, at: datetime = START) -> Sketch:
    return added(Sketch(since=at), [Sample(seconds=each, at=at) for each in seconds])


def nth(seconds: list[float], share: float) -> float:
    return sorted(seconds)[max(ceil(share * len(seconds)), 1) - 1]


@given(
    st.lists(st.floats(*SECONDS), min_size=1, max_size=300),
    st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]),
)
def test_a_quantile_is_off_by_its_accuracy_at_most(seconds: list[float], share: float) -> None:
    found = sketched(*seconds).quantile(share)

    exact = nth(seconds, share)
    assert found is not None
    assert abs(found - exact) <= exact * (ACCURACY + 1e-9)


@given(st.lists(st.floats(*SECONDS), max_size=40), st.lists(st.floats(*SECONDS), max_size=40))
def test_the_order_and_grouping_of_samples_do_not_matter(
    first: list[float], second: list[float]
) -> None:
    rest = [Sample(seconds=each, at=START) for each in reversed(second)]

    assert added(sketched(*first), rest).weights == sketched(*second, *first).weights


def test_nothing_measured_says_nothing() -> None:
    assert Sketch(since=START).quantile(0.99) is None
    assert Sketch(since=START).samples(START) == 0


def test_what_no_render_takes_is_counted_at_the_ends() -> None:
    assert sketched(0.0, -3.0).quantile(1) == pytest.approx(SECONDS[0], rel=ACCURACY)
    assert sketched(1e9).quantile(0) == pytest.approx(SECONDS[1], rel=ACCURACY)


def test_the_default_holds_until_enough_was_measured() -> None:
    few = sketched(*[100.0] * (SAMPLES_MIN - 1))

    assert window(None, START, LIMITS) == LIMITS.window_seconds
    assert window(few, START, LIMITS) == LIMITS.window_seconds
    enough = added(few, [Sample(seconds=100, at=START)])
    assert window(enough, START, LIMITS) == pytest.approx(150, rel=ACCURACY)


def test_a_window_stays_between_its_floor_and_its_ceiling() -> None:
    assert window(sketched(*[2.0] * 200), START, LIMITS) == LIMITS.window_seconds_min
    assert window(sketched(*[50_000.0] * 200), START, LIMITS) == LIMITS.window_seconds_max


def test_one_slow_job_in_a_hundred_does_not_set_the_window_and_three_do() -> None:
    usual = [100.0] * 297

    assert window(sketched(*usual, 2000), START, LIMITS) == pytest.approx(150, rel=ACCURACY)
    assert window(sketched(*usual, *[2000] * 4), START, LIMITS) == pytest.approx(3000, rel=ACCURACY)


def test_samples_fade_until_the_default_holds_again() -> None:
    full = sketched(*[100.0] * 2 * SAMPLES_MIN)

    assert full.samples(START + HALF_LIFE) == pytest.approx(SAMPLES_MIN)
    later = START + HALF_LIFE + timedelta(hours=1)
    assert window(full, later, LIMITS) == LIMITS.window_seconds


def daily(sketch: Sketch, days: range, seconds: float) -> Sketch:
    for day in days:
        at = START + day * DAY
        sketch = added(sketch, [Sample(seconds=seconds, at=at) for _ in range(100)])
    return sketch


def test_last_month_does_not_rule_this_week() -> None:
    slow = daily(Sketch(since=START), range(30), 1000)
    fast = daily(slow, range(30, 52), 50)

    assert window(slow, START + 29 * DAY, LIMITS) == pytest.approx(1500, rel=ACCURACY)
    assert window(fast, START + 51 * DAY, LIMITS) == pytest.approx(75, rel=0.05)


def test_a_provider_that_became_slow_is_given_time_at_once() -> None:
    fast = daily(Sketch(since=START), range(30), 50)
    slower = daily(fast, range(30, 31), 400)

    assert window(slower, START + 30 * DAY, LIMITS) == pytest.approx(600, rel=ACCURACY)


def test_what_came_late_still_counts_with_the_weight_of_its_time() -> None:
    sketch = sketched(*[100.0] * 100, at=START + HALF_LIFE)

    late = added(sketch, [Sample(seconds=100, at=START)] * 100)

    assert late.samples(START + HALF_LIFE) == pytest.approx(150)


def test_a_long_silence_leaves_nothing() -> None:
    old = sketched(*[100.0] * 1000)
    again = added(old, [Sample(seconds=20, at=START + timedelta(days=700))])

    assert again.quantile(0.01) == pytest.approx(20, rel=ACCURACY)
    assert again.samples(START + timedelta(days=700)) == pytest.approx(1, rel=0.01)
    assert len(again.weights) == 1


def test_buckets_that_faded_are_dropped() -> None:
    many = sketched(*[float(each) for each in range(1, 1000)])
    later = added(many, [Sample(seconds=60, at=START + timedelta(days=40))])

    assert len(many.weights) > 80
    assert len(later.weights) == 1


def test_adding_keeps_the_version_that_it_was_made_from() -> None:
    old = replace(sketched(1.0), version=7)

    assert added(old, [Sample(seconds=5, at=START + timedelta(days=400))]).version == 7
    assert added(old, [Sample(seconds=5, at=START + timedelta(days=4))]).version == 7
    assert added(old, []) == old


def history(*steps: str) -> Task:
    """A task with steps such as "rendering 1 10": state, attempt, seconds since the start."""
    return replace(
        task(),
        history=tuple(
            Step(
                state=TaskState(state),
                attempt=int(attempt),
                at=START + timedelta(seconds=float(seconds)),
                reason="",
            )
            for state, attempt, seconds in (step.split() for step in steps)
        ),
    )


def test_a_duration_runs_from_the_claim_to_the_output() -> None:
    found = sample_of(history("queued 1 0", "rendering 1 10", "verifying 1 52.5", "delivered 1 60"))

    assert found == Sample(seconds=42.5, at=START + timedelta(seconds=52.5))


def test_only_the_attempt_that_was_delivered_counts() -> None:
    found = sample_of(
        history(
            "queued 1 0",
            "rendering 1 10",
            "verifying 1 50",
            "queued 2 55",
            "rendering 2 60",
            "verifying 2 90",
            "delivered 2 95",
        )
    )

    assert found is not None
    assert found.seconds == 30


def test_time_in_the_queue_after_a_graceful_stop_does_not_count() -> None:
    found = sample_of(
        history("queued 1 0", "rendering 1 1", "queued 1 9", "rendering 1 500", "verifying 1 520")
    )

    assert found is not None
    assert found.seconds == 20


def test_a_redriven_task_is_not_measured_from_its_first_life() -> None:
    found = sample_of(
        history(
            "queued 1 0",
            "rendering 1 1",
            "checking 1 90",
            "dead 1 100",
            "queued 1 9000",
            "rendering 1 9010",
            "verifying 1 9050",
        )
    )

    assert found is not None
    assert found.seconds == 40


def test_a_job_that_was_asked_about_and_went_on_is_measured_as_a_whole() -> None:
    found = sample_of(
        history("rendering 1 0", "checking 1 60", "rendering 1 75", "verifying 1 110")
    )

    assert found is not None
    assert found.seconds == 110


@pytest.mark.parametrize(
    "steps",
    [
        ("queued 1 0", "rendering 1 10", "checking 1 900", "verifying 1 915", "delivered 1 920"),
        ("queued 1 0", "canceled 1 10"),
        (),
    ],
    ids=["found by asking", "never rendered", "no history"],
)
def test_a_duration_that_nobody_knows_is_not_made_up(steps: tuple[str, ...]) -> None:
    assert sample_of(history(*steps)) is None
