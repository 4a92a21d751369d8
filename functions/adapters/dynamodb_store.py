"""The task store on one DynamoDB table."""

import json
import random
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from functions.adapters import dynamodb_writes as writes
from functions.adapters.aws_errors import (
    Cause,
    cause_of,
    is_canceled,
    translating,
)
from functions.adapters.dynamodb_items import (
    attempt_of,
    balance_key,
    balance_of,
    entry_of,
    task_key,
    task_of,
)
from functions.adapters.dynamodb_keys import (
    ABSENT,
    DEAD_SHARD,
    DUE_INDEX,
    Item,
    account_pk,
    attempts_sk,
    due_shard_name,
    entry_sk,
    idem_sk,
    input_sk,
    late_sk,
    plain,
    report_sk,
    stamp,
    task_sk,
    update,
    wire,
)
from functions.adapters.dynamodb_refusals import Refusals, by_role, refusal, replay
from functions.adapters.dynamodb_writes import Role, Writes
from functions.domain.attempts import Attempt
from functions.domain.credits import Balance, Entry
from functions.domain.errors import BadCursor
from functions.domain.results import (
    Application,
    Applied,
    Contended,
    Created,
    Creation,
    Grant,
    Granted,
    KeyReused,
    Page,
    Replayed,
    Stale,
)
from functions.domain.tasks import Change, Task
from functions.domain.tickets import NewTask, TaskRef
from functions.domain.verdicts import Verdict, verdict_of, verdict_text

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")

_OF_THE_TASK = (Role.TASK, Role.ENTRY)
COLD = timedelta(days=180)
CONFLICT_TRIES = 5
CONFLICT_WAIT_SECONDS = 0.05  # grows and is drawn at random, or rivals meet again


