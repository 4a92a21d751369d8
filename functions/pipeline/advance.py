"""The one way a task moves: decide on its image, write under guard, count."""

from functions.domain.ports import Ports
from functions.domain.results import Application, Applied
from functions.domain.tasks import Happening, Ignored, Task, decide


def advance(ports: Ports, task: Task, happening: Happening) -> Application | Ignored:
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
    applied = ports.store.apply(step)
    if isinstance(applied, Applied) and step.row.next is not step.row.state:
        ports.metrics.count("Transition", kind=task.kind, state=applied.task.state)
    return applied
