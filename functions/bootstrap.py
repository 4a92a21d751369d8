"""Composition root: the one place that knows both the ports and what provides them.

Nothing is read or built at import; each part is built when it is first asked for, so that a
function only needs the settings and permissions of what it uses.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from functions import kinds, providers
from functions.adapters.clock import SystemClock, SystemIds
from functions.adapters.dynamodb_audit import DynamoAuditStore
from functions.adapters.dynamodb_budgets import DynamoBudgets
from functions.adapters.dynamodb_durations import DynamoDurations
from functions.adapters.dynamodb_items import task_of
from functions.adapters.dynamodb_keys import plain
from functions.adapters.dynamodb_progress import DynamoProgress
from functions.adapters.dynamodb_store import DynamoTaskStore
from functions.adapters.heartbeat import attended, thread_heartbeat
from functions.adapters.metrics import LogMetrics
from functions.adapters.s3_media import S3MediaStore
from functions.adapters.secrets_manager import SecretsManager
from functions.adapters.sqs_inbox import SqsInbox
from functions.adapters.sqs_queue import SqsQueue
from functions.adapters.stay import SignalledStay
from functions.adapters.workflow import SettleWorkflow
from functions.adapters.workshop import ChildWorkshop, InProcess
from functions.domain.kinds import Kind, Review
from functions.domain.models import ModelCalls
from functions.domain.ports import (
    Attended,
    Budgets,
    Clock,
    Heartbeat,
    Ids,
    Inspector,
    MediaStore,
    Metrics,
    Ports,
    ProviderCalls,
    RenderQueue,
    Web,
    Workflow,
)
from functions.domain.providers import Called, Provider, configured
from functions.domain.rules import Rules
from functions.domain.stores import AuditStore, DurationStore, ProgressStore, TaskStore
from functions.domain.tasks import Route, Task
from functions.domain.work import Inbox, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

# Answers come in milliseconds; a lost one must be noticed well within a function's time.
CLIENT = Config(
    connect_timeout=2,
    read_timeout=6,
    retries={"mode": "standard", "total_max_attempts": 4},
)
# Links name the bucket's own region: those without one are redirected outside us-east-1, and a
# page's upload cannot follow.
FILES = CLIENT.merge(
    Config(read_timeout=30, signature_version="s3v4", s3={"addressing_style": "virtual"})
)
# A worker waits for its next ticket for 20 seconds at a time.
POLLING = CLIENT.merge(Config(read_timeout=30))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the deployment tells a function, through its environment."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def __getitem__(self, name: str) -> str:
        """Read a setting; one that is not there is a mistake in the deployment."""
        return self.environment[f"TALLYREEL_{name}"]

    def words(self, name: str) -> frozenset[str]:
        """Read a comma-separated setting; empty if it is not there."""
        text = self.environment.get(f"TALLYREEL_{name}", "")
        return frozenset(word.strip() for word in text.split(",") if word.strip())

    def get(self, name: str) -> str | None:
        """Read a setting that need not be there."""
        return self.environment.get(f"TALLYREEL_{name}") or None

    @property
    def aws_endpoint(self) -> str | None:
        """Say where AWS services are, if not where they always are."""
        return self.environment.get("AWS_ENDPOINT_URL") or None

    def table(self, name: str) -> dict[str, Any]:
        """Read a setting that maps names to values."""
        return dict(json.loads(self.environment.get(f"TALLYREEL_{name}", "{}")))


class AwsPorts:
    """Provides `Ports` on AWS."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def rules(self) -> Rules:
        """What the deployment decided."""
        settings = self._settings
        routes = {
            kind: tuple(Route(provider=each["provider"], lane=each["lane"]) for each in given)
            for kind, given in settings.table("ROUTES").items()
        }
        return Rules(
            hook_base=settings.get("HOOK_BASE"),
            routes=routes,
            unit_prices=settings.table("UNIT_PRICES"),
            reviews={kind: Review(word) for kind, word in settings.table("REVIEWS").items()},
        )

    @cached_property
    def remote(self) -> ProviderCalls:
        """Who reaches providers."""
        from functions.adapters.provider_calls import ProviderCallsOverHttp  # noqa: PLC0415 - httpx

        client: SecretsManagerClient = _client("secretsmanager")
        return ProviderCallsOverHttp(
            SecretsManager(client, self._settings.table("SECRETS")),
            self.clock,
            test_origins=self._settings.words("TEST_ORIGINS"),
        )

    @cached_property
    def models(self) -> ModelCalls:
        """Who reaches models."""
        from functions.adapters.model_calls import ModelCallsOverHttp  # noqa: PLC0415 - httpx

        client: SecretsManagerClient = _client("secretsmanager")
        secrets = SecretsManager(client, self._settings.table("SECRETS"))
        return ModelCallsOverHttp(
            secrets, self.clock, test_origins=self._settings.words("TEST_ORIGINS")
        )

    @cached_property
    def budgets(self) -> Budgets:
        """What providers may be asked."""
        client: DynamoDBClient = _client("dynamodb")
        return DynamoBudgets(client, self._settings["TABLE"], self.clock)

    @cached_property
    def durations(self) -> DurationStore:
        """How long renders took."""
        client: DynamoDBClient = _client("dynamodb")
        return DynamoDurations(client, self._settings["TABLE"])

    @cached_property
    def progress(self) -> ProgressStore:
        """How far renders are."""
        client: DynamoDBClient = _client("dynamodb")
        return DynamoProgress(client, self._settings["TABLE"])

    @cached_property
    def workshop(self) -> Workshop:
        """Where files are made: in a worker, in a process that can be ended."""
        return ChildWorkshop() if self._settings.get("SCRATCH") else InProcess()

    @cached_property
    def store(self) -> TaskStore:
        """Where tasks and credits are."""
        client: DynamoDBClient = _client("dynamodb")
        return DynamoTaskStore(
            client,
            self._settings["TABLE"],
            shards=self.rules.shards,
            open_max=self.rules.open_max,
        )

    @cached_property
    def auditing(self) -> AuditStore:
        """Where the auditor looks."""
        client: DynamoDBClient = _client("dynamodb")
        return DynamoAuditStore(client, self._settings["TABLE"])

    @cached_property
    def queue(self) -> RenderQueue:
        """Where attempts wait."""
        client: SQSClient = _client("sqs")
        settings = self._settings
        return SqsQueue(client, settings.table("QUEUE_URLS"), settings.table("DLQ_URLS"))

    @cached_property
    def workflow(self) -> Workflow:
        """What verifies and settles."""
        client: SFNClient = _client("stepfunctions")
        return SettleWorkflow(client, self._settings["WORKFLOW_ARN"])

    @cached_property
    def media(self) -> MediaStore:
        """Where files are."""
        client: S3Client = _client("s3", FILES)
        return S3MediaStore(client, self._settings["BUCKET"])

    @cached_property
    def clock(self) -> Clock:
        """What time it is."""
        return SystemClock()

    @cached_property
    def ids(self) -> Ids:
        """Where names and chance come from."""
        return SystemIds()

    @property
    def attended(self) -> Attended:
        """What waits for an answer and looks around meanwhile."""
        return attended

    @cached_property
    def web(self) -> Web:
        """Where sources are that were not uploaded."""
        from functions.adapters.web import WebOverHttp  # noqa: PLC0415 - httpcore

        return WebOverHttp(test_origins=self._settings.words("TEST_ORIGINS"))

    @property
    def heartbeat(self) -> Heartbeat:
        """What keeps a lease."""
        return thread_heartbeat

    @cached_property
    def metrics(self) -> Metrics:
        """What counts."""
        return LogMetrics()

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """What can be ordered, by name."""
        return kinds.load()

    @cached_property
    def providers(self) -> Mapping[str, Provider]:
        """Who renders, by name."""
        options = self._settings.table("PROVIDER_OPTIONS")
        return {
            name: configured(found, options[name])
            if name in options and isinstance(found, Called)
            else found
            for name, found in providers.load().items()
        }

    @cached_property
    def inspector(self) -> Inspector:
        """Who judges finished files."""
        from functions.adapters.inspector import ChildInspector  # noqa: PLC0415 - PyAV

        return ChildInspector()


