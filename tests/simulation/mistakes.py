"""Mistakes made on purpose in the stages, each of which the search must find."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from functions.adapters.s3_media import S3MediaStore
from functions.domain.attempts import Attempt
from functions.domain.jobs import Fetched, NotSent, RenderOrder, Submitted, Unknown
from functions.domain.models import Asked, Model, Question
from functions.domain.ports import Ports
from functions.domain.providers import Remote
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.verdicts import Ruling
from functions.entrypoints.http.models import ResultView
from functions.entrypoints.http.problems import NOT_FOUND
from functions.entrypoints.http.views import result_view
from functions.pipeline import ask, check, claim, render, sweep
from functions.pipeline.advance import advance
from functions.pipeline.spend import closed
from functions.pipeline.verify import Finding
from tests.factories import OUTPUT
from tests.providers.stage import CLIP
from tests.simulation.cloud import Cloud
from tests.simulation.model import WiredModelCalls
from tests.simulation.provider import WiredCalls
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.search import Search

Patch = AbstractContextManager[Any]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is done wrong, in which scenario it must be seen, and how it is made."""

    what: str
    scenario: str
    made: Callable[[], tuple[Patch, ...]]


def _claim_alone(ports: Ports, task: Task, _attempt: Attempt | None = None) -> Task | None:
    return claim.claim(ports, task)


_submit = WiredCalls.submit


def _sure(self: WiredCalls, provider: Remote, order: RenderOrder) -> Submitted:
    result = _submit(self, provider, order)
    return NotSent(cause="lost") if isinstance(result, Unknown) else result


def _twice(self: WiredCalls, provider: Remote, order: RenderOrder) -> Submitted:
    result = _submit(self, provider, order)
    return _submit(self, provider, order) if isinstance(result, Unknown) else result


def _impatient(ports: Ports, task: Task) -> Any:
    return advance(ports, task, Happening(event=Event.ATTEMPT_FAILED, code="silent"))


def _later(ports: Ports, ticket: Ticket) -> Any:
    task = ports.store.get(TaskRef(account=ticket.account, id=ticket.id))
    if ticket.lease and task and task.state is TaskState.RENDERING and task.job is None:
        return None
    return check.answer(ports, ticket)


