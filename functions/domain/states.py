"""The states of a task and the one table of its transitions.

Everything that shows or checks states is made from `TABLE`: the diagram in the docs, the
labels in the console, the alarms and the model search.
"""

from dataclasses import dataclass
from enum import StrEnum

from functions.domain.credits import EntryKind


class TaskState(StrEnum):
    """Where a task is. Each unfinished state has a deadline and a remedy for missing it."""

    QUEUED = "queued"  # recorded, credits held, waiting for a worker or for its retry time
    RENDERING = "rendering"  # claimed under a lease, or submitted to a provider
    CHECKING = "checking"  # outcome unknown; being asked for at growing intervals
    VERIFYING = "verifying"  # an output exists; being inspected, then settled
    DELIVERED = "delivered"  # verified, credits settled
    FAILED = "failed"  # cannot succeed; credits released
    DEAD = "dead"  # attempts used up; credits released; an operator can redrive it
    CANCELED = "canceled"  # withdrawn before delivery; credits released

    @property
    def done(self) -> bool:
        """Whether the customer has nothing more to wait for."""
        return self in ENDED


ENDED = frozenset(
    {TaskState.DELIVERED, TaskState.FAILED, TaskState.DEAD, TaskState.CANCELED},
)


class Event(StrEnum):
    """What can happen to a task."""

    CLAIMED = "claimed"  # a worker took it under a new lease
    ACCEPTED = "accepted"  # a provider has the job
    ASKING = "asking"  # a model is asked now: from here on its answer may have to be paid
    STILL_RUNNING = "still-running"  # the provider was asked and is not finished
    RENDERED = "rendered"  # an output is in our bucket
    ATTEMPT_FAILED = "attempt-failed"  # may work next time
    REFUSED = "refused"  # will never work
    GIVEN_BACK = "given-back"  # a graceful stop: no attempt is spent
    OVERDUE = "overdue"  # its worker or provider stayed silent past the deadline
    UNANSWERED = "unanswered"  # it was submitted, and whether it arrived is unknown
    RESENT = "resent"  # the queue message was sent again
    ASKED = "asked"  # its outcome was asked for, without an answer
    RESTARTED = "restarted"  # the settle workflow was started again
    WAIT_EXPIRED = "wait-expired"  # no worker took it within the queue-wait limit
    VERIFIED = "verified"  # the output passed inspection, or an operator's eyes
    DOUBTED = "doubted"  # the inspection leaves it to an operator
    CANCEL = "cancel"  # the customer withdrew it
    GAVE_UP = "gave-up"  # its message was refused too often to be tried again
    REDRIVE = "redrive"  # an operator starts it anew


class Guard(StrEnum):
    """What must hold besides state and event for a row to apply."""

    ALWAYS = "always"
    ATTEMPTS_LEFT = "attempts left"
    ATTEMPTS_SPENT = "attempts spent"


class Deadline(StrEnum):
    """Which clock a state runs against."""

    RESEND = "resend"  # the message may be lost
    LEASE = "lease"  # the worker may be dead
    WINDOW = "window"  # the provider may be silent
    ASK = "ask"  # time to ask again
    WORKFLOW = "workflow"  # the workflow may have failed
    REVIEW = "review"  # an operator has not said yes or no
    OPERATOR = "operator"  # waits for a person, in the index's `dead` shard
    NONE = "none"


class Effect(StrEnum):
    """What the relay does when it sees the new image on the stream."""

    SEND = "send"  # a message to the kind's queue
    VERIFY = "verify"  # start the settle workflow
    BURY = "bury"  # a message with the whole history to the dead-letter queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the transition table."""

    state: TaskState
    event: Event
    next: TaskState
    deadline: Deadline
    guard: Guard = Guard.ALWAYS
    credits: EntryKind | None = None
    effect: Effect | None = None
    next_attempt: bool = False


