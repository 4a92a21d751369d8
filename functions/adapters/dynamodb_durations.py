"""Duration sketches in the table, one item per kind and provider."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws_errors import Cause, cause_of, translating
from functions.adapters.dynamodb_keys import (
    DURATIONS_SK,
    Item,
    moment,
    plain,
    stamp,
    stats_pk,
    wire,
)
from functions.domain.windows import Sketch

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDurations:
    """Provides `DurationStore`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def read(self, kind: str, provider: str) -> Sketch | None:
        with translating():
            found = self._client.get_item(TableName=self._table, Key=wire(_key(kind, provider)))
        return _sketch_of(plain(found["Item"])) if "Item" in found else None

    def write(self, kind: str, provider: str, sketch: Sketch) -> bool:
        item = _key(kind, provider) | {
            "since": stamp(sketch.since),
            "weights": {str(bucket): weight for bucket, weight in sketch.weights.items()},
            "v": sketch.version + 1,
        }
        try:
            with translating():
                self._client.put_item(
                    TableName=self._table,
                    Item=wire(item),
                    ConditionExpression="attribute_not_exists(pk) OR #v = :v",
                    ExpressionAttributeNames={"#v": "v"},
                    ExpressionAttributeValues=wire({":v": sketch.version}),
                )
        except ClientError as error:
            if cause_of(error) is Cause.CONDITION:
                return False
            raise
        return True


def _key(kind: str, provider: str) -> Item:
    return {"pk": stats_pk(kind, provider), "sk": DURATIONS_SK}


def _sketch_of(item: Item) -> Sketch:
    return Sketch(
        since=moment(item["since"]),
        weights={int(bucket): weight for bucket, weight in item["weights"].items()},
        version=item["v"],
    )
