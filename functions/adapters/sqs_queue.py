"""The kinds' queues on SQS."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from functions.adapters.aws_errors import translating
from functions.adapters.dynamodb_items import task_item
from functions.domain.tasks import Task
from functions.domain.tickets import Ticket

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsQueue:
    """Provides `RenderQueue`. Queue addresses are by lane."""

    def __init__(
        self, client: "SQSClient", queues: Mapping[str, str], graves: Mapping[str, str]
    ) -> None:
        self._client = client
        self._queues = queues
        self._graves = graves

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        body: dict[str, str | int] = {
            "account": ticket.account,
            "id": ticket.id,
            "kind": ticket.kind,
            "attempt": ticket.attempt,
            "lane": ticket.lane,
        }
        if ticket.lease is not None:
            body["lease"] = ticket.lease
        if ticket.hint is not None:
            body["hint"] = ticket.hint
        with translating():
            self._client.send_message(
                QueueUrl=self._queues[ticket.lane],
                MessageBody=json.dumps(body),
                DelaySeconds=delay_seconds,
                MessageGroupId=ticket.account,
            )

    def bury(self, task: Task) -> None:
        item = task_item(task, shards=1)
        body = {"account": task.account, "id": task.id} | {
            name: item[name] for name in ("kind", "attempt", "cycle", "code", "reason", "history")
        }
        with translating():
            self._client.send_message(
                QueueUrl=self._graves[task.lane],
                MessageBody=json.dumps(body),
                MessageGroupId=task.account,
            )
