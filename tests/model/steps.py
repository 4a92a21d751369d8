"""The transition table as the model uses it: asked through `decide`, remembered, never copied."""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from functions.domain.credits import EntryKind
from functions.domain.deadlines import Limits
from functions.domain.states import TABLE, Deadline, Effect, Event, TaskState
from functions.domain.tasks import Change, Happening, decide
from tests.doubles.world import START
from tests.factories import OUTPUT
from tests.factories import task as ordered

ATTEMPTS_MAX = 2
LIMITS = Limits(attempts_max=ATTEMPTS_MAX)
STATES = tuple(TaskState)
NUMBER = {state: number for number, state in enumerate(STATES)}
ENDED = frozenset(number for number, state in enumerate(STATES) if state.done)
PAIRS = frozenset((NUMBER[row.state], NUMBER[row.next]) for row in TABLE)


@dataclass(frozen=True, slots=True)
class Step:
    """What the table says, in the model's small numbers."""

    state: int
    attempt: int
    tries: int
    cycle: int
    keeps_lease: bool
    has_deadline: bool
    review: bool  # whether the deadline is an operator's
    credits: EntryKind | None
    effect: Effect | None


@cache
def step(state: int, attempt: int, tries: int, cycle: int, event: Event) -> Step | None:
    """Ask the table; None where the event means nothing."""
    task = replace(
        ordered(),
        state=STATES[state],
        attempt=attempt,
        cycle=cycle,
        tries=tries,
        lease="held",
        due_at=START,
    )
    output = OUTPUT if event is Event.VERIFIED else None
    now = START + timedelta(minutes=1)
    change = decide(task, Happening(event=event, output=output), now=now, limits=LIMITS)
    if not isinstance(change, Change):
        return None
    after = change.after
    return Step(
        state=NUMBER[after.state],
        attempt=after.attempt,
        tries=after.tries,
        cycle=after.cycle,
        keeps_lease=after.lease == "held",
        has_deadline=after.due_at is not None,
        review=after.deadline is Deadline.REVIEW,
        credits=change.credits,
        effect=after.effect,
    )
