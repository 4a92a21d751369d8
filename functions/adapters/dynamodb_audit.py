"""The table as the auditor reads it: page by page, consistently."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from functions.adapters.aws_errors import translating
from functions.adapters.dynamodb_items import (
    attempt_of,
    balance_key,
    balance_of,
    entry_of,
    task_of,
)
from functions.adapters.dynamodb_keys import (
    ATTEMPTS,
    AUDIT_SK,
    BALANCE_SK,
    OPERATIONS_PK,
    Item,
    account_pk,
    entry_sk,
    lock_sk,
    plain,
    stamp,
    task_sk,
    wire,
)
from functions.domain.audit import AuditReport, Books, Difference, Lock
from functions.domain.results import Page
from functions.domain.spend import SpendLine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_LOCKS = lock_sk("", "").removesuffix("#")
_REPORT_KEY = {"pk": OPERATIONS_PK, "sk": AUDIT_SK}
_TIMES = ("started_at", "finished_at")


class DynamoAuditStore:
    """Provides `AuditStore`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def accounts(self, *, limit: int, cursor: str | None) -> Page[str]:
        """`limit` bounds what is returned, not what is read."""
        names: list[str] = []
        start: dict[str, Any] = {"ExclusiveStartKey": wire(json.loads(cursor))} if cursor else {}
        while True:
            with translating():
                found = self._client.scan(
                    TableName=self._table,
                    FilterExpression="sk = :balance",
                    ProjectionExpression="pk",
                    ExpressionAttributeValues=wire({":balance": BALANCE_SK}),
                    **start,
                )
            names += [plain(item)["pk"].partition("#")[2] for item in found["Items"]]
            last = found.get("LastEvaluatedKey")
            if last is None:
                return Page(items=names)
            if len(names) >= limit:
                return Page(items=names, cursor=json.dumps(plain(last)))
            start = {"ExclusiveStartKey": last}

    def books(self, account: str) -> Books:
        balance = self._get(balance_key(account))
        return Books(
            account=account,
            balance=balance_of(balance or {}),
            entries=tuple(entry_of(item) for item in self._below(account, entry_sk(""))),
            tasks=tuple(task_of(item) for item in self._below(account, task_sk(""))),
            attempts=tuple(attempt_of(item) for item in self._below(account, ATTEMPTS)),
            locks=tuple(_lock_of(item) for item in self._below(account, _LOCKS)),
        )

    def report(self) -> AuditReport | None:
        item = self._get(_REPORT_KEY)
        if item is None:
            return None
        raw: dict[str, Any] = json.loads(item["report"])
        times = {name: datetime.fromisoformat(raw[name]) for name in _TIMES if raw[name]}
        listed = {
            "differences": tuple(Difference(**each) for each in raw["differences"]),
            "spend": tuple(SpendLine(**each) for each in raw["spend"]),
        }
        return AuditReport(**(raw | times | listed))

    def put_report(self, report: AuditReport) -> None:
        times = {name: stamp(at) if (at := getattr(report, name)) else None for name in _TIMES}
        text = json.dumps(asdict(report) | times)
        with translating():
            self._client.put_item(TableName=self._table, Item=wire(_REPORT_KEY | {"report": text}))

    def _get(self, key: Item) -> Item | None:
        with translating():
            found = self._client.get_item(TableName=self._table, Key=wire(key), ConsistentRead=True)
        return plain(found["Item"]) if "Item" in found else None

    def _below(self, account: str, prefix: str) -> Iterator[Item]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues=wire({":pk": account_pk(account), ":prefix": prefix}),
        )
        with translating():
            for page in pages:
                yield from (plain(item) for item in page["Items"])


def _lock_of(item: Mapping[str, Any]) -> Lock:
    _, kind, resource = str(item["sk"]).split("#", 2)
    return Lock(kind=kind, resource=resource, task=item["task"])
