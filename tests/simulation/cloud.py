"""AWS in this process: moto, one table, bucket and workflow, its queues, emptied for each run."""

import copy
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias
from unittest.mock import patch

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import s3_backends
from moto.sqs.models import sqs_backends
from moto.stepfunctions.models import stepfunctions_backends

from functions.adapters.dynamodb_keys import Item, plain
from tests.contracts.conftest import TABLE, create_table
from tests.simulation.faults import Breaker, Plan, Taped

REGION = "us-east-1"
BUCKET = "media"
LANES = ("image_to_video", "video_analysis", "submit", "check")
SERVICES = ("dynamodb", "s3", "sqs", "stepfunctions", "secretsmanager")
SECRETS = {  # of the providers' stand-ins
    "fal": {"api_key": "test-key"},
    "gemini": {"api_key": "test-key"},
    "kling": {"access_key": "access-test", "secret_key": "test-key"},
}
# The SDK must not hide a fault from our adapters.
ONCE = Config(retries={"mode": "standard", "total_max_attempts": 1})
UNSIGNED_ONCE = ONCE.merge(Config(signature_version=UNSIGNED))  # moto looks at S3's alone
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": REGION,
    "TALLYREEL_TOKEN_CLIENTS": "app-client",
    "POWERTOOLS_SERVICE_NAME": "simulation",
}
_WORKFLOW = {
    "name": "settle",
    "definition": json.dumps({"StartAt": "end", "States": {"end": {"Type": "Succeed"}}}),
    "roleArn": f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:role/settle",
    "type": "EXPRESS",
}


@dataclass(frozen=True, slots=True)
class Image:
    """A record of the table's stream: a task item with something for the relay to do."""

    item: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message put into a queue."""

    url: str
    body: str
    delay_seconds: int


@dataclass(frozen=True, slots=True)
class Started:
    """A workflow run."""

    input: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A call that a provider will make about a job, at a time of its clock."""

    at: float
    job: str
    phase: str


Effect: TypeAlias = Image | Sent | Started | Planned


class Beside(Protocol):
    """What is outside of AWS and goes through a run with it."""

    def snapshot(self) -> Any:
        """Copy what it holds."""
        ...

    def restore(self, held: Any) -> None:
        """Go back to a copy."""
        ...


