"""The one way a task moves: decide on its image, write under guard, count."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from functions.domain.attempts import Attempt
from functions.domain.credits import EntryKind
from functions.domain.deadlines import Limits
from functions.domain.errors import TallyreelError
from functions.domain.ports import Ports
from functions.domain.results import Application, Applied, Contended, Stale
from functions.domain.states import Deadline
from functions.domain.tasks import Change, Happening, Ignored, Task, decide, row_for
from functions.domain.tickets import TaskRef
from functions.pipeline.measure import window_seconds

REPORT_TRIES = 3  # a sweep or two may come between
INSISTED_TRIES = 3

T = TypeVar("T")


def advance(
    ports: Ports, task: Task, happening: Happening, attempt: Attempt | None = None
) -> Application | Ignored:
    """Take one step of the table for a task whose image was just read."""
    step = decide(
        task,
        happening,
        now=ports.clock.now(),
        limits=_limits(ports, task, happening),
        jitter=ports.ids.jitter(),
    )
    if isinstance(step, Ignored):
        return step
    applied = ports.store.apply(step, attempt)
    if isinstance(applied, Applied):
        _count(ports, step)
    return applied


def _limits(ports: Ports, task: Task, happening: Happening) -> Limits:
    """Take the kind's limits, with the measured window where the step starts one."""
    limits = ports.kinds[task.kind].limits
    row = row_for(task, happening.event, limits)
    if row is None or row.deadline is not Deadline.WINDOW:
        return limits
    return replace(limits, window_seconds=window_seconds(ports, task))


def _count(ports: Ports, step: Change) -> None:
    task = step.after
    if step.row.next is not step.row.state:
        ports.metrics.count(
            "Transition",
            state=task.state,
            kind=task.kind,
            provider=task.provider,
            code=task.code or "",
        )
    if step.row.deadline is Deadline.REVIEW:
        ports.metrics.count("HeldForReview", kind=task.kind, account=task.account, task=task.id)
    if step.credits:
        count_credits(ports, task, step.credits)


def count_credits(ports: Ports, task: Task, entry: EntryKind) -> None:
    """Count the credits that were just moved for a task."""
    ports.metrics.count("Credits", task.price, entry=entry, kind=task.kind, provider=task.provider)


def report(
    ports: Ports, task: Task, happening: Happening, attempt: Attempt | None = None
) -> Application | Ignored:
    """Take a worker's step, whose image may be old by now: only its attempt and lease count."""
    result = advance(ports, task, happening, attempt)
    for _ in range(REPORT_TRIES):
        if not isinstance(result, Stale | Contended):
            break
        now = ports.store.get(TaskRef(account=task.account, id=task.id))
        if now is None or (now.attempt, now.lease) != (task.attempt, task.lease):
            break
        result = advance(ports, now, happening, attempt)
    return result


def insisted(write: Callable[[], T]) -> T:
    """Write down what nobody else knows, again after trouble."""
    for _ in range(INSISTED_TRIES - 1):
        with suppress(TallyreelError):
            return write()
    return write()
