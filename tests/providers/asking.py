"""A model wired to its stand-in over real HTTP, and a clip to ask about."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

from functions.adapters.model_calls import ModelCallsOverHttp
from functions.adapters.signing import RoleSigner
from functions.analysis.schema import answer_schema
from functions.domain.models import Asked, Clip, Model, Question, Shown
from functions.domain.providers import Secrets, configured
from functions.providers import load
from local.fakes import model as model_fake
from local.fakes.model import ModelVendor
from local.fakes.saying import Saying
from local.fakes.server import FakeServer
from tests.doubles.world import FixedClock

MODELS: dict[str, Model] = {
    name: provider for name, provider in load().items() if isinstance(provider, Model)
}
REGION = "eu-west-1"
SECONDS = 12.5
SHOTS = [
    {"number": 1, "start": 0.0, "end": 3.2},
    {"number": 2, "start": 3.2, "end": 9.0},
    {"number": 3, "start": 9.0, "end": 12.5},
]
PROMPT = f"Describe it. very-private\nSECONDS: {SECONDS}\nSHOTS: {json.dumps(SHOTS)}\n"
CLIP = Clip(data=bytes(range(256)) * 64, place="s3://films/views/1/part-1.mp4", seconds=SECONDS)
SCHEMA = answer_schema()


def question(shown: Shown) -> Question:
    return Question(shown=shown, prompt=PROMPT, schema=SCHEMA)


def session(**changes: Any) -> boto3.Session:
    given: dict[str, Any] = {
        "aws_access_key_id": "AKIATEST",
        "aws_secret_access_key": "very-secret-key",
        "aws_session_token": "very-secret-token",
        "region_name": REGION,
    }
    return boto3.Session(**(given | changes))


@dataclass(slots=True)
class Watch:
    """Time that passes when somebody sleeps."""

    at: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    def elapsed(self) -> float:
        return self.at


@dataclass(slots=True)
class Asking:
    model: Model
    fake: ModelVendor
    server: FakeServer
    clock: FixedClock
    watch: Watch = field(default_factory=Watch)

    @property
    def secrets(self) -> Secrets:
        return Secrets(values={k: tuple(v) for k, v in self.fake.secrets().items()})

    @property
    def calls(self) -> ModelCallsOverHttp:
        return ModelCallsOverHttp(
            lambda _name: self.secrets,
            self.clock,
            signer=RoleSigner(session()),
            sleep=self.watch.sleep,
            elapsed=self.watch.elapsed,
        )

    def shown(self, saying: Saying | None = None) -> Shown:
        if saying:
            self.fake.sayings.append(saying)
        shown = self.calls.show(self.model, CLIP)
        assert isinstance(shown, Shown), shown
        return shown

    def asked(self, saying: Saying | None = None) -> Asked:
        return self.calls.ask(self.model, question(self.shown(saying)))


@contextmanager
def asking(name: str, **options: Any) -> Iterator[Asking]:
    clock = FixedClock()
    fake = model_fake(name)(clock=lambda: clock.now().timestamp())
    with FakeServer(fake) as server:
        model = configured(MODELS[name], {**fake.options(), **options})
        yield Asking(model=model, fake=fake, server=server, clock=clock)
