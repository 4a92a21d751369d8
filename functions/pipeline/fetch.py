"""Fetch: bring a provider's finished file into our bucket, before its lifetime ends there."""

from enum import StrEnum
from pathlib import Path

from functions.domain.errors import FetchFailed
from functions.domain.jobs import Fetched, JobState, RefusedAddress, TooLarge
from functions.domain.ports import Ports
from functions.domain.providers import Remote
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef
from functions.pipeline.advance import report

UNUSABLE = "The render service's file cannot be taken over."


class Fetching(StrEnum):
    """How it ended."""

    FETCHED = "fetched"
    ALREADY_HERE = "already-here"
    UNUSABLE = "unusable"
    SKIPPED = "skipped"


def fetch(ports: Ports, ref: TaskRef, attempt: int, workdir: Path) -> Fetching:
    """Download an attempt's output. A failed download repeats only the download."""
    task = ports.store.get(ref)
    if task is None or task.state is not TaskState.VERIFYING or task.attempt != attempt:
        return Fetching.SKIPPED
    provider = ports.providers[task.provider]
    if not isinstance(provider, Remote) or task.job is None or task.output_key is None:
        return Fetching.SKIPPED
    if ports.media.head(task.output_key) is not None:
        return Fetching.ALREADY_HERE
    seen = ports.remote.observe(provider, task.job)  # for an address that is fresh
    if seen.state is not JobState.SUCCEEDED:
        raise FetchFailed(f"{provider.name} says {seen.state}")
    path = workdir / "output.mp4"
    got = ports.remote.download(provider, seen.outputs[0], path)
    match got:
        case Fetched():
            ports.media.put(path, task.output_key, content_type="video/mp4")
            return Fetching.FETCHED
        case TooLarge() | RefusedAddress():
            return _unusable(ports, task, type(got).__name__)
        case _:
            raise FetchFailed(type(got).__name__)


def _unusable(ports: Ports, task: Task, cause: str) -> Fetching:
    ports.metrics.count("OutputRefused", provider=task.provider, cause=cause)
    happening = Happening(event=Event.ATTEMPT_FAILED, code="output-unusable", reason=UNUSABLE)
    report(ports, task, happening)
    return Fetching.UNUSABLE
