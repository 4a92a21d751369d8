"""Settle: the verified output and the credits for it, in one transaction; or another attempt."""

from dataclasses import replace
from datetime import timedelta
from enum import StrEnum

from functions.domain.errors import Unavailable
from functions.domain.kinds import Review
from functions.domain.ports import Ports
from functions.domain.results import Application, Applied, Contended
from functions.domain.states import Deadline, Event, TaskState
from functions.domain.tasks import Happening, Ignored, Task
from functions.domain.tickets import TaskRef
from functions.domain.verdicts import Ruling
from functions.pipeline.advance import advance
from functions.pipeline.verify import Finding


class Settlement(StrEnum):
    """How settling ended."""

    DELIVERED = "delivered"
    REJECTED = "rejected"
    HELD = "held"  # an operator is asked
    SKIPPED = "skipped"  # it was settled before, or is at another attempt


_SETTLED = {
    Event.VERIFIED: Settlement.DELIVERED,
    Event.DOUBTED: Settlement.HELD,
    Event.ATTEMPT_FAILED: Settlement.REJECTED,
}


def settle(ports: Ports, ref: TaskRef, attempt: int, finding: Finding) -> Settlement:
    """Move a verified task to its end. Running twice is harmless."""
    task = ports.store.get(ref)
    if task is None or task.state is not TaskState.VERIFYING or task.attempt != attempt:
        return Settlement.SKIPPED
    if task.deadline is Deadline.REVIEW or task.lease != finding.lease:
        return Settlement.SKIPPED
    happening = _happening(ports, task, finding)
    result = advance(ports, task, happening)
    if isinstance(result, Contended):
        raise Unavailable
    return _SETTLED[happening.event] if isinstance(result, Applied) else Settlement.SKIPPED


def reviewed(ports: Ports, ref: TaskRef, *, accept: bool) -> Application | Ignored | None:
    """Carry out an operator's word on a doubted output; None if there is no such task."""
    task = ports.store.get(ref)
    if task is None:
        return None
    if task.deadline is not Deadline.REVIEW or task.output is None:
        return Ignored(state=task.state, event=Event.VERIFIED)
    if not accept:
        refused = Happening(event=Event.REFUSED, code=task.code, reason=task.reason)
        return advance(ports, task, refused)
    lifetime = timedelta(seconds=ports.kinds[task.kind].limits.result_seconds)
    output = replace(task.output, expires_at=ports.clock.now() + lifetime)
    return advance(ports, task, Happening(event=Event.VERIFIED, output=output, code="reviewed"))


def _happening(ports: Ports, task: Task, finding: Finding) -> Happening:
    """Decide by the ruling, and for a doubt by what the kind wants done about it."""
    rejected = Happening(event=Event.ATTEMPT_FAILED, code=finding.code, reason=finding.reason)
    if finding.output is None or finding.ruling is Ruling.REJECT:
        return rejected
    verified = Happening(event=Event.VERIFIED, output=finding.output, code=finding.code)
    if finding.ruling is Ruling.ACCEPT:
        return verified
    match ports.rules.reviews.get(task.kind, ports.kinds[task.kind].review):
        case Review.DELIVER:
            return replace(verified, reason=finding.reason)
        case Review.HOLD:
            return replace(verified, event=Event.DOUBTED, reason=finding.reason)
        case Review.REJECT:
            return rejected