def settings() -> Settings:
    """Read the environment, when asked."""
    return Settings()


_ports: list[Ports] = []  # what this process uses; the last one counts


def ports() -> Ports:
    """Build the ports of this process, when first asked."""
    if not _ports:
        _ports.append(AwsPorts(settings()))
    return _ports[-1]


def inbox() -> Inbox:
    """Build what a worker reads: the queues of the lanes that it was told."""
    client: SQSClient = _client("sqs", POLLING)
    hidden = max(kind.limits.lease_seconds for kind in ports().kinds.values())
    return SqsInbox(client, settings().table("QUEUE_URLS"), hidden_seconds=hidden)


def stay(over: Callable[[], BaseException]) -> SignalledStay:
    """Build a worker's view of its own end; `over` is raised when its grace time has passed."""
    told = settings()
    return SignalledStay(
        grace_seconds=float(told["GRACE_SECONDS"]),
        over=over,
        agent=told.environment.get("ECS_AGENT_URI"),
    )


@contextmanager
def replaced(others: Ports) -> Iterator[None]:
    """Use other ports for a while."""
    _ports.append(others)
    try:
        yield
    finally:
        _ports.remove(others)


def task_from_image(image: Mapping[str, Any]) -> Task:
    """Read a task from a stream record's new image."""
    return task_of(plain(dict(image)))


def _client(service: Any, config: Config = CLIENT) -> Any:
    return boto3.client(service, config=config)
