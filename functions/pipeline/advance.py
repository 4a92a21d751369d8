"""The one way a task moves: decide on its image, write under guard, count."""

from functions.domain.attempts import Attempt
from functions.domain.ports import Ports, TaskRef
from functions.domain.results import Application, Applied, Stale
from functions.domain.tasks import Happening, Ignored, Task, decide

REPORT_TRIES = 3  # a sweep or two may come between


def advance(
    ports: Ports, task: Task, happening: Happening, attempt: Attempt | None = None
) -> Application | Ignored:
    """Take one step of the table for a task whose image was just read."""
    step = decide(
        task,
        happening,
        now=ports.clock.now(),
        limits=ports.kinds[task.kind].limits,
        jitter=ports.ids.jitter(),
    )
    if isinstance(step, Ignored):
        return step
    applied = ports.store.apply(step, attempt)
    if isinstance(applied, Applied) and step.row.next is not step.row.state:
        ports.metrics.count("Transition", kind=task.kind, state=applied.task.state)
    return applied


def report(
    ports: Ports, task: Task, happening: Happening, attempt: Attempt | None = None
) -> Application | Ignored:
    """Take a worker's step, whose image may be old by now: only its attempt and lease count."""
    result = advance(ports, task, happening, attempt)
    for _ in range(REPORT_TRIES):
        if not isinstance(result, Stale):
            break
        now = ports.store.get(TaskRef(account=task.account, id=task.id))
        if now is None or (now.attempt, now.lease) != (task.attempt, task.lease):
            break
        result = advance(ports, now, happening, attempt)
    return result