class Cloud:
    """What the deployment creates. `outbox` is what its calls led to, until it is taken."""

    def __init__(self) -> None:
        self.breaker = Breaker(self)
        self.clients: dict[str, Any] = {
            service: boto3.client(  # type: ignore[call-overload]
                service, config=ONCE if service == "s3" else UNSIGNED_ONCE
            )
            for service in SERVICES
        }
        create_table(self.clients["dynamodb"])
        self.clients["s3"].create_bucket(Bucket=BUCKET)
        sqs = self.clients["sqs"]
        self.queues = {lane: _queue(sqs, lane) for lane in LANES}
        self.graves = {lane: _queue(sqs, f"{lane}-dead") for lane in LANES}
        for name, secret in SECRETS.items():
            self.clients["secretsmanager"].create_secret(Name=name, SecretString=json.dumps(secret))
        workflow = self.clients["stepfunctions"].create_state_machine(**_WORKFLOW)
        self.workflow_arn = str(workflow["stateMachineArn"])
        for client in self.clients.values():
            self.breaker.attach(client)
        self.outbox: list[Effect] = []
        self.beside: Beside | None = None

    def settings(self) -> dict[str, str]:
        """What the deployment tells its functions."""
        return {
            "TALLYREEL_TABLE": TABLE,
            "TALLYREEL_BUCKET": BUCKET,
            "TALLYREEL_QUEUE_URLS": json.dumps(self.queues),
            "TALLYREEL_DLQ_URLS": json.dumps(self.graves),
            "TALLYREEL_WORKFLOW_ARN": self.workflow_arn,
        }

    def reset(self, plan: Plan, base: Sequence[Taped] = (), *, taping: bool = False) -> None:
        """Empty everything; the next run's calls are broken according to plan."""
        _table().items.clear()
        _files().clear()
        for queue in sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues.values():
            queue._messages.clear()  # noqa: SLF001 - purging takes a minute per queue
        for machine in stepfunctions_backends[DEFAULT_ACCOUNT_ID][REGION].state_machines:
            machine.executions.clear()
        self.outbox.clear()
        self.beside = None
        self.breaker.reset(plan, base, taping=taping)

    def files(self) -> set[str]:
        """Name what is in the bucket."""
        return set(_files())

    def content(self, key: str) -> bytes:
        """Read a file."""
        return bytes(_files()[key].value)

    def items(self) -> list[Item]:
        """Read the whole table."""
        return [
            plain(item.to_json()["Attributes"])
            for items in _table().items.values()
            for item in items.values()
        ]

    def remove_files(self, prefix: str) -> None:
        """Do as the bucket's lifecycle does."""
        for key in [key for key in _files() if key.startswith(prefix)]:
            del _files()[key]

    def remove_items(self, now: datetime) -> None:
        """Do as the table's time to live does, for all whose time is over."""
        for items in _table().items.values():
            for name, item in list(items.items()):
                until = plain(item.to_json()["Attributes"]).get("ttl")
                if until is not None and until < now.timestamp():
                    del items[name]

    def made(self, operation: str, request: Mapping[str, Any]) -> tuple[Effect, ...]:
        """Say what a call that was really made has led to."""
        match operation:
            case "SendMessage":
                delay = int(request.get("DelaySeconds", 0))
                return (Sent(request["QueueUrl"], request["MessageBody"], delay),)
            case "StartExecution":
                return (Started(request["input"]),)
            case "UpdateItem":
                return _image(request["Key"])
            case "TransactWriteItems":
                writes = [write for action in request["TransactItems"] for write in action.values()]
                keys = [write.get("Key") or write["Item"] for write in writes]
                return tuple(image for key in keys for image in _image(key))
        return ()

    def apply(self, effects: tuple[Effect, ...]) -> None:
        """Let it be seen."""
        self.outbox += effects

    def snapshot(self) -> Any:
        """Copy what AWS holds."""
        beside = self.beside.snapshot() if self.beside else None
        return copy.deepcopy(_table().items), dict(_files().items()), beside

    def restore(self, held: Any) -> None:
        """Go back to a copy, leaving the copy as it is."""
        items, files, beside = held
        _table().items.clear()
        _table().items.update(copy.deepcopy(items))
        _files().clear()
        for key, file in files.items():
            _files()[key] = file
        if self.beside:
            self.beside.restore(beside)


def _image(key: Mapping[str, Mapping[str, str]]) -> tuple[Image, ...]:
    """Do as the table's stream does, behind the relay's filter."""
    pk, sk = key["pk"]["S"], key["sk"]["S"]
    if not sk.startswith("TASK#"):
        return ()
    item = next(
        item
        for hash_key, items in _table().items.items()
        if hash_key.value == pk
        for range_key, item in items.items()
        if range_key.value == sk
    )
    image = item.to_json()["Attributes"]
    return (Image(image),) if "ob" in image else ()


def _queue(client: Any, name: str) -> str:
    return str(client.create_queue(QueueName=name)["QueueUrl"])


def _table() -> Any:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[TABLE]


def _files() -> Any:
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[BUCKET].keys


@contextmanager
def cloud() -> Iterator[Cloud]:
    """Be in it."""
    names = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL")
    cleared = {name: "" for name in names if name in os.environ}
    with patch.dict(os.environ, _ENVIRONMENT | cleared), mock_aws():
        for name in cleared:
            del os.environ[name]
        logging.disable(logging.ERROR)  # the sweeper tells of every fault at length
        try:
            yield Cloud()
        finally:
            logging.disable(logging.NOTSET)
