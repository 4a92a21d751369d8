"""Render: claim an attempt under a lease, make the file, put it into our bucket, say so."""

import errno
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from functions.domain.attempts import Attempt
from functions.domain.jobs import Unknown
from functions.domain.kinds import Runs
from functions.domain.models import Model
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.ports import Ports
from functions.domain.providers import BuiltIn
from functions.domain.results import Applied
from functions.domain.states import Event
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.work import DISK_FULL, Errand
from functions.pipeline.advance import insisted, report
from functions.pipeline.ask import Bill, analysed
from functions.pipeline.claim import claim, claimable, defer, output_key_of
from functions.pipeline.inspect import inspected
from functions.pipeline.obtain import obtained
from functions.pipeline.spend import closed, written
from functions.pipeline.tend import CutShort, LeaseLost, StayOver, Tending

STOPPED = "worker-stopped"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Rendering(StrEnum):
    """How a ticket ended."""

    RENDERED = "rendered"
    FAILED = "attempt-failed"
    REFUSED = "refused"
    GIVEN_BACK = "given-back"  # the worker had to go; the next one begins anew
    SKIPPED = "skipped"  # not this attempt's time, or somebody else's
    UNKNOWN = "unknown"  # a model was asked and its answer was lost
    DEFERRED = "deferred"  # the model's budget is used up; the ticket waits
    SUPERSEDED = "superseded"  # the lease was lost on the way; the result counts for nothing


def render(ports: Ports, ticket: Ticket, workdir: Path, errand: Errand | None = None) -> Rendering:
    """Work one ticket off. Every write names the attempt and the lease it was claimed under."""
    waiting = claimable(ports, ticket)
    if waiting and not _affordable(ports, waiting):
        defer(ports, ticket)
        return Rendering.DEFERRED
    task = claim(ports, waiting) if waiting else None
    if task is None:
        return Rendering.SKIPPED
    tending, bill = Tending(ports, task, workdir, errand), _bill(ports, task)
    try:
        with ports.heartbeat(tending.beat, ports.kinds[task.kind].limits.heartbeat_seconds):
            outcome = _produce(ports, task, workdir, tending, bill)
    except LeaseLost:
        return Rendering.SUPERSEDED
    except CutShort as short:
        outcome = short.failed
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        outcome = DISK_FULL
    except StayOver:
        if bill.comes_to is None:
            return _given_back(ports, task, bill)
        outcome = bill.comes_to
    if bill.noted and not isinstance(outcome, Rendered):  # which can be found in the bucket
        return insisted(lambda: _record(ports, task, outcome, bill))
    return _record(ports, task, outcome, bill)


def _bill(ports: Ports, task: Task) -> Bill:
    """Begin the books; what this attempt was answered before it was given back is in them."""
    begun = any((step.attempt, step.reason) == (task.attempt, STOPPED) for step in task.history)
    if not begun or not isinstance(ports.providers[task.provider], Model):
        return Bill()
    books = written(ports, task)
    return Bill(answers=int(books is not None and books.charged is True))


def _given_back(ports: Ports, task: Task, bill: Bill) -> Rendering:
    gone = Happening(event=Event.GIVEN_BACK, code=STOPPED)
    books = closed(ports, task, "given-back", charged=bill.answers > 0) if bill.noted else None
    given = isinstance(report(ports, task, gone, books), Applied)
    return Rendering.GIVEN_BACK if given else Rendering.SUPERSEDED


def _affordable(ports: Ports, task: Task) -> bool:
    provider = ports.providers[task.provider]
    if not isinstance(provider, Model):
        return True
    return ports.budgets.take(f"{provider.name}-submit", provider.submits_per_minute)


def _produce(
    ports: Ports, task: Task, workdir: Path, tending: Tending, bill: Bill
) -> Rendered | Refused | Failed | Unknown:
    ordered = ports.store.input(TaskRef(account=task.account, id=task.id))
    if ordered is None:
        return Refused(code="order-missing", reason="The order's details are gone. Order it again.")
    tending.make_sure()
    source, kind = workdir / "source", ports.kinds[task.kind]
    missing = obtained(ports, task, ordered, source, tending)
    if missing is not None:
        return missing
    outcome: Rendered | Refused | Failed | Unknown
    if kind.asking is not None:
        outcome = analysed(ports, task, ordered, source, tending, bill)
    else:
        provider = ports.providers[task.provider]
        if not isinstance(provider, BuiltIn):
            raise TypeError(f"{task.provider} does not render here")
        out = workdir / f"output.{kind.makes.extension}"
        outcome = ports.workshop.render(
            provider, source, out, ordered["order"], tending.on_progress
        )
    if isinstance(outcome, Rendered) and kind.runs is Runs.WORKER:
        tending.look()
        outcome = inspected(ports, task, ordered["promise"], outcome, workdir)
    if isinstance(outcome, Rendered):
        tending.look()
        ports.media.put(outcome.path, output_key_of(ports, task), content_type=outcome.content_type)
    return outcome


def _record(
    ports: Ports, task: Task, outcome: Rendered | Refused | Failed | Unknown, bill: Bill
) -> Rendering:
    match outcome:
        case Rendered():
            result = Rendering.RENDERED
            happening = Happening(event=Event.RENDERED, output_key=output_key_of(ports, task))
        case Refused():
            result = Rendering.REFUSED
            happening = Happening(event=Event.REFUSED, code=outcome.code, reason=outcome.reason)
        case Failed():
            result = Rendering.FAILED
            happening = Happening(
                event=Event.ATTEMPT_FAILED, code=outcome.code, reason=outcome.reason
            )
        case Unknown():
            result = Rendering.UNKNOWN
            happening = Happening(event=Event.UNANSWERED, code="answer-lost")
        case _:
            assert_never(outcome)
    if isinstance(report(ports, task, happening, _closed(ports, task, result, bill)), Applied):
        return result
    if isinstance(outcome, Rendered):
        ports.store.put_late(task, output_key_of(ports, task), ports.clock.now())
        ports.metrics.count("LateResult", kind=task.kind, account=task.account, task=task.id)
    return Rendering.SUPERSEDED


def _closed(ports: Ports, task: Task, result: Rendering, bill: Bill) -> Attempt | None:
    """Close the books of an attempt that asked a model. A lost answer stays possible spend."""
    if not isinstance(ports.providers[task.provider], Model) or result is Rendering.UNKNOWN:
        return None
    outcome = "succeeded" if result is Rendering.RENDERED else "failed"
    return closed(ports, task, outcome, charged=bill.answers > 0)
