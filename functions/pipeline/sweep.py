"""Sweep: find what is overdue and apply its state's remedy. This alone ends every task."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from functions.domain.ports import Ports, TaskRef
from functions.domain.providers import Remote
from functions.domain.results import Application, Applied
from functions.domain.states import Deadline, Event, TaskState
from functions.domain.tasks import Happening, Ignored, Task
from functions.pipeline.advance import advance
from functions.pipeline.check import check
from functions.pipeline.hooks import CHECK_LANE
from functions.pipeline.relay import ticket_of

PAGE = 100

logger = logging.getLogger(__name__)


def sweep(ports: Ports, until: datetime) -> Counter[str]:
    """Work through what is due, shard by shard, until nothing is left or time is up."""
    done: Counter[str] = Counter()
    for shard in range(ports.rules.shards):
        seen: set[TaskRef] = set()
        while ports.clock.now() < until:
            due = ports.store.due(shard, until=ports.clock.now(), limit=PAGE)
            fresh = [ref for ref in due if ref not in seen]  # the index lags behind our writes
            for ref in fresh:
                done[_remedied(ports, ref)] += 1
                if ports.clock.now() >= until:
                    break
            seen.update(fresh)
            if not fresh or len(due) < PAGE:
                break
    return done


def _remedied(ports: Ports, ref: TaskRef) -> str:
    try:
        return remedy(ports, ref)
    except Exception:  # one task that cannot be mended must not stop the others
        logger.exception("remedy failed", extra={"account": ref.account, "task": ref.id})
        return "error"


def remedy(ports: Ports, ref: TaskRef) -> str:
    """Apply the remedy of one task's state, if it is due; name what was done."""
    task = ports.store.get(ref)
    now = ports.clock.now()
    if task is None or task.due_at is None or task.due_at > now or task.state not in REMEDIES:
        return "not-due"
    result = REMEDIES[task.state](ports, task)
    return str(result.task.state) if isinstance(result, Applied) else "moved-on"


def _resend(ports: Ports, task: Task) -> Application | Ignored:
    limits = ports.kinds[task.kind].limits
    since = max(filter(None, (task.queued_at, task.not_before)), default=task.created_at)
    if ports.clock.now() - since > timedelta(seconds=limits.queue_wait_seconds):
        late = Happening(
            event=Event.WAIT_EXPIRED,
            code="queue-wait-expired",
            reason="No worker was free in time. Order it again later.",
        )
        return advance(ports, task, late)
    ports.queue.send(ticket_of(task))
    return advance(ports, task, Happening(event=Event.RESENT))


def _lapse(ports: Ports, task: Task) -> Application | Ignored:
    return advance(ports, task, Happening(event=Event.OVERDUE, code="lease-lapsed"))


def _restart(ports: Ports, task: Task) -> Application | Ignored:
    limits = ports.kinds[task.kind].limits
    if task.deadline is Deadline.REVIEW:
        unsaid = Happening(
            event=Event.REFUSED,
            code="review-expired",
            reason=task.reason or "The result could not be judged in time.",
        )
        return advance(ports, task, unsaid)
    if task.tries >= limits.workflows_max:
        stuck = Happening(
            event=Event.ATTEMPT_FAILED,
            code="inspection-failed",
            reason="The result could not be checked.",
        )
        return advance(ports, task, stuck)
    ports.workflow.start(task)
    return advance(ports, task, Happening(event=Event.RESTARTED))


def _check(ports: Ports, task: Task) -> Application | Ignored | None:
    """Look into the bucket here; have providers asked where their keys are."""
    if not isinstance(ports.providers[task.provider], Remote):
        return check(ports, task)
    ports.queue.send(replace(ticket_of(task), lane=CHECK_LANE))
    return advance(ports, task, Happening(event=Event.ASKED))


REMEDIES: dict[TaskState, Callable[[Ports, Task], Application | Ignored | None]] = {
    TaskState.QUEUED: _resend,
    TaskState.RENDERING: _lapse,
    TaskState.CHECKING: _check,
    TaskState.VERIFYING: _restart,
}
