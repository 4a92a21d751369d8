"""Spend: how the attempts at paid providers ended, for the books that operators see."""

from dataclasses import replace

from functions.domain.attempts import Attempt
from functions.domain.jobs import Job
from functions.domain.ports import Ports
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef


def closed(
    ports: Ports,
    task: Task,
    outcome: str,
    *,
    job: Job | None = None,
    charged: bool | None = None,
) -> Attempt | None:
    """Say how a task's current attempt ended; None if none was written down."""
    attempt = written(ports, task)
    if attempt is None:
        return None
    name = job.id if job else attempt.job
    return replace(attempt, outcome=outcome, job=name, charged=charged)


def written(ports: Ports, task: Task) -> Attempt | None:
    """Read what is in the books of a task's current attempt."""
    mine = (task.cycle, task.attempt)
    books = ports.store.attempts(TaskRef(account=task.account, id=task.id))
    return next((one for one in books if (one.cycle, one.number) == mine), None)
