"""Claim: take one attempt under a new lease, whoever is to do the work."""

from datetime import timedelta

from functions.domain.attempts import Attempt
from functions.domain.media import output_key
from functions.domain.ports import Ports
from functions.domain.results import Applied, Stale
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.pipeline.advance import advance

EARLY_SECONDS = 5  # how far a queue's clock may run ahead of ours


def claimable(ports: Ports, ticket: Ticket) -> Task | None:
    """Read a ticket's task if it waits for this very attempt, and its time has come."""
    task = ports.store.get(TaskRef(account=ticket.account, id=ticket.id))
    if task is None or task.state is not TaskState.QUEUED or task.attempt != ticket.attempt:
        return None
    early = ports.clock.now() + timedelta(seconds=EARLY_SECONDS)
    return None if task.not_before and task.not_before > early else task


def claim(ports: Ports, task: Task, attempt: Attempt | None = None) -> Task | None:
    """Take it, and write its attempt down with that; None if somebody else was quicker."""
    lease = ports.ids.lease()
    claimed = advance(ports, task, Happening(event=Event.CLAIMED, lease=lease), attempt)
    if isinstance(claimed, Applied):
        return claimed.task
    if isinstance(claimed, Stale):  # an SDK that repeats its own success is refused by it
        now = ports.store.get(TaskRef(account=task.account, id=task.id))
        return now if now and now.lease == lease else None
    return None


def output_key_of(task: Task) -> str:
    """Where the output of a task's current lease lies, or will lie."""
    return output_key(task.account, task.id, task.attempt, task.lease or "")
