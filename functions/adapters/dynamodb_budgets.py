"""How often providers may be asked, counted in the table by the minute."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws_errors import Cause, cause_of, translating
from functions.adapters.dynamodb_keys import OPERATIONS_PK, rate_sk, wire
from functions.domain.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEEP_SECONDS = 3600


class DynamoBudgets:
    """Provides `Budgets`."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def take(self, name: str, per_minute: int | None) -> bool:
        if per_minute is None:
            return True
        now = int(self._clock.now().timestamp())
        try:
            with translating():
                self._client.update_item(
                    TableName=self._table,
                    Key=wire({"pk": OPERATIONS_PK, "sk": rate_sk(name, now // 60)}),
                    UpdateExpression="SET #ttl = :until ADD #taken :one",
                    ConditionExpression="attribute_not_exists(#taken) OR #taken < :most",
                    ExpressionAttributeNames={"#taken": "taken", "#ttl": "ttl"},
                    ExpressionAttributeValues=wire(
                        {":one": 1, ":most": per_minute, ":until": now + KEEP_SECONDS}
                    ),
                )
        except ClientError as error:
            if cause_of(error) is Cause.CONDITION:
                return False
            raise
        return True
