"""The composition root of a simulated run: real adapters, and chance and time under control."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property

from functions.adapters.dynamodb_audit import DynamoAuditStore
from functions.adapters.dynamodb_budgets import DynamoBudgets
from functions.adapters.dynamodb_durations import DynamoDurations
from functions.adapters.dynamodb_store import DynamoTaskStore
from functions.adapters.s3_media import S3MediaStore
from functions.adapters.secrets_manager import SecretsManager
from functions.adapters.sqs_queue import SqsQueue
from functions.adapters.workflow import SettleWorkflow
from functions.bootstrap import AwsPorts, Settings
from functions.domain.errors import TallyreelError
from functions.domain.models import ModelCalls
from functions.domain.ports import (
    Attended,
    Budgets,
    Heartbeat,
    Metrics,
    ProviderCalls,
)
from functions.domain.providers import Provider
from functions.domain.rules import Rules
from functions.domain.stores import DurationStore
from functions.domain.tasks import Route
from functions.providers.local import PROVIDER as LOCAL
from tests.contracts.conftest import TABLE
from tests.doubles.world import CountingMetrics, FixedClock, SeededIds, at_once
from tests.simulation.actors import ScriptedInspector, ScriptedRenderer
from tests.simulation.cloud import BUCKET, SECRETS, Cloud
from tests.simulation.model import AskedModel
from tests.simulation.provider import Market

HOOK_BASE = "https://api.example"


class SteadyIds(SeededIds):
    """Provides `Ids` whose names are random and whose delays are not."""

    def jitter(self) -> float:
        return 0.5


class TownPorts(AwsPorts):
    """The composition root, with time, chance and the makers of files under control."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(Settings(environment=cloud.settings()))
        self._cloud = cloud
        self.at = FixedClock()
        self.beat: Callable[[], bool] = lambda: True  # of the render that runs
        self.renderer = ScriptedRenderer()
        self.judge = ScriptedInspector()
        self.clock = self.at
        self.inspector = self.judge
        self.ids = SteadyIds(chance=random.Random(7))
        self.rules = Rules(shards=1)
        self.providers: dict[str, Provider] = {"motion": self.renderer.provider()}
        self.market: Market | None = None
        self.model: AskedModel | None = None
        self.begin()

    def begin(self) -> None:
        """Be a process that has just been started, and remembers nothing."""
        client = self._cloud.clients["secretsmanager"]
        self._secrets = SecretsManager(client, {name: name for name in SECRETS})

    def buy_from(self, market: Market) -> None:
        """Let clips be bought."""
        name = market.provider.name
        routes = {"image_to_video": (Route(provider=name, lane="submit"),)}
        self.market = market
        self.providers[name] = market.provider
        self.rules = Rules(shards=1, hook_base=HOOK_BASE, routes=routes)

    @property
    def remote(self) -> ProviderCalls:
        """Nothing is remembered from one process to the next: each reads its secret anew."""
        assert self.market is not None
        client = self._cloud.clients["secretsmanager"]
        return self.market.calls(SecretsManager(client, {name: name for name in SECRETS}))

    def ask(self, model: AskedModel) -> None:
        """Let a model be asked about videos, which are looked at by script."""
        name = model.provider.name
        self.model = model
        self.workshop = model.viewer
        self.providers |= {name: model.provider, "local": LOCAL}
        routes = {"video_analysis": (Route(provider=name, lane="video_analysis"),)}
        self.rules = Rules(shards=1, routes=routes)

    @property
    def models(self) -> ModelCalls:
        assert self.model is not None
        return self.model.calls(self._secrets)

    @property
    def attended(self) -> Attended:
        return at_once

    @cached_property
    def budgets(self) -> Budgets:
        return DynamoBudgets(self._cloud.clients["dynamodb"], TABLE, self.clock)

    @cached_property
    def durations(self) -> DurationStore:
        return DynamoDurations(self._cloud.clients["dynamodb"], TABLE)

    @cached_property
    def metrics(self) -> Metrics:
        return CountingMetrics()

    @property
    def heartbeat(self) -> Heartbeat:
        return self._one_beat

    @contextmanager
    def _one_beat(self, beat: Callable[[], bool], seconds: float) -> Iterator[None]:
        """Provide `Heartbeat`: one beat, and more when a script wants them."""
        assert seconds > 0
        self.beat = beat
        with suppress(TallyreelError):  # as in a thread: the next beat may succeed
            beat()
        yield

    @cached_property
    def store(self) -> DynamoTaskStore:
        return DynamoTaskStore(
            self._cloud.clients["dynamodb"],
            TABLE,
            shards=self.rules.shards,
            open_max=self.rules.open_max,
            pause=lambda _seconds: None,
        )

    @cached_property
    def auditing(self) -> DynamoAuditStore:
        return DynamoAuditStore(self._cloud.clients["dynamodb"], TABLE)

    @cached_property
    def media(self) -> S3MediaStore:
        return S3MediaStore(self._cloud.clients["s3"], BUCKET)

    @cached_property
    def queue(self) -> SqsQueue:
        return SqsQueue(self._cloud.clients["sqs"], self._cloud.queues, self._cloud.graves)

    @cached_property
    def workflow(self) -> SettleWorkflow:
        return SettleWorkflow(self._cloud.clients["stepfunctions"], self._cloud.workflow_arn)