class DynamoTaskStore:
    """Provides `TaskStore`. `pause` waits between tries; tests pass one that does not."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        shards: int,
        open_max: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._table = table
        self._shards = shards
        self._open_max = open_max
        self._pause = pause

    def create(self, new: NewTask) -> Creation:
        refused = self._transact(writes.creation(self._table, new, self._shards))
        if refused is None:
            return Created(task=new.task)
        if refused[Role.IDEM][0] is Cause.CONDITION:
            return replay(refused[Role.IDEM][1], new.fingerprint)
        return refusal(refused, new.task) or Contended()

    def replayed(
        self, account: str, key_hash: str, fingerprint: str, now: datetime
    ) -> Replayed | KeyReused | None:
        item = self._get(account, idem_sk(key_hash))
        if item is None or item["ttl"] < now.timestamp():
            return None
        return replay(item, fingerprint)

    def get(self, ref: TaskRef, *, fresh: bool = True) -> Task | None:
        item = self._get(ref.account, task_sk(ref.id), fresh=fresh)
        if item is None and not fresh:  # it may have been written just now
            item = self._get(ref.account, task_sk(ref.id))
        return task_of(item) if item else None

    def input(self, ref: TaskRef) -> Mapping[str, Any] | None:
        item = self._get(ref.account, input_sk(ref.id))
        return dict(json.loads(item["input"])) if item else None

    def apply(self, change: Change, attempt: Attempt | None = None) -> Application:
        step = writes.change(
            self._table, change, attempt, shards=self._shards, open_max=self._open_max
        )
        if len(step.actions) == 1:
            done = self._write(lambda: self._client.update_item(**step.actions[0]["Update"]))
            return Applied(task=change.after) if done else Stale()
        refused = self._transact(step)
        if refused is None:
            return Applied(task=change.after)
        if any(refused.get(role, (None,))[0] is Cause.CONDITION for role in _OF_THE_TASK):
            return Stale()
        return refusal(refused, change.after) or Contended()

    def attempts(self, ref: TaskRef) -> list[Attempt]:
        found = self._query(
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues=wire(
                {":pk": account_pk(ref.account), ":prefix": attempts_sk(ref.id)}
            ),
        )
        made = [attempt_of(plain(item)) for item in found["Items"]]
        return sorted(made, key=lambda attempt: (attempt.cycle, attempt.number))

    def renew(self, task: Task, due_at: datetime) -> bool:
        held = {"state": str(task.state), "attempt": task.attempt, "lease": task.lease}
        call = update(self._table, task_key(task), {}, {"due_at": stamp(due_at)}, held)
        return self._write(lambda: self._client.update_item(**call))

    def tasks(self, account: str, *, limit: int, cursor: str | None) -> Page[Task]:
        return self._page(account, task_sk(""), task_of, limit=limit, cursor=cursor)

    def ledger(self, account: str, *, limit: int, cursor: str | None) -> Page[Entry]:
        return self._page(account, entry_sk(""), entry_of, limit=limit, cursor=cursor)

    def due(self, shard: int, *, until: datetime, limit: int) -> list[TaskRef]:
        found = self._query(
            IndexName=DUE_INDEX,
            KeyConditionExpression="due_shard = :shard AND due_at <= :until",
            ExpressionAttributeValues=wire(
                {":shard": due_shard_name(shard), ":until": stamp(until)}
            ),
            Limit=limit,
        )
        return [_ref(item) for item in found["Items"]]

    def dead(self, *, limit: int, cursor: str | None) -> Page[TaskRef]:
        start = {"ExclusiveStartKey": wire(_dead_key(cursor))} if cursor else {}
        found = self._query(
            IndexName=DUE_INDEX,
            KeyConditionExpression="due_shard = :shard",
            ExpressionAttributeValues=wire({":shard": DEAD_SHARD}),
            Limit=limit,
            **start,
        )
        last = found.get("LastEvaluatedKey")
        return Page(
            items=[_ref(item) for item in found["Items"]],
            cursor=_encoded(json.dumps(plain(last))) if last else None,
        )

    def balance(self, account: str) -> Balance:
        return balance_of(self._get(account, balance_key(account)["sk"]) or {})

    def entry(self, account: str, entry_id: str) -> Entry | None:
        item = self._get(account, entry_sk(entry_id))
        return entry_of(item) if item else None

    def grant(
        self,
        account: str,
        entry: Entry,
        *,
        key_hash: str,
        fingerprint: str,
        keep_until: datetime,
    ) -> Grant:
        refused = self._transact(
            writes.grant(
                self._table,
                account,
                entry,
                key_hash=key_hash,
                fingerprint=fingerprint,
                until=int(keep_until.timestamp()),
            )
        )
        if refused is None:
            return Granted(id=entry.id)
        if refused[Role.IDEM][0] is Cause.CONDITION:
            return replay(refused[Role.IDEM][1], fingerprint)
        return Contended()

    def put_report(self, task: Task, verdict: Verdict) -> None:
        key = {"pk": account_pk(task.account), "sk": report_sk(task.id, task.cycle, task.attempt)}
        cold = {"verdict": verdict_text(verdict), "ttl": _cold_until(task)}
        call = writes.put(self._table, key | cold, ABSENT)["Put"]
        self._write(lambda: self._client.put_item(**call))

    def report(self, task: Task) -> Verdict | None:
        name = report_sk(task.id, task.cycle, task.attempt)
        item = self._get(task.account, name, fresh=False)
        return verdict_of(item["verdict"]) if item else None

    def put_late(self, task: Task, output_key: str, at: datetime) -> None:
        key = {
            "pk": account_pk(task.account),
            "sk": late_sk(task.id, task.attempt, task.lease or ""),
        }
        late = key | {"out_key": output_key, "at": stamp(at), "ttl": _cold_until(task)}
        call = writes.put(self._table, late, ABSENT)["Put"]
        self._write(lambda: self._client.put_item(**call))

    def _get(self, account: str, sk: str, *, fresh: bool = True) -> Item | None:
        key = wire({"pk": account_pk(account), "sk": sk})
        with translating():
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=fresh)
        return plain(found["Item"]) if "Item" in found else None

    def _page(
        self,
        account: str,
        prefix: str,
        read: Callable[[Item], T],
        *,
        limit: int,
        cursor: str | None,
    ) -> Page[T]:
        pk = account_pk(account)
        start = (
            {"ExclusiveStartKey": wire({"pk": pk, "sk": prefix + _decoded(cursor)})}
            if cursor
            else {}
        )
        found = self._query(
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues=wire({":pk": pk, ":prefix": prefix}),
            ScanIndexForward=False,
            Limit=limit,
            **start,
        )
        last = found.get("LastEvaluatedKey")
        return Page(
            items=[read(plain(item)) for item in found["Items"]],
            cursor=_encoded(plain(last)["sk"].removeprefix(prefix)) if last else None,
        )

    def _query(self, **query: Any) -> Mapping[str, Any]:
        with translating():
            return self._client.query(TableName=self._table, **query)

    def _write(self, call: Callable[[], Any]) -> bool:
        """Make a single conditional write; False if its condition did not hold."""
        with translating():
            try:
                call()
            except ClientError as error:
                if cause_of(error) is not Cause.CONDITION:
                    raise
                return False
        return True

    def _transact(self, step: Writes) -> Refusals | None:
        """Write all or nothing; None if written, else each role's reason."""
        refused: Refusals = {}
        for tried in range(CONFLICT_TRIES):
            if tried:
                spread = CONFLICT_WAIT_SECONDS * 2**tried
                self._pause(random.uniform(0, spread))  # noqa: S311 - spreads load, guards nothing
            with translating():
                try:
                    self._client.transact_write_items(TransactItems=step.actions)  # type: ignore[arg-type]
                except ClientError as error:
                    if not is_canceled(error):
                        raise
                    refused = by_role(step, error)
                else:
                    return None
            if any(cause is Cause.CONDITION for cause, _ in refused.values()):
                break
        return refused


def _cold_until(task: Task) -> int:
    """Keep a task's by-products until it is sure to be gone."""
    return int((task.created_at + COLD).timestamp())


def _ref(item: Mapping[str, Any]) -> TaskRef:
    key = plain(dict(item))
    return TaskRef(account=key["pk"].partition("#")[2], id=key["sk"].partition("#")[2])


def _dead_key(cursor: str) -> Item:
    try:
        key = json.loads(_decoded(cursor))
        return {name: str(key[name]) for name in ("pk", "sk", "due_shard", "due_at")}
    except (ValueError, KeyError, TypeError) as error:
        raise BadCursor from error


def _encoded(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(cursor: str) -> str:
    try:
        return urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError as error:
        raise BadCursor from error
