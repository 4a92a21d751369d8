"""Render: claim an attempt under a lease, make the file, put it into our bucket, say so."""

from enum import StrEnum
from pathlib import Path
from typing import assert_never

from functions.domain.kinds import Runs
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.ports import Ports
from functions.domain.providers import BuiltIn
from functions.domain.results import Applied
from functions.domain.states import Event
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.work import Errand
from functions.pipeline.advance import report
from functions.pipeline.claim import claim, claimable, output_key_of
from functions.pipeline.inspect import inspected
from functions.pipeline.tend import CutShort, LeaseLost, StayOver, Tending


class Rendering(StrEnum):
    """How a ticket ended."""

    RENDERED = "rendered"
    FAILED = "attempt-failed"
    REFUSED = "refused"
    GIVEN_BACK = "given-back"  # the worker had to go; the next one begins anew
    SKIPPED = "skipped"  # not this attempt's time, or somebody else's
    SUPERSEDED = "superseded"  # the lease was lost on the way; the result counts for nothing


def render(ports: Ports, ticket: Ticket, workdir: Path, errand: Errand | None = None) -> Rendering:
    """Work one ticket off. Every write names the attempt and the lease it was claimed under."""
    waiting = claimable(ports, ticket)
    task = claim(ports, waiting) if waiting else None
    if task is None:
        return Rendering.SKIPPED
    tending = Tending(ports, task, workdir, errand)
    try:
        with ports.heartbeat(tending.beat, ports.kinds[task.kind].limits.heartbeat_seconds):
            outcome = _produce(ports, task, workdir, tending)
    except LeaseLost:
        return Rendering.SUPERSEDED
    except CutShort as short:
        outcome = short.failed
    except StayOver:
        gone = Happening(event=Event.GIVEN_BACK, code="worker-stopped")
        given = isinstance(report(ports, task, gone), Applied)
        return Rendering.GIVEN_BACK if given else Rendering.SUPERSEDED
    return _record(ports, task, outcome)


def _produce(
    ports: Ports, task: Task, workdir: Path, tending: Tending
) -> Rendered | Refused | Failed:
    ordered = ports.store.input(TaskRef(account=task.account, id=task.id))
    if ordered is None:
        return Refused(code="order-missing", reason="The order's details are gone. Order it again.")
    source, out = workdir / "source", workdir / "output.mp4"
    if not ports.media.fetch(ordered["source"], source, etag=ordered["etag"]):
        return Refused(
            code="source-changed",
            reason="The uploaded source was replaced or removed after the order. Order it again.",
        )
    provider = ports.providers[task.provider]
    if not isinstance(provider, BuiltIn):
        raise TypeError(f"{task.provider} does not render here")
    outcome = ports.workshop.render(provider, source, out, ordered["order"], tending.on_progress)
    if isinstance(outcome, Rendered) and ports.kinds[task.kind].runs is Runs.WORKER:
        tending.look()
        outcome = inspected(ports, task, ordered["promise"], outcome, workdir)
    if isinstance(outcome, Rendered):
        tending.look()
        ports.media.put(outcome.path, output_key_of(task), content_type=outcome.content_type)
    return outcome


def _record(ports: Ports, task: Task, outcome: Rendered | Refused | Failed) -> Rendering:
    match outcome:
        case Rendered():
            result = Rendering.RENDERED
            happening = Happening(event=Event.RENDERED, output_key=output_key_of(task))
        case Refused():
            result = Rendering.REFUSED
            happening = Happening(event=Event.REFUSED, code=outcome.code, reason=outcome.reason)
        case Failed():
            result = Rendering.FAILED
            happening = Happening(
                event=Event.ATTEMPT_FAILED, code=outcome.code, reason=outcome.reason
            )
        case _:
            assert_never(outcome)
    if isinstance(report(ports, task, happening), Applied):
        return result
    if isinstance(outcome, Rendered):
        ports.store.put_late(task, output_key_of(task), ports.clock.now())
        ports.metrics.count("LateResult", kind=task.kind, account=task.account, task=task.id)
    return Rendering.SUPERSEDED
