"""A deployed stack from behind: its table, queues, functions and processes, as the owner's."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from botocore.exceptions import ClientError

from functions.adapters.dynamodb_items import task_key, task_of
from functions.adapters.dynamodb_keys import account_pk, plain, stamp, task_sk, wire
from functions.domain.states import Deadline, TaskState
from functions.domain.tasks import Task
from local.stack import Stack


@dataclass(slots=False)
class Backstage:
    """Moves deadlines instead of waiting for them; everything else is the product's own doing."""

    live: Stack
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    @cached_property
    def table(self) -> Any:
        return self.live.client("dynamodb")

    @cached_property
    def functions(self) -> Any:
        return self.live.client("lambda")

    @cached_property
    def queues(self) -> Any:
        return self.live.client("sqs")

    def close(self) -> None:
        for name in ("table", "functions", "queues"):
            if name in self.__dict__:
                self.__dict__[name].close()

    def tasks(self, *accounts: str) -> list[Task]:
        found: list[Task] = []
        for account in accounts:
            pages = self.table.get_paginator("query").paginate(
                TableName=self.live.outputs["TableName"],
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues=wire({":pk": account_pk(account), ":sk": task_sk("")}),
            )
            found += [task_of(plain(item)) for page in pages for item in page["Items"]]
        return found

    def task(self, account: str) -> Task:
        """The only task of an account."""
        (only,) = self.tasks(account)
        return only

    def invoke(self, stage: str, event: Any = None) -> Any:
        answer = self.functions.invoke(
            FunctionName=self.live.outputs[f"{stage.capitalize()}Function"],
            Payload=json.dumps(event or {}),
        )
        return json.load(answer["Payload"])

    def make_due(self, task: Task) -> bool:
        """Move a task's deadline to this moment, if it has not moved on by itself."""
        moved = ["due_at", *(["not_before"] if task.not_before else [])]
        with suppress(ClientError):
            self.table.update_item(
                TableName=self.live.outputs["TableName"],
                Key=wire(task_key(task)),
                UpdateExpression="SET " + ", ".join(f"{name} = :now" for name in moved),
                ConditionExpression="v = :v AND attribute_exists(due_at)",
                ExpressionAttributeValues=wire(
                    {":now": stamp(datetime.now(UTC)), ":v": task.version}
                ),
            )
            return True
        return False

    def sweep(self, tasks: Iterable[Task]) -> Any:
        """Let the deadlines of these tasks come, and the deployed sweeper with them."""
        for task in tasks:
            self.make_due(task)
        return self.invoke("sweep")

    def hurry(self, *accounts: str, patience: float) -> None:
        """Let the deadlines come of those tasks that have stood still for so many seconds.

        Those that wait for a worker have time while there are messages in the queue.
        """
        now = time.monotonic()
        still = []
        idle = not self._waiting()
        for task in self.tasks(*accounts):
            if task.state is TaskState.QUEUED and not idle:
                continue
            version, since = self._seen.get(task.id, (-1, now))
            if version != task.version:
                self._seen[task.id] = (task.version, now)
            elif task.due_at and task.deadline is not Deadline.OPERATOR and now - since > patience:
                still.append(task)
                self._seen[task.id] = (task.version, now)
        if still:
            self.sweep(still)

    def _waiting(self) -> int:
        found = self.queues.get_queue_attributes(
            QueueUrl=json.loads(self.live.outputs["QueueUrls"])["image_to_video"],
            AttributeNames=["ApproximateNumberOfMessages"],
        )
        return int(found["Attributes"]["ApproximateNumberOfMessages"])

    def send_again(self, task: Task) -> None:
        """Deliver a task's ticket once more, as a queue may do at any time."""
        body = {
            "account": task.account,
            "id": task.id,
            "kind": task.kind,
            "attempt": task.attempt,
            "lane": task.lane,
        }
        self.queues.send_message(
            QueueUrl=json.loads(self.live.outputs["QueueUrls"])[task.lane],
            MessageBody=json.dumps(body),
        )

    def switch(self, stage: str, *, on: bool) -> None:
        """Stop or start what brings a function its events."""
        function = self.live.outputs[f"{stage.capitalize()}Function"]
        found = self.functions.list_event_source_mappings(FunctionName=function)
        for mapping in found["EventSourceMappings"]:
            self.functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=on)

    def kill(self, stage: str) -> int:
        """End the processes of a function where they are, as a machine that loses power does."""
        name = self.live.outputs[f"{stage.capitalize()}Function"]
        told = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,pgid=,command="],
            capture_output=True,
            text=True,
            check=True,
        )
        killed = 0
        for line in told.stdout.splitlines():
            pid, group, command = line.split(maxsplit=2)
            if int(group) == self.live.emulator.pid and f"/ministack-lambda-{name}-" in command:
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
                    killed += 1
        return killed