def _end(state: TaskState, event: Event, end: TaskState, guard: Guard = Guard.ALWAYS) -> Row:
    """Build the row of an end that gives the credits back."""
    dead = end is TaskState.DEAD
    return Row(
        state=state,
        event=event,
        next=end,
        guard=guard,
        credits=EntryKind.RELEASE,
        deadline=Deadline.OPERATOR if dead else Deadline.NONE,
        effect=Effect.BURY if dead else None,
    )


def _retry_rows(state: TaskState) -> tuple[Row, ...]:
    return (
        Row(
            state=state,
            event=Event.ATTEMPT_FAILED,
            guard=Guard.ATTEMPTS_LEFT,
            next=TaskState.QUEUED,
            deadline=Deadline.RESEND,
            effect=Effect.SEND,
            next_attempt=True,
        ),
        _end(state, Event.ATTEMPT_FAILED, TaskState.DEAD, Guard.ATTEMPTS_SPENT),
        _end(state, Event.REFUSED, TaskState.FAILED),
    )


def _stay(state: TaskState, event: Event, deadline: Deadline) -> Row:
    return Row(state=state, event=event, next=state, deadline=deadline)


def _to_verifying(state: TaskState) -> Row:
    return Row(
        state=state,
        event=Event.RENDERED,
        next=TaskState.VERIFYING,
        deadline=Deadline.WORKFLOW,
        effect=Effect.VERIFY,
    )


TABLE: tuple[Row, ...] = (
    Row(
        state=TaskState.QUEUED,
        event=Event.CLAIMED,
        next=TaskState.RENDERING,
        deadline=Deadline.LEASE,
    ),
    _stay(TaskState.QUEUED, Event.RESENT, Deadline.RESEND),
    _end(TaskState.QUEUED, Event.WAIT_EXPIRED, TaskState.FAILED),
    _end(TaskState.QUEUED, Event.GAVE_UP, TaskState.DEAD),
    _end(TaskState.QUEUED, Event.CANCEL, TaskState.CANCELED),
    _stay(TaskState.RENDERING, Event.ACCEPTED, Deadline.WINDOW),
    _stay(TaskState.RENDERING, Event.ASKING, Deadline.LEASE),
    _stay(TaskState.RENDERING, Event.STILL_RUNNING, Deadline.WINDOW),
    _to_verifying(TaskState.RENDERING),
    *_retry_rows(TaskState.RENDERING),
    Row(
        state=TaskState.RENDERING,
        event=Event.GIVEN_BACK,
        next=TaskState.QUEUED,
        deadline=Deadline.RESEND,
        effect=Effect.SEND,
    ),
    Row(
        state=TaskState.RENDERING,
        event=Event.OVERDUE,
        next=TaskState.CHECKING,
        deadline=Deadline.ASK,
    ),
    Row(
        state=TaskState.RENDERING,
        event=Event.UNANSWERED,
        next=TaskState.CHECKING,
        deadline=Deadline.ASK,
    ),
    _end(TaskState.RENDERING, Event.CANCEL, TaskState.CANCELED),
    _stay(TaskState.CHECKING, Event.ASKED, Deadline.ASK),
    Row(
        state=TaskState.CHECKING,
        event=Event.STILL_RUNNING,
        next=TaskState.RENDERING,
        deadline=Deadline.WINDOW,
    ),
    _to_verifying(TaskState.CHECKING),
    *_retry_rows(TaskState.CHECKING),
    _end(TaskState.CHECKING, Event.CANCEL, TaskState.CANCELED),
    Row(
        state=TaskState.VERIFYING,
        event=Event.VERIFIED,
        next=TaskState.DELIVERED,
        credits=EntryKind.SETTLE,
        deadline=Deadline.NONE,
    ),
    _stay(TaskState.VERIFYING, Event.RESTARTED, Deadline.WORKFLOW),
    _stay(TaskState.VERIFYING, Event.DOUBTED, Deadline.REVIEW),
    *_retry_rows(TaskState.VERIFYING),
    Row(
        state=TaskState.DEAD,
        event=Event.REDRIVE,
        next=TaskState.QUEUED,
        credits=EntryKind.HOLD,
        deadline=Deadline.RESEND,
        effect=Effect.SEND,
    ),
)