def _half(_self: WiredCalls, _provider: Remote, _output: Any, path: Path) -> Fetched:
    path.write_bytes(CLIP[: len(CLIP) // 2])
    return Fetched(size_bytes=1, sha256="", content_type="video/mp4")


def _blind(ports: Ports, ref: TaskRef, attempt: int, _workdir: Path) -> Finding | None:
    """Take the inspector's word without a file."""
    task = ports.store.get(ref)
    if task is None or task.state is not TaskState.VERIFYING or task.attempt != attempt:
        return None
    output = replace(OUTPUT, key=task.output_key or "")
    return Finding(ruling=Ruling.ACCEPT, code="ok", reason="", lease=task.lease, output=output)


def _timeless(ports: Ports, task: Task, *, now: datetime) -> ResultView | None:
    return result_view(ports, task, now=min(now, task.created_at))


def _asked_unnoted() -> tuple[Patch, ...]:
    notes: list[tuple[Any, str]] = []
    note, ask_model = ask._note, WiredModelCalls.ask  # noqa: SLF001 - done at the wrong time

    def first(self: WiredModelCalls, model: Model, question: Question) -> Asked:
        said = ask_model(self, model, question)
        note(*notes.pop())
        return said

    return (
        patch("functions.pipeline.ask._note", lambda *given: notes.append(given)),
        patch.object(WiredModelCalls, "ask", first),
    )


_ask = WiredModelCalls.ask


def _unheard(self: WiredModelCalls, model: Model, question: Question) -> Asked:
    said = _ask(self, model, question)
    return NotSent(cause="lost") if isinstance(said, Unknown) else said


def _kept_late() -> tuple[Patch, ...]:
    waiting: list[Callable[[], None]] = []
    keep, record, put = ask._kept, render._record, S3MediaStore.put_bytes  # noqa: SLF001

    def puts(media: S3MediaStore, *given: Any, **named: Any) -> None:
        waiting.append(partial(put, media, *given, **named))

    def kept(*given: Any) -> Any:
        with patch.object(S3MediaStore, "put_bytes", puts):
            return keep(*given)

    def recorded(*given: Any) -> Any:
        result = record(*given)
        while waiting:
            waiting.pop()()
        return result

    return (
        patch("functions.pipeline.ask._kept", kept),
        patch("functions.pipeline.render._record", recorded),
    )


_read = S3MediaStore.read


def _answerless(media: S3MediaStore, key: str, **named: Any) -> bytes | None:
    return None if "/answer-" in key else _read(media, key, **named)


def _free(*given: Any, **named: Any) -> Attempt | None:
    return closed(*given, **named | {"charged": False})


def _town(**names: Any) -> tuple[Patch, ...]:
    return tuple(patch(f"tests.simulation.town.{name}", to) for name, to in names.items())


MISTAKES = (
    Mistake(
        "attempt not written down before the submit",
        "webhook",
        lambda: (patch("functions.pipeline.submit.claim", _claim_alone),),
    ),
    Mistake(
        "lost answer taken for not sent",
        "webhook",
        lambda: (patch.object(WiredCalls, "submit", _sure),),
    ),
    Mistake(
        "submit repeated when its answer is lost",
        "webhook",
        lambda: (patch.object(WiredCalls, "submit", _twice),),
    ),
    Mistake(
        "silent provider taken for failed",
        "webhook_lost",
        lambda: (patch.dict(sweep.REMEDIES, {TaskState.RENDERING: _impatient}),),
    ),
    Mistake("webhook accepted only after the submit mark", "webhook", lambda: _town(answer=_later)),
    Mistake(
        "webhook not kept",
        "webhook",
        lambda: (patch.object(S3MediaStore, "put_bytes", lambda *_, **__: None),),
    ),
    Mistake(
        "attempt left open when its result came",
        "webhook",
        lambda: (patch("functions.pipeline.check.closed", lambda *_, **__: None),),
    ),
    Mistake(
        "a part of the file taken for the whole",
        "webhook",
        lambda: (patch.object(WiredCalls, "download", _half),),
    ),
    Mistake(
        "settled without fetch and verify",
        "webhook",
        lambda: _town(fetch=lambda *_: "skipped", verify=_blind),
    ),
    Mistake("asked before it is noted", "asked", _asked_unnoted),
    Mistake(
        "a model's lost answer taken for none",
        "asked_answer_lost",
        lambda: (patch.object(WiredModelCalls, "ask", _unheard),),
    ),
    Mistake("answer kept only after the report", "asked", _kept_late),
    Mistake(
        "kept answer ignored",
        "asked_worker_dies_with_an_answer",
        lambda: (patch.object(S3MediaStore, "read", _answerless),),
    ),
    Mistake(
        "task given back while a model thinks",
        "asked_worker_stopped",
        lambda: (patch.object(ask.Bill, "comes_to", property(lambda _: None, lambda *_: None)),),
    ),
    Mistake(
        "paid attempt closed as free",
        "asked",
        lambda: (patch("functions.pipeline.render.closed", _free),),
    ),
    Mistake(
        "purged task answered as unknown",
        "expiry",
        lambda: (patch("functions.entrypoints.http.task_routes.PURGED", NOT_FOUND),),
    ),
    Mistake(
        "link shown to an expired file",
        "expiry",
        lambda: (patch("functions.entrypoints.http.task_routes.result_view", _timeless),),
    ),
)


def caught(mistake: Mistake, cloud: Cloud, workdir: Path) -> str | None:
    """Make a mistake and search: say what is found first, if anything is."""
    scenario = next(each for each in SCENARIOS if each.name == mistake.scenario)
    with ExitStack() as stack:
        for each in mistake.made():
            stack.enter_context(each)
        wrongs = Search(cloud, scenario, workdir, depth=1, first_only=True).run().wrongs
    return wrongs[0].split("\n")[2].strip() if wrongs else None
