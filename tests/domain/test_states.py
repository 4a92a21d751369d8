from collections import defaultdict
from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from functions.domain.credits import EntryKind
from functions.domain.states import ENDED, TABLE, Deadline, Effect, Event, Guard, TaskState
from functions.domain.tasks import row_for
from functions.pipeline.sweep import REMEDIES
from tests.factories import LIMITS, task


def test_no_two_rows_can_apply_at_once() -> None:
    guards: defaultdict[tuple[TaskState, Event], set[Guard]] = defaultdict(set)
    for row in TABLE:
        assert row.guard not in guards[row.state, row.event]
        guards[row.state, row.event].add(row.guard)
    complete = {Guard.ALWAYS}, {Guard.ATTEMPTS_LEFT, Guard.ATTEMPTS_SPENT}
    assert all(found in complete for found in guards.values())


def test_every_state_and_event_has_an_answer() -> None:
    for state, event, attempt in product(TaskState, Event, (1, LIMITS.attempts_max)):
        row = row_for(replace(task(), state=state, attempt=attempt), event, LIMITS)
        known = any((row.state, row.event) == (state, event) for row in TABLE)
        assert (row is not None) == known


def test_there_is_no_state_without_a_deadline_but_the_ends() -> None:
    for row in TABLE:
        if row.next is TaskState.DEAD:
            assert row.deadline is Deadline.OPERATOR
        else:
            assert (row.deadline is Deadline.NONE) == (row.next in ENDED)


def test_every_unfinished_state_has_a_remedy() -> None:
    assert set(REMEDIES) == set(TaskState) - ENDED


def test_credits_move_exactly_at_the_ends_and_at_a_redrive() -> None:
    for row in TABLE:
        if row.next is TaskState.DELIVERED:
            assert row.credits is EntryKind.SETTLE
        elif row.next in ENDED:
            assert row.credits is EntryKind.RELEASE
        elif row.state in ENDED:
            assert row.credits is EntryKind.HOLD
        else:
            assert row.credits is None


def test_only_what_is_verified_is_delivered() -> None:
    ways = [(row.state, row.event) for row in TABLE if row.next is TaskState.DELIVERED]
    assert ways == [(TaskState.VERIFYING, Event.VERIFIED)]


def test_an_end_is_left_only_by_an_operator() -> None:
    assert [(r.state, r.event) for r in TABLE if r.state in ENDED] == [
        (TaskState.DEAD, Event.REDRIVE)
    ]


def test_every_way_into_a_state_has_the_effect_that_drives_it_on() -> None:
    wanted = {
        TaskState.QUEUED: Effect.SEND,
        TaskState.VERIFYING: Effect.VERIFY,
        TaskState.DEAD: Effect.BURY,
    }
    for row in TABLE:
        assert row.effect == (wanted.get(row.next) if row.next is not row.state else None)


@given(st.sampled_from(TaskState))
def test_an_end_can_be_reached_from_every_state(start: TaskState) -> None:
    reached, edge = {start}, {start}
    while edge:
        edge = {row.next for row in TABLE if row.state in edge} - reached
        reached |= edge
    assert reached & ENDED
