"""The implementations that one suite is run over."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.dynamodb_store import DynamoTaskStore
from functions.domain.stores import TaskStore
from local.instance import REGION, ROOT_KEY, Emulator
from tests.doubles.store import MemoryStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "tasks"
MOTO_REGION = "eu-central-1"


def create_table(client: "DynamoDBClient", name: str = TABLE) -> None:
    """The table as StorageStack declares it (tests/stacks holds the two together)."""
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"}
            for attribute in ("pk", "sk", "due_shard", "due_at")
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "due",
                "KeySchema": [
                    {"AttributeName": "due_shard", "KeyType": "HASH"},
                    {"AttributeName": "due_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )


def dynamo_store(client: "DynamoDBClient", **options: Any) -> DynamoTaskStore:
    """The real store, not waiting between tries."""
    return DynamoTaskStore(
        client, TABLE, shards=4, open_max=50, pause=lambda _seconds: None, **options
    )


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


def emulated(found: Emulator, service: Any) -> Any:
    """A client of the emulator as the account's owner."""
    return boto3.client(
        service,
        endpoint_url=found.endpoint,
        region_name=REGION,
        aws_access_key_id=ROOT_KEY,
        aws_secret_access_key=ROOT_KEY,
    )


@contextmanager
def table_client(kind: str, request: pytest.FixtureRequest) -> Iterator["DynamoDBClient"]:
    """A client of a fresh, empty table in moto or in the emulator."""
    if kind == "moto":
        # A region of its own, and nothing left in it: another mock may live in this process.
        with mock_aws(), closing(boto3.client("dynamodb", region_name=MOTO_REGION)) as mocked:
            create_table(mocked)
            yield mocked
            mocked.delete_table(TableName=TABLE)
        return
    with closing(emulated(request.getfixturevalue("bare_emulator"), "dynamodb")) as client:
        create_table(client)
        yield client
        client.delete_table(TableName=TABLE)


BACKENDS = ["memory", "moto", pytest.param("emulator", marks=pytest.mark.emulator)]


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, aws_environment: None) -> Iterator[TaskStore]:
    assert aws_environment is None
    if request.param == "memory":
        yield MemoryStore()
        return
    with table_client(request.param, request) as client:
        yield dynamo_store(client)
