"""A crowd on the real adapters over the emulator, whose writes really meet each other.

The emulator never says that a transaction is in conflict, and loses no answer: both are put in
between, below the SDK.
"""

import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError

from functions.adapters.dynamodb_audit import DynamoAuditStore
from local import emulator, tools
from local.instance import REGION, ROOT_KEY, Emulator, Instance
from tests.contracts.conftest import TABLE, create_table, dynamo_store
from tests.doubles.world import World
from tests.simulation import crowd
from tests.simulation.answers import conflict
from tests.simulation.faults import CONFLICTING

CONFLICTS, LOST = 0.2, 0.1  # of all writes
# The SDK must not hide trouble from our adapters.
ONCE = Config(
    retries={"mode": "standard", "total_max_attempts": 1}, max_pool_connections=crowd.CLIENTS
)


class Trouble:
    """Lets some writes of a client conflict, and loses some answers."""

    def __init__(self, client: Any, seed: int) -> None:
        self._chance = random.Random(seed)
        self._chances = Lock()
        self.conflicts, self.lost = 0, 0
        client.meta.events.register_first("before-send", self._before)
        client.meta.events.register_last("after-call", self._after)

    def _before(self, event_name: str, request: Any, **_: Any) -> AWSResponse | None:
        operation = event_name.rpartition(".")[2]
        if operation not in CONFLICTING or not self._drawn(CONFLICTS):
            return None
        self.conflicts += 1
        return conflict(str(request.url), operation, request)

    def _after(self, event_name: str, http_response: Any, **_: Any) -> None:
        written = event_name.rpartition(".")[2] in CONFLICTING
        if written and http_response.status_code < 300 and self._drawn(LOST):
            self.lost += 1
            raise ReadTimeoutError(endpoint_url=event_name)

    def _drawn(self, share: float) -> bool:
        with self._chances:
            return self._chance.random() < share


@contextmanager
def started() -> Iterator[Emulator]:
    """Run an emulator with nothing deployed."""
    with TemporaryDirectory() as folder:
        instance = Instance(folder=Path(folder), port=0)
        try:
            yield emulator.start(instance, tools.emulator_python(), guardian=os.getpid())
        finally:
            emulator.stop(instance)


def let_loose(found: Emulator, seed: int) -> tuple[list[str], Trouble]:
    """Let one crowd loose on an empty table, and list what is wrong then."""
    client = boto3.client(
        "dynamodb",
        endpoint_url=found.endpoint,
        region_name=REGION,
        aws_access_key_id=ROOT_KEY,
        aws_secret_access_key=ROOT_KEY,
        config=ONCE,
    )
    with closing(client):
        create_table(client)
        try:
            trouble = Trouble(client, seed)
            world = World(store=dynamo_store(client))
            told = crowd.gathered(world, seed)
            return crowd.wrongs(told, world.store, DynamoAuditStore(client, TABLE)), trouble
        finally:
            client.delete_table(TableName=TABLE)
