"""Ask: have a model look at a video. Each part is one question, and each question is paid.

The video is viewed first: what can be measured is, and a model is sent no more than it looks at.
A good answer is kept in the bucket before anything else is done, so that it is paid once; that a
question is about to be asked is written down before it is, so that one whose answer was lost is
known, and not asked again.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, assert_never

from functions.domain.attempts import Attempt
from functions.domain.errors import OutcomeUnknown
from functions.domain.jobs import Failure, Job, NotSent, Rejected, Unknown
from functions.domain.kinds import Asking, Kind
from functions.domain.media import answer_key, length_slack, part_key
from functions.domain.models import (
    Answered,
    Clip,
    Diet,
    Listener,
    Model,
    Question,
    Shown,
    Transcript,
    Unusable,
    Usage,
)
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.ports import Ports
from functions.domain.providers import BuiltIn
from functions.domain.results import Applied
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import TaskRef
from functions.pipeline.advance import insisted, report
from functions.pipeline.intake import digest
from functions.pipeline.tend import LeaseLost, Tending

ANSWER_BYTES_MAX = 4 << 20
SMALLER = 2  # a question whose answer was cut short is asked again about parts this much shorter
TRUNCATED = "answer-truncated"
UNREACHED = Failed(code="provider-unreachable", reason="The analysis service could not be reached.")
CUT_SHORT = Refused(
    code="video-cut-short",
    reason="The video ends long before its header says, so its end is missing. Upload it anew.",
)
TOO_MUCH = Refused(
    code="answer-too-long",
    reason="There is more in this video than an analysis can say. Cut it into shorter ones.",
)

G = TypeVar("G", bound=Shown | Transcript)
Outcome = Rendered | Refused | Failed | Unknown


@dataclass(slots=True)
class Bill:
    """What an attempt's questions have come to. What is not written down, nobody else knows."""

    answers: int = 0  # that were given; each is charged
    noted: bool = False  # there is a question in the books
    comes_to: Refused | Failed | Unknown | None = None  # should it end now; None: to nothing yet


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """One attempt's conversation with a model."""

    ports: Ports
    task: Task
    model: Model
    listener: Listener | None
    diet: Diet  # in parts as long as it is asked about this time
    asking: Asking
    order: Mapping[str, Any]
    viewing: Mapping[str, Any]
    folder: Path
    tending: Tending
    bill: Bill


def analysed(
    ports: Ports,
    task: Task,
    ordered: Mapping[str, Any],
    source: Path,
    tending: Tending,
    bill: Bill,
) -> Outcome:
    """View the video, ask the model where one is to be asked, and write the document."""
    kind, provider = ports.kinds[task.kind], ports.providers[task.provider]
    asking = kind.asking
    if asking is None:
        raise TypeError(f"{kind.name} asks nobody")
    model = provider if isinstance(provider, Model) else None
    listener = _listener(ports, model)
    diet = _diet(task, model, listener) if model else None
    wanted = {
        "seconds": ordered["order"]["seconds"],
        "key_frames_max": len(kind.makes.pictures),
        "diet": asdict(diet) if diet else None,
    }
    out, viewer = source.parent / "viewing.json", _viewer(ports, asking)
    viewed = ports.workshop.render(viewer, source, out, wanted, tending.on_progress)
    if not isinstance(viewed, Rendered):
        return viewed
    viewing = json.loads(viewed.path.read_bytes())
    said = ordered["order"]["seconds"]
    if viewing["seconds"] < said - length_slack(said):
        return CUT_SHORT
    hears = model is not None and model.diet.sound
    order = {**ordered["order"], "provider": task.provider, "hears": hears}
    if model is None or diet is None:
        return _written(kind, viewed, asking.result(viewing, (), order, None, None), viewing)
    session = _Session(
        ports=ports,
        task=task,
        model=model,
        listener=listener if _is_heard(viewing) else None,
        diet=diet,
        asking=asking,
        order=order,
        viewing=viewing,
        folder=source.parent,
        tending=tending,
        bill=bill,
    )
    return _answered(session, kind, viewed)


def _answered(session: _Session, kind: Kind, viewed: Rendered) -> Outcome:
    """Have one good answer for each part, or say why there is none."""
    answers: list[Answered] = []
    for number in range(len(session.viewing["parts"])):
        answer = _answer(session, number)
        if not isinstance(answer, Answered):
            return answer
        answers.append(answer)
    document = session.asking.result(
        session.viewing, answers, session.order, session.model, session.listener
    )
    return _written(kind, viewed, document, session.viewing)


def _viewer(ports: Ports, asking: Asking) -> BuiltIn:
    """Name who looks at the video first."""
    viewer = ports.providers[asking.viewer]
    if not isinstance(viewer, BuiltIn):
        raise TypeError(f"{asking.viewer} does not look at videos here")
    return viewer


def _written(kind: Kind, viewed: Rendered, document: bytes, viewing: Mapping[str, Any]) -> Rendered:
    folder = viewed.path.parent
    path = folder / f"output.{kind.makes.extension}"
    path.write_bytes(document)
    frames = [folder / shot["key_frame"] for shot in viewing["shots"] if shot["key_frame"]]
    return replace(viewed, path=path, content_type=kind.makes.content_type, pictures=tuple(frames))


def answered(ports: Ports, task: Task) -> bool:
    """Whether the last question that an attempt asked has its answer in the bucket."""
    if task.job is None:
        return True
    return ports.media.head(_key(task, task.job.id)) is not None


def _listener(ports: Ports, model: Model | None) -> Listener | None:
    """Name who writes down what is said, where a model does not hear it."""
    if model is None or not model.listener:
        return None
    listener = ports.providers[model.listener]
    if not isinstance(listener, Listener):
        raise TypeError(f"{model.listener} does not listen")
    return listener


