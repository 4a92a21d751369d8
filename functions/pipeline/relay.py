"""Relay: do what a task's new image asks for. The fast path; the sweeper is the guarantee."""

from datetime import timedelta
from math import ceil
from typing import assert_never

from functions.domain.deadlines import SEND_DELAY_MAX
from functions.domain.ports import Ports
from functions.domain.states import Effect
from functions.domain.tasks import Task
from functions.domain.tickets import Ticket


def relay(ports: Ports, task: Task) -> Effect | None:
    """Send a task's effect. Sending twice is harmless: whoever receives it claims or does not."""
    match task.effect:
        case None:
            return None
        case Effect.SEND:
            wait = _wait(ports, task)
            if wait > SEND_DELAY_MAX:
                return None  # its deadline is its retry time: the sweeper sends it
            ports.queue.send(ticket_of(task), delay_seconds=ceil(wait.total_seconds()))
        case Effect.VERIFY:
            ports.workflow.start(task)
        case Effect.BURY:
            ports.queue.bury(task)
        case _:
            assert_never(task.effect)
    return task.effect


def ticket_of(task: Task) -> Ticket:
    """Ask for the task's current attempt."""
    return Ticket(
        account=task.account, id=task.id, kind=task.kind, attempt=task.attempt, lane=task.lane
    )


def _wait(ports: Ports, task: Task) -> timedelta:
    if task.not_before is None:
        return timedelta()
    return max(task.not_before - ports.clock.now(), timedelta())
