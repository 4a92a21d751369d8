"""How far renders are, on the same table."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws_errors import Cause, cause_of, translating
from functions.adapters.dynamodb_keys import ABSENT, account_pk, plain, progress_sk, stamp, wire
from functions.domain.tasks import Task
from functions.domain.work import Progress

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT = timedelta(days=1)  # of no use to anyone once its task has ended


class DynamoProgress:
    """Provides `ProgressStore`. A note is one write unit, and the relay's filter ignores it."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def write(self, task: Task, progress: Progress, at: datetime) -> None:
        item = {
            "pk": account_pk(task.account),
            "sk": progress_sk(task.id),
            "lease": task.lease or "",
            "done": progress.done,
            "total": progress.total,
            "seen_at": stamp(at),
            "ttl": int((at + KEPT).timestamp()),
        }
        with translating():
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item=wire(item),
                    ConditionExpression=f"{ABSENT} OR seen_at <= :at",
                    ExpressionAttributeValues=wire({":at": stamp(at)}),
                )
            except ClientError as error:
                if cause_of(error) is not Cause.CONDITION:
                    raise

    def read(self, task: Task) -> Progress | None:
        key = wire({"pk": account_pk(task.account), "sk": progress_sk(task.id)})
        with translating():
            found = self._client.get_item(TableName=self._table, Key=key)
        item = plain(found.get("Item", {}))
        if item.get("lease") != (task.lease or ""):
            return None
        return Progress(done=item["done"], total=item["total"])
