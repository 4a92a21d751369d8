from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.deadlines import SEND_DELAY_MAX, Limits
from functions.domain.retry import RetryPolicy
from functions.domain.states import Event, TaskState
from functions.domain.tasks import (
    HISTORY_STEPS_MAX,
    Change,
    Happening,
    Ignored,
    Task,
    decide,
)
from tests.doubles.world import START
from tests.factories import LIMITS, task

EVENTS = st.sampled_from(Event)


def stepped(found: Task, event: Event, limits: Limits = LIMITS, jitter: float = 0.5) -> Task:
    change = decide(found, Happening(event=event), now=START, limits=limits, jitter=jitter)
    assert isinstance(change, Change)
    return change.after


@given(st.lists(EVENTS, max_size=60), st.floats(0, 0.999))
def test_any_course_of_events_keeps_the_rules(events: list[Event], jitter: float) -> None:
    found = task()
    for event in events:
        change = decide(
            found, Happening(event=event, lease="l"), now=START, limits=LIMITS, jitter=jitter
        )
        if isinstance(change, Ignored):
            continue
        after = change.after
        assert after.version == found.version + 1
        assert (after.due_at is None) == (after.state.done and after.state is not TaskState.DEAD)
        assert 1 <= after.attempt <= LIMITS.attempts_max
        assert after.attempt >= found.attempt or event is Event.REDRIVE
        assert len(after.history) <= HISTORY_STEPS_MAX
        assert after.history[-1].state is after.state
        found = after


def test_a_failed_attempt_is_tried_again_after_a_pause() -> None:
    found = stepped(replace(task(), state=TaskState.RENDERING, lease="l"), Event.ATTEMPT_FAILED)

    assert (found.state, found.attempt, found.lease) == (TaskState.QUEUED, 2, None)
    assert found.not_before is not None
    assert START < found.not_before <= START + timedelta(seconds=4)


def test_the_last_attempt_is_not() -> None:
    last = replace(task(), state=TaskState.RENDERING, attempt=LIMITS.attempts_max)

    assert stepped(last, Event.ATTEMPT_FAILED).state is TaskState.DEAD


def test_a_graceful_stop_spends_no_attempt() -> None:
    found = stepped(replace(task(), state=TaskState.RENDERING), Event.GIVEN_BACK)

    assert (found.state, found.attempt, found.not_before) == (TaskState.QUEUED, 1, None)


def test_a_pause_too_long_for_the_queue_is_the_sweepers() -> None:
    limits = Limits(retry=RetryPolicy(first_seconds=3600, seconds_max=3600))
    found = stepped(replace(task(), state=TaskState.RENDERING), Event.ATTEMPT_FAILED, limits)

    assert found.not_before is not None
    assert found.not_before - START > SEND_DELAY_MAX
    assert found.due_at == found.not_before


def test_a_remedy_is_repeated_ever_more_patiently() -> None:
    found, waits = task(), []
    for _ in range(8):
        found = stepped(found, Event.RESENT)
        assert found.due_at is not None
        waits.append((found.due_at - START).total_seconds())

    assert waits == sorted(waits)
    assert waits[-1] == LIMITS.interval_seconds_max
    assert len(found.history) == 1


def test_another_state_starts_patience_anew() -> None:
    found = stepped(stepped(task(), Event.RESENT), Event.CLAIMED)

    assert found.tries == 0


@pytest.mark.parametrize("state", [s for s in TaskState if s.done])
def test_an_end_ignores_what_comes_late(state: TaskState) -> None:
    ended = replace(task(), state=state)
    for event in set(Event) - {Event.REDRIVE}:
        assert decide(ended, Happening(event=event), now=START, limits=LIMITS) == Ignored(
            state=state, event=event
        )
