"""Sweep: find what is overdue and apply its state's remedy. This alone ends every task."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from functions.domain.ports import Ports
from functions.domain.providers import Remote, Webhook
from functions.domain.results import Application, Applied
from functions.domain.states import Deadline, Event, TaskState
from functions.domain.tasks import Happening, Ignored, Task
from functions.domain.tickets import TaskRef
from functions.pipeline.advance import advance
from functions.pipeline.check import check
from functions.pipeline.hooks import CHECK_LANE
from functions.pipeline.relay import ticket_of

PAGE = 100

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Run:
    """What one sweep has seen so far."""

    done: Counter[str] = field(default_factory=Counter)
    stuck: int = 0
    oldest: timedelta = timedelta()


def sweep(ports: Ports, until: datetime) -> Counter[str]:
    """Work through what is due, shard by shard, until nothing is left or time is up."""
    run = _Run()
    left = sum(_swept(ports, shard, until, run) for shard in range(ports.rules.shards))
    ports.metrics.gauge("Overdue", left + run.done["error"])
    ports.metrics.gauge("OldestUnfinished", run.oldest.total_seconds())
    if run.stuck:
        ports.metrics.count("Stuck", run.stuck)
    return run.done


def _swept(ports: Ports, shard: int, until: datetime, run: _Run) -> int:
    """Sweep one shard; say how many due tasks had to be left, as far as one look tells."""
    seen: set[TaskRef] = set()
    limit = PAGE
    while True:
        due = ports.store.due(shard, until=ports.clock.now(), limit=limit)
        fresh = [ref for ref in due if ref not in seen]  # the index lags behind our writes
        for number, ref in enumerate(fresh):
            if ports.clock.now() >= until:
                return len(fresh) - number
            _remedied(ports, ref, run)
        seen.update(fresh)
        if len(due) < limit:
            return 0
        limit = PAGE + len(due) - len(fresh)  # look past those that could not be mended


def _remedied(ports: Ports, ref: TaskRef, run: _Run) -> None:
    try:
        outcome = _remedy(ports, ref, run)
    except Exception:  # one task that cannot be mended must not stop the others
        logger.exception("remedy failed", extra={"account": ref.account, "task": ref.id})
        outcome = "error"
    run.done[outcome] += 1


def _remedy(ports: Ports, ref: TaskRef, run: _Run) -> str:
    """Apply the remedy of one task's state, if it is due; name what was done."""
    task = ports.store.get(ref)
    now = ports.clock.now()
    if task is None or task.due_at is None or task.due_at > now or task.state not in REMEDIES:
        return "not-due"
    if task.deadline is not Deadline.REVIEW:  # that long, a person may take
        run.oldest = max(run.oldest, now - task.created_at)
    result = REMEDIES[task.state](ports, task)
    if not isinstance(result, Applied):
        return "moved-on"
    if _is_stuck(ports, task):
        run.stuck += 1
        logger.warning(
            "stuck",
            extra={"account": ref.account, "task": ref.id, "state": task.state, "kind": task.kind},
        )
    return str(result.task.state)


def _is_stuck(ports: Ports, task: Task) -> bool:
    """Whether something was lost on the way: a message, a worker, a call, a run. Said once each."""
    routine = task.deadline in (Deadline.ASK, Deadline.REVIEW)
    if routine or task.tries or task.due_at == task.not_before:  # a distant retry is sent here
        return False
    if task.state is not TaskState.RENDERING:
        return True
    provider = ports.providers[task.provider]
    if isinstance(provider, Remote) and provider.abilities.webhook is Webhook.NONE:
        return False  # its silence means nothing
    return not any(
        step.state is TaskState.CHECKING and step.attempt == task.attempt for step in task.history
    )


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
