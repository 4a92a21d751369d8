"""A paid model in a simulated run: its real code over its stand-in's wire, without sockets.

Each request is a numbered call like those to AWS, and can be broken as they can. What was asked
and what the stand-in would bill is held against what was written down, and what was kept.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import httpx

from functions.adapters.model_calls import ModelCallsOverHttp
from functions.adapters.secrets_manager import SecretsManager
from functions.domain.attempts import Attempt
from functions.domain.exchange import HttpReply
from functions.domain.models import Answered, Asked, Model, Unusable
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.kinds.video_analysis import KIND
from functions.pipeline.ask import TRUNCATED
from functions.pipeline.intake import digest
from functions.pipeline.tend import StayOver
from functions.providers.gemini import PROVIDER
from local.fakes.gemini import Gemini
from local.fakes.saying import Saying, Says
from local.fakes.vendor import Request
from tests.analysis.films import header_of, viewing
from tests.doubles.models import ScriptedViewer
from tests.doubles.world import FixedClock
from tests.simulation.cloud import Cloud
from tests.simulation.faults import Call, Fault, ProcessDied, Reply, Unanswered, Unreachable
from tests.simulation.provider import PER_MINUTE, attempts_of
from tests.simulation.wire import TOO_MANY, client, reply_of

SECONDS = 20.0
VIDEO = header_of(seconds=SECONDS)
NAME_CHARACTERS = 12  # of a question's digest, as it is noted
UNHEARD = frozenset({Fault.NEVER_ARRIVED, Fault.ANSWER_LOST, Fault.DIED_AFTER, Fault.STOPPED_AFTER})
DIED, STOPPED, TROUBLED = "render died", "render stopped", "render ended in "  # in the town's log
STOPS = frozenset({Fault.STOPPED_BEFORE, Fault.STOPPED_AFTER})


@dataclass(slots=True)
class Question:
    """One question as it left, or was lost on the way."""

    cycle: int
    attempt: int
    name: str
    fate: Fault | None
    said: Asked | None = None  # heard or not
    billed: bool = False

    @property
    def heard(self) -> bool:
        """Whether our side has what was said."""
        return self.fate is None

    @property
    def harmless(self) -> bool:
        """Whether our side knows that no good answer is to be had from it any more."""
        turned_away = self.fate in (Fault.NO_CONNECTION, Fault.THROTTLED)
        return turned_away or (self.heard and not isinstance(self.said, Answered))


class ByAnswer(Gemini):
    """The stand-in, whose scripts are for its answers: a clip that is not asked about uses none."""

    def next_saying(self) -> Saying:
        return self.sayings[0] if self.sayings else self.saying

    def reply(self, asked: Any, saying: Saying) -> Any:
        return super().reply(asked, self.sayings.pop(0) if self.sayings else saying)


class CuttingViewer(ScriptedViewer):
    """Sees the same video always, in parts as long as they are wanted."""

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Callable[[int, int], None],
    ) -> Rendered | Refused | Failed:
        self.seen = viewing_in(order["diet"]["part_seconds"])
        return ScriptedViewer.render(self, provider, source, out, order, on_progress)


def viewing_in(part_seconds: int) -> dict[str, Any]:
    """See the video in parts."""
    starts = [number * part_seconds for number in range(ceil(SECONDS / part_seconds))]
    return viewing(
        parts=[
            {"file": f"part-{start}.mp4", "start": start, "end": min(start + part_seconds, SECONDS)}
            for start in starts
        ]
    )


@dataclass(slots=True)
class AskedModel:
    """The model, and the way to it. `meanwhile` happens while an answer travels."""

    cloud: Cloud
    clock: FixedClock
    provider: Model
    vendor: Gemini
    viewer: CuttingViewer = field(default_factory=CuttingViewer)
    questions: list[Question] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)
    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    @classmethod
    def opened(
        cls, cloud: Cloud, clock: FixedClock, part_seconds: int, *sayings: Saying
    ) -> "AskedModel":
        """Open it for one run. All answers after the last script's are good."""
        vendor = ByAnswer(clock=lambda: clock.now().timestamp())
        vendor.address, vendor.sayings = PROVIDER.base_url, list(sayings)
        diet = replace(PROVIDER.diet, part_seconds=part_seconds)
        provider = replace(PROVIDER, diet=diet, submits_per_minute=PER_MINUTE)
        model = cls(cloud=cloud, clock=clock, provider=provider, vendor=vendor)
        cloud.beside = model
        return model

    def calls(self, secrets: SecretsManager) -> "WiredModelCalls":
        """Reach it from a process that has just been started, and remembers nothing."""
        return WiredModelCalls(self, secrets)

    def snapshot(self) -> Any:
        """Copy what the model knows, and what was seen of its work."""
        made = self.vendor
        return copy.deepcopy(
            (made.clips, made.uploads, made.sayings, made.billed, self.questions, self.wrongs)
        )

    def restore(self, held: Any) -> None:
        """Go back to a copy, leaving the copy as it is."""
        made, back = self.vendor, copy.deepcopy(held)
        made.clips, made.uploads, made.sayings, made.billed, self.questions, self.wrongs = back

    def passed(self, request: Request) -> Reply:
        """Send a request, and get its answer if it has one."""
        call = Call(service=self.provider.name, operation=_operation(request))
        reply = self.cloud.breaker.passed(call, b"", lambda fault: self._outcome(request, fault))
        if call.operation == "Ask" and self.meanwhile:
            self.meanwhile.pop(0)()
        return reply

    def _outcome(self, request: Request, fault: Fault | None) -> Reply:
        if fault is Fault.DIED_BEFORE:
            raise ProcessDied
        if fault is Fault.STOPPED_BEFORE:
            raise StayOver
        question = self._asked(request, fault) if _operation(request) == "Ask" else None
        if fault is Fault.NO_CONNECTION:
            raise Unreachable
        if fault is Fault.NEVER_ARRIVED:
            raise Unanswered
        if fault is Fault.THROTTLED:
            return reply_of(self.vendor.refusal(TOO_MANY))
        reply = self._answered(request, question)
        if fault is Fault.DIED_AFTER:
            raise ProcessDied
        if fault is Fault.STOPPED_AFTER:
            raise StayOver
        if fault is Fault.ANSWER_LOST:
            raise Unanswered
        return reply

    def _answered(self, request: Request, question: Question | None) -> Reply:
        billed = self.vendor.billed
        reply = reply_of(self.vendor.answer(request))
        if question is not None:
            status, headers, body = reply
            read = HttpReply(status=status, headers=headers, body=body)
            question.said = self.provider.answered(read, self.clock.now())
            question.billed = self.vendor.billed > billed
        return reply

    def _asked(self, request: Request, fault: Fault | None) -> Question:
        """Hold a question against the books: none may be asked while another may be answered."""
        parts = request.json()["contents"][0]["parts"]
        prompt = "".join(part.get("text", "") for part in parts)
        name = digest(prompt)[:NAME_CHARACTERS]
        attempts = attempts_of(self.cloud.items())
        noted = next(
            (one for one in attempts if _names(one.job, name) and one.outcome is None), None
        )
        if noted is None:
            self.wrongs.append(f"question {name} was asked and not noted")
        asked = Question(
            cycle=noted.cycle if noted else 0,
            attempt=noted.number if noted else 0,
            name=name,
            fate=fault,
        )
        for earlier in self.questions:
            if earlier.cycle == asked.cycle and not self._is_over(earlier, attempts):
                what = f"question {earlier.name} of attempt {earlier.attempt}"
                self.wrongs.append(f"asked while {what} may be answered")
        if self._is_kept(asked):
            self.wrongs.append(f"question {name} was asked although its answer is kept")
        self.questions.append(asked)
        return asked

    def _is_kept(self, question: Question) -> bool:
        end = f"-{question.name}.json"
        there = f"/answer-{question.cycle}-"
        return any(there in key and key.endswith(end) for key in self.cloud.files())

    def _is_over(self, question: Question, attempts: Iterable[Attempt]) -> bool:
        """Whether its answer is kept, or it is written down that there is none."""
        return self._is_kept(question) or (
            question.harmless
            and any(
                (one.cycle, one.number) == (question.cycle, question.attempt) and one.outcome
                for one in attempts
            )
        )

    def state(self) -> list[Any]:
        """Say how far it is; equal states have equal futures."""
        asked = [
            [one.cycle, one.attempt, one.name, one.fate, type(one.said).__name__, one.billed]
            for one in self.questions
        ]
        return [asked, len(self.vendor.sayings), len(self.meanwhile), self.wrongs]

    def violations(self, attempts: Sequence[Attempt]) -> list[str]:
        """List what must never be wrong between what was written down, kept and billed."""
        found = list(self.wrongs)
        for attempt in attempts:
            found += self._closing(attempt)
        good = [(one.cycle, one.name) for one in self.questions if isinstance(one.said, Answered)]
        found += [f"question {name} was answered twice" for name in _twice(good)]
        may_bill = [one for one in attempts if one.charged is not False]
        most = len(may_bill) * len({one.name for one in self.questions})
        billed = sum(one.billed for one in self.questions)
        if billed > most:
            found.append(f"{billed} billed where {most} may be")
        return found

    def _closing(self, attempt: Attempt) -> Iterator[str]:
        """An attempt says that it was charged if an answer came, and waits where one was lost."""
        if attempt.outcome is None:
            return
        mine = [
            one
            for one in self.questions
            if (one.cycle, one.attempt) == (attempt.cycle, attempt.number)
        ]
        closed = f"attempt {attempt.number} is {attempt.outcome}"
        for one in mine:
            if not self._is_kept(one) and not one.harmless:
                yield f"{closed}, and the answer to {one.name} is lost"
        came = any(one.heard and isinstance(one.said, Answered | Unusable) for one in mine)
        if attempt.charged is not came:
            yield f"{closed}, charged {attempt.charged}, answers came: {came}"

    def verdict(self, task: Task, attempts: Sequence[Attempt], log: Sequence[str]) -> list[str]:
        """List what is wrong at the end: what was answered is delivered if we can know of it."""
        still = [one.number for one in attempts if one.outcome is None]
        if task.state is TaskState.DELIVERED:
            found = [f"delivered, and attempt {number} is open" for number in still]
            assert task.output is not None
            if self.cloud.content(task.output.key) != self._composed(task):
                found.append("delivered another document than was composed")
            return found
        if task.code != "answer-lost":
            return [f"failed for {task.code}"]
        if still != [task.attempt]:
            return [f"an answer is lost, and open are attempts {still}"]
        excused = self.excuses(log) or any(one.fate in UNHEARD for one in self.questions)
        return [] if excused else ["failed although every answer came"]

    def excuses(self, log: Sequence[str]) -> list[str]:
        """List how processes were lost that may have known more than was written down."""
        plan = self.cloud.breaker.plan
        found = [how for how in (DIED, STOPPED) if how in log]
        found += sorted({Fault.CONTENDED, *STOPS} & set(plan.values()))
        if len(plan) > 1:  # what fails once is tried again
            found += [TROUBLED] if any(line.startswith(TROUBLED) for line in log) else []
        return found

    def _composed(self, task: Task) -> bytes:
        """Write the document from what the model said, whoever kept it."""
        cut = any(step.reason == TRUNCATED for step in task.history)
        part_seconds = self.provider.diet.part_seconds // (2 if cut else 1)
        seen, asking = viewing_in(part_seconds), KIND.asking
        assert asking is not None
        order = {"seconds": SECONDS, "language": "en", "provider": task.provider, "hears": True}
        said = {one.name: one.said for one in self.questions if isinstance(one.said, Answered)}
        names = [
            digest(asking.question(seen, number, order))[:NAME_CHARACTERS]
            for number in range(len(seen["parts"]))
        ]
        if missing := [name for name in names if name not in said]:
            return f"never answered: {missing}".encode()
        return asking.result(seen, [said[name] for name in names], order, self.provider, None)


class WiredModelCalls(ModelCallsOverHttp):
    """Provides `ModelCalls`: the real one, whose connections lead to the model."""

    def __init__(self, model: AskedModel, secrets: SecretsManager) -> None:
        clock = model.clock
        super().__init__(
            secrets,
            clock,
            sleep=lambda seconds: clock.forward(seconds=seconds),
            elapsed=lambda: clock.now().timestamp(),
        )
        self._model = model

    def _client(self) -> httpx.Client:
        return client(self._model.passed)


CUT_SHORT = Saying(says=Says.TRUNCATED)


def _operation(request: Request) -> str:
    if request.path.startswith("/upload/"):
        return "Bytes" if request.query.get("upload_id") else "Open"
    if request.path.endswith(":generateContent"):
        return "Ask"
    return "Forget" if request.method == "DELETE" else "Look"


def _names(job: str | None, name: str) -> bool:
    return job is not None and job.endswith(f"-{name}")


def _twice(asked: Sequence[tuple[int, str]]) -> list[str]:
    return sorted({name for cycle, name in asked if asked.count((cycle, name)) > 1})