def _is_heard(viewing: Mapping[str, Any]) -> bool:
    return viewing["sound"] is not None and viewing["sound"]["heard_seconds"] > 0


def _diet(task: Task, model: Model, listener: Listener | None) -> Diet:
    """Show shorter parts once an answer was cut short."""
    diet = replace(model.diet, sound=model.diet.sound or listener is not None)
    cut = any(step.reason == TRUNCATED for step in task.history)
    return replace(diet, part_seconds=diet.part_seconds // SMALLER) if cut else diet


def _answer(session: _Session, number: int) -> Answered | Refused | Failed | Unknown:
    """Find the answer to the very question about one part, or ask it."""
    prompt = session.asking.question(session.viewing, number, session.order)
    name = f"{session.diet.part_seconds}-{number}-{digest(prompt)[:12]}"
    known = session.ports.media.read(_key(session.task, name), bytes_max=ANSWER_BYTES_MAX)
    if known is not None:
        kept = json.loads(known)
        return Answered(text=kept["text"], usage=Usage(**kept["usage"]))
    clip = _clip(session, number)
    heard = _heard(session, number, clip)
    if isinstance(heard, Refused | Failed):
        return heard
    shown = _shown(session, clip)
    if not isinstance(shown, Shown):
        return shown
    try:
        question = Question(shown=shown, prompt=prompt, schema=session.asking.schema())
        said = _asked(session, name, question)
        if isinstance(said, Answered):
            said = _kept(session, number, name, said, heard)
        session.bill.comes_to = None if isinstance(said, Answered) else said
        return said
    finally:
        session.ports.models.forget(session.model, shown)


def _clip(session: _Session, number: int) -> Clip:
    """Put a part where others may look at it."""
    ports, task, part = session.ports, session.task, session.viewing["parts"][number]
    path = session.folder / part["file"]
    key = part_key(task.account, task.id, task.attempt, task.lease or "", part["file"])
    ports.media.put(path, key, content_type="video/mp4")
    return Clip(
        data=path.read_bytes(), place=ports.media.place(key), seconds=part["end"] - part["start"]
    )


def _heard(session: _Session, number: int, clip: Clip) -> Transcript | Refused | Failed | None:
    """Have what is said written down; one name is one job, however often it is asked for."""
    ports, task, listener = session.ports, session.task, session.listener
    if listener is None:
        return None
    name = f"{task.id}-{task.cycle}-{session.diet.part_seconds}-{number}"
    return _had(session, lambda: ports.models.listen(listener, name, clip.place))


def _shown(session: _Session, clip: Clip) -> Shown | Refused | Failed:
    return _had(session, lambda: session.ports.models.show(session.model, clip))


def _had(session: _Session, call: Callable[[], G | Rejected | NotSent]) -> G | Refused | Failed:
    """Wait for what may be asked for again; without it this attempt ends."""
    given = session.ports.attended(call, session.tending.still_ours)
    if isinstance(given, Rejected):
        return _ended(given.failure)
    return UNREACHED if isinstance(given, NotSent) else given


def _asked(
    session: _Session, name: str, question: Question
) -> Answered | Refused | Failed | Unknown:
    ports, model, bill = session.ports, session.model, session.bill
    session.tending.stay_for(model.answer_seconds)
    _note(session, name)
    bill.comes_to = Unknown(cause="worker-stopped")
    said = ports.attended(lambda: ports.models.ask(model, question), session.tending.still_ours)
    match said:
        case Answered():
            bill.answers += 1
            return said
        case Unusable():
            bill.answers += 1
            shorter = session.diet.part_seconds < model.diet.part_seconds
            cut = said.failure.code == TRUNCATED
            return TOO_MUCH if cut and shorter else _ended(said.failure)
        case Rejected():
            return _ended(said.failure)
        case NotSent():
            return UNREACHED
        case Unknown():
            return said
        case _:
            assert_never(said)


def _note(session: _Session, name: str) -> None:
    """Write down what is about to be asked. From here on it may have to be paid."""
    ports, task = session.ports, session.task
    attempt = Attempt(
        cycle=task.cycle,
        number=task.attempt,
        provider=task.provider,
        at=ports.clock.now(),
        units=round(session.viewing["seconds"]),
        job=name,
    )
    asking = Happening(event=Event.ASKING, job=Job(id=name))
    session.bill.noted = True
    try:
        noted = isinstance(report(ports, task, asking, attempt), Applied)
    except OutcomeUnknown:  # nothing was asked yet: whether it is written down can be seen
        if not _is_noted(ports, task, name):
            raise
        return
    if not noted:
        raise LeaseLost


def _is_noted(ports: Ports, task: Task, name: str) -> bool:
    now = ports.store.get(TaskRef(account=task.account, id=task.id))
    ours = (TaskState.RENDERING, task.lease, name)
    return now is not None and (now.state, now.lease, now.job and now.job.id) == ours


def _kept(
    session: _Session, number: int, name: str, given: Answered, heard: Transcript | None
) -> Answered | Failed:
    """Keep a good answer; one that is not good is a failed attempt, never an empty success."""
    said = replace(given, text=session.asking.heard(given.text, heard)) if heard else given
    doubt = session.asking.doubt(said.text, session.viewing, number)
    if doubt is not None:
        return doubt
    content = json.dumps({"text": said.text, "usage": asdict(said.usage)}).encode()
    media, key = session.ports.media, _key(session.task, name)
    insisted(lambda: media.put_bytes(content, key, content_type="application/json"))
    return said


def _ended(failure: Failure) -> Refused | Failed:
    how = Failed if failure.again else Refused
    return how(code=failure.code, reason=failure.reason)


def _key(task: Task, question: str) -> str:
    return answer_key(task.account, task.id, task.cycle, question)
