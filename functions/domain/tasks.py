"""A task's hot item and the pure step from one image to the next."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from functions.domain.credits import EntryKind
from functions.domain.deadlines import Limits, due_at
from functions.domain.jobs import Job
from functions.domain.states import (
    TABLE,
    Deadline,
    Effect,
    Event,
    Guard,
    Row,
    TaskState,
)

HISTORY_STEPS_MAX = 64  # bounds the item; some four times what a redriven task collects

UNDER_LEASE = (TaskState.RENDERING, TaskState.CHECKING, TaskState.VERIFYING)
_ROWS = {(row.state, row.event, row.guard): row for row in TABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a task's history."""

    state: TaskState
    at: datetime
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A finished file in our bucket, as inspected."""

    key: str
    content_type: str
    size_bytes: int
    sha256: str
    seconds: float
    width: int
    height: int
    codec: str
    expires_at: datetime | None = None
    thumbnails: int = 0  # how many of poster and strip lie beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The hot item: one image of a task. Times are aware UTC."""

    account: str
    id: str
    kind: str
    provider: str
    lane: str  # the queue that its work waits in
    resource: str  # what the lock is held on, without the kind
    price: int  # whole credits
    state: TaskState
    created_at: datetime
    version: int = 1
    attempt: int = 1
    cycle: int = 0  # how often an operator redrove it; names the ledger entries of this round
    tries: int = 0  # remedies applied since the state was entered
    lease: str | None = None
    due_at: datetime | None = None
    deadline: Deadline = Deadline.NONE
    not_before: datetime | None = None  # earliest claim of a retry
    queued_at: datetime | None = None  # since when a worker is waited for
    effect: Effect | None = None
    job: Job | None = None  # at a remote provider
    output_key: str | None = None
    output: Output | None = None
    code: str | None = None  # why it ended, or why it is tried again
    reason: str | None = None  # the same as a sentence for the customer
    keep_until: datetime | None = None  # when an ended task's details are removed
    history: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One conditional write: `before` is the guard, `after` the new image."""

    before: Task
    after: Task
    row: Row
    at: datetime

    @property
    def credits(self) -> EntryKind | None:
        """The ledger entry that goes into the same transaction."""
        return self.row.credits

    @property
    def on_deadline(self) -> bool:
        """Whether the deadline is part of the guard: a heartbeat moves it without a new version."""
        return self.row.event is Event.OVERDUE


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """The event means nothing in this state; nothing is written."""

    state: TaskState
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A provider and the queue that its work waits in."""

    provider: str
    lane: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event with what it brought along."""

    event: Event
    code: str | None = None
    reason: str | None = None
    lease: str | None = None
    job: Job | None = None
    output_key: str | None = None
    output: Output | None = None
    route: Route | None = None  # who is to try next, if somebody else


def row_for(task: Task, event: Event, limits: Limits) -> Row | None:
    """Look the event up; None where the state does not know it."""
    left = task.attempt < limits.attempts_max
    guarded = Guard.ATTEMPTS_LEFT if left else Guard.ATTEMPTS_SPENT
    return _ROWS.get((task.state, event, Guard.ALWAYS)) or _ROWS.get((task.state, event, guarded))


def decide(
    task: Task,
    happening: Happening,
    *,
    now: datetime,
    limits: Limits,
    jitter: float = 0.0,
) -> Change | Ignored:
    """Take one step over the table. `jitter` is a random number in [0, 1)."""
    row = row_for(task, happening.event, limits)
    if row is None:
        return Ignored(state=task.state, event=happening.event)
    after = _moved(task, row, happening, now)
    wait = limits.retry.delay(task.attempt, jitter) if row.next_attempt else timedelta()
    if row.next is not TaskState.QUEUED:
        after = replace(after, queued_at=None, not_before=None)
    elif row.state is not TaskState.QUEUED:
        after = replace(after, queued_at=now, not_before=now + wait if wait else None)
    kept = now + timedelta(days=limits.keep_days) if row.next.done else None
    after = replace(after, due_at=_next_due(after, now, limits), keep_until=kept)
    return Change(before=task, after=after, row=row, at=now)


def _moved(task: Task, row: Row, happening: Happening, now: datetime) -> Task:
    stays = row.next is row.state
    redriven = happening.event is Event.REDRIVE
    attempt = 1 if redriven else task.attempt + int(row.next_attempt)
    after = replace(
        task,
        state=row.next,
        version=task.version + 1,
        attempt=attempt,
        cycle=task.cycle + int(redriven),
        tries=task.tries + 1 if stays else 0,
        deadline=row.deadline,
        effect=row.effect,
        code=happening.code if not stays or happening.code else task.code,
        reason=happening.reason if not stays or happening.reason else task.reason,
        lease=_lease_after(task, row, happening),
        job=(happening.job or task.job) if row.next in UNDER_LEASE else None,
        output_key=happening.output_key or task.output_key,
        output=happening.output,
    )
    if happening.route and row.next_attempt:
        after = replace(after, provider=happening.route.provider, lane=happening.route.lane)
    if stays:
        return after
    step = Step(state=row.next, at=now, attempt=attempt, reason=happening.code or happening.event)
    return replace(after, history=_appended(task.history, step))


def _lease_after(task: Task, row: Row, happening: Happening) -> str | None:
    if happening.lease is not None:
        return happening.lease
    return task.lease if row.next in UNDER_LEASE else None


def _appended(history: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    longer = (*history, step)
    if len(longer) <= HISTORY_STEPS_MAX:
        return longer
    return (longer[0], *longer[2:])  # the first line tells when it was ordered


def opened(task: Task, *, now: datetime, limits: Limits) -> Task:
    """Give a new task its first image: queued, with its message to be sent."""
    first = Step(state=TaskState.QUEUED, at=now, attempt=1, reason="ordered")
    task = replace(
        task,
        state=TaskState.QUEUED,
        deadline=Deadline.RESEND,
        effect=Effect.SEND,
        queued_at=now,
        history=(first,),
    )
    return replace(task, due_at=_next_due(task, now, limits))


def _next_due(task: Task, now: datetime, limits: Limits) -> datetime | None:
    return due_at(
        task.deadline, tries=task.tries, now=now, not_before=task.not_before, limits=limits
    )
