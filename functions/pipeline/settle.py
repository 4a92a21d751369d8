"""Settle: the verified output and the credits for it, in one transaction; or another attempt."""

from enum import StrEnum

from functions.domain.errors import Unavailable
from functions.domain.ports import Ports, TaskRef
from functions.domain.results import Applied, Contended
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.pipeline.advance import advance
from functions.pipeline.verify import Finding


class Settlement(StrEnum):
    """How settling ended."""

    DELIVERED = "delivered"
    REJECTED = "rejected"
    SKIPPED = "skipped"  # it was settled before, or is at another attempt


def settle(ports: Ports, ref: TaskRef, attempt: int, finding: Finding) -> Settlement:
    """Move a verified task to its end. Running twice is harmless."""
    task = ports.store.get(ref)
    if task is None or task.state is not TaskState.VERIFYING or task.attempt != attempt:
        return Settlement.SKIPPED
    result = advance(ports, task, _happening(task, finding))
    if isinstance(result, Contended):
        raise Unavailable
    if not isinstance(result, Applied):
        return Settlement.SKIPPED
    return Settlement.DELIVERED if finding.output else Settlement.REJECTED


def _happening(task: Task, finding: Finding) -> Happening:
    if finding.output is None:
        return Happening(event=Event.ATTEMPT_FAILED, code=finding.code, reason=finding.reason)
    return Happening(
        event=Event.VERIFIED, output_key=task.output_key, output=finding.output, code=finding.code
    )
