"""Claim: take one attempt under a new lease, whoever is to do the work."""

from datetime import timedelta

from functions.domain.attempts import Attempt
from functions.domain.errors import OutcomeUnknown
from functions.domain.media import output_key
from functions.domain.ports import Ports
from functions.domain.results import Applied, Stale
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.pipeline.advance import advance

DEFER_SECONDS = 20  # drawn at random up to twice as much
EARLY_SECONDS = 5  # how far a queue's clock may run ahead of ours


def claimable(ports: Ports, ticket: Ticket) -> Task | None:
    """Read a ticket's task if it waits for this very attempt, and its time has come."""
    task = ports.store.get(TaskRef(account=ticket.account, id=ticket.id))
    if task is None or task.state is not TaskState.QUEUED or task.attempt != ticket.attempt:
        return None
    early = ports.clock.now() + timedelta(seconds=EARLY_SECONDS)
    return None if task.not_before and task.not_before > early else task


def defer(ports: Ports, ticket: Ticket) -> None:
    """Put a ticket off until a provider's budget has room again."""
    wait = DEFER_SECONDS * (1 + ports.ids.jitter())
    ports.queue.send(ticket, delay_seconds=round(wait))


def claim(ports: Ports, task: Task, attempt: Attempt | None = None) -> Task | None:
    """Take it, and write its attempt down with that; None if somebody else was quicker."""
    lease = ports.ids.lease()
    try:
        claimed = advance(ports, task, Happening(event=Event.CLAIMED, lease=lease), attempt)
    except OutcomeUnknown:  # lost by all but us, were it written and not looked for
        mine = _held(ports, task, lease)
        if mine is None:
            raise
        return mine
    if isinstance(claimed, Applied):
        return claimed.task
    if isinstance(claimed, Stale):  # an SDK that repeats its own success is refused by it
        return _held(ports, task, lease)
    return None


def _held(ports: Ports, task: Task, lease: str) -> Task | None:
    now = ports.store.get(TaskRef(account=task.account, id=task.id))
    return now if now and now.lease == lease else None


def output_key_of(ports: Ports, task: Task) -> str:
    """Where the output of a task's current lease lies, or will lie."""
    extension = ports.kinds[task.kind].makes.extension
    return output_key(task.account, task.id, task.attempt, task.lease or "", extension)
