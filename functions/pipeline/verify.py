"""Verify: look at the output, not at anyone's word for it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from functions.domain.errors import InspectionFailed
from functions.domain.kinds import Promise, Runs
from functions.domain.media import mended_key, thumbnail_key
from functions.domain.ports import Ports
from functions.domain.states import TaskState
from functions.domain.tasks import Output, Task
from functions.domain.tickets import TaskRef
from functions.domain.verdicts import Inspected, NotVerified, Ruling, Verdict
from functions.pipeline.inspect import MISSING, word_about


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What settling needs to know. `output` is there exactly when the file may be delivered."""

    ruling: Ruling
    code: str
    reason: str
    lease: str | None = None  # whose output was looked at
    output: Output | None = None


def verify(ports: Ports, ref: TaskRef, attempt: int, workdir: Path) -> Finding | None:
    """Inspect an attempt's output; None if the task is no longer waiting for that."""
    task = ports.store.get(ref)
    if task is None or task.state is not TaskState.VERIFYING or task.attempt != attempt:
        return None
    if ports.kinds[task.kind].runs is Runs.WORKER:
        return _looked_up(ports, task)
    path = workdir / "output.mp4"
    if task.output_key is None or not ports.media.fetch(task.output_key, path):
        return _found(ports, task, MISSING, None)
    ordered = ports.store.input(ref) or {}
    inspected = ports.inspector.inspect(
        path, Promise(**ordered["promise"]), kind=task.kind, workdir=workdir
    )
    if isinstance(inspected, NotVerified):
        raise InspectionFailed(inspected.reason)
    return _found(ports, task, inspected.verdict, _stored(ports, task, inspected))


def _looked_up(ports: Ports, task: Task) -> Finding:
    """Take the worker's word, which lies beside the file and was put there before it."""
    key = task.output_key or ""
    verdict, thumbnails = word_about(ports, key)
    return _found(ports, task, verdict, _output(ports, task, key, verdict, thumbnails))


def _stored(ports: Ports, task: Task, inspected: Inspected) -> Output | None:
    facts = inspected.verdict.facts
    if inspected.verdict.ruling is Ruling.REJECT or facts is None or task.output_key is None:
        return None
    key = task.output_key
    if inspected.mended:
        key = mended_key(task.account, task.id, task.attempt, facts.sha256)
        ports.media.put(inspected.path, key, content_type="video/mp4")
    for thumbnail in inspected.thumbnails:
        ports.media.put(thumbnail, thumbnail_key(key, thumbnail.name), content_type="image/jpeg")
    return _output(ports, task, key, inspected.verdict, len(inspected.thumbnails))


def _output(ports: Ports, task: Task, key: str, verdict: Verdict, thumbnails: int) -> Output | None:
    facts = verdict.facts
    if verdict.ruling is Ruling.REJECT or facts is None:
        return None
    lifetime = timedelta(seconds=ports.kinds[task.kind].limits.result_seconds)
    return Output(
        key=key,
        content_type=ports.kinds[task.kind].makes.content_type,
        size_bytes=facts.size_bytes,
        sha256=facts.sha256,
        seconds=facts.seconds,
        width=facts.width,
        height=facts.height,
        codec=facts.codec,
        expires_at=ports.clock.now() + lifetime,
        thumbnails=thumbnails,
    )


def _found(ports: Ports, task: Task, verdict: Verdict, output: Output | None) -> Finding:
    ports.store.put_report(task, verdict)
    ports.metrics.count("Verdict", kind=task.kind, ruling=verdict.ruling)
    return Finding(
        ruling=verdict.ruling,
        code=verdict.code,
        reason=verdict.reason,
        lease=task.lease,
        output=output,
    )
