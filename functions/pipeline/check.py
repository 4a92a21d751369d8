"""Check: find out how an attempt ended whose worker fell silent. Unknown is not failed."""

from functions.domain.media import output_key
from functions.domain.ports import Ports
from functions.domain.results import Application
from functions.domain.states import Event
from functions.domain.tasks import Happening, Ignored, Task
from functions.pipeline.advance import advance

LOST = "The worker stopped before it was finished."


def check(ports: Ports, task: Task) -> Application | Ignored:
    """Ask the bucket: a worker that died after its upload has delivered all the same."""
    key = output_key(task.account, task.id, task.attempt, task.lease or "")
    if ports.media.head(key) is not None:
        return advance(ports, task, Happening(event=Event.RENDERED, output_key=key))
    lost = Happening(event=Event.ATTEMPT_FAILED, code="worker-lost", reason=LOST)
    return advance(ports, task, lost)
