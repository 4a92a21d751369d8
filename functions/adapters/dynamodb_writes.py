"""The transactions: which items, in which order, and what each one's refusal means."""

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from functions.adapters.dynamodb_items import (
    attempt_item,
    balance_key,
    entry_item,
    task_item,
    task_key,
)
from functions.adapters.dynamodb_keys import (
    ABSENT,
    Item,
    account_pk,
    idem_sk,
    input_sk,
    lock_sk,
    stamp,
    update,
    wire,
)
from functions.domain.attempts import Attempt
from functions.domain.credits import MOVES, OPEN_STEP, Entry, EntryKind, entry_id
from functions.domain.tasks import Change, Task
from functions.domain.tickets import NewTask


class Role(StrEnum):
    """Which item of a transaction an action is about."""

    IDEM = "idem"
    LOCK = "lock"
    BALANCE = "balance"
    TASK = "task"
    INPUT = "input"
    ENTRY = "entry"
    ATTEMPT = "attempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """A transaction; reasons for its refusal come back in the same order."""

    roles: tuple[Role, ...]
    actions: tuple[dict[str, Any], ...]


def put(table: str, item: Item, condition: str = ABSENT, **values: Any) -> dict[str, Any]:
    """Put an item if the condition holds; the one in the way comes back if not."""
    action: dict[str, Any] = {
        "TableName": table,
        "Item": wire(item),
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if values:
        action["ExpressionAttributeNames"] = {"#ttl": "ttl"}
        action["ExpressionAttributeValues"] = wire({f":{name}": v for name, v in values.items()})
    return {"Put": action}


def creation(table: str, new: NewTask, shards: int) -> Writes:
    """Order a task: DESIGN's fixed order, so that reasons can be read by position."""
    task = new.task
    pk = account_pk(task.account)
    now = int(task.created_at.timestamp())
    idem = _idem(task.account, new.key_hash, new.fingerprint, int(new.keep_until.timestamp()))
    cold = {
        "pk": pk,
        "sk": input_sk(task.id),
        "input": json.dumps(dict(new.input)),
        "ttl": int(new.input_until.timestamp()),
    }
    return Writes(
        roles=(Role.IDEM, Role.LOCK, Role.BALANCE, Role.TASK, Role.INPUT, Role.ENTRY),
        actions=(
            put(table, idem | {"id": task.id}, f"{ABSENT} OR #ttl < :now", now=now),
            _take_lock(table, task),
            _hold(table, task, new.open_max),
            put(table, task_key(task) | task_item(task, shards)),
            put(table, cold),
            put(table, entry_item(task.account, _entry(task, EntryKind.HOLD))),
        ),
    )


def _idem(account: str, key_hash: str, fingerprint: str, until: int) -> Item:
    return {
        "pk": account_pk(account),
        "sk": idem_sk(key_hash),
        "fingerprint": fingerprint,
        "ttl": until,
    }


def grant(
    table: str, account: str, entry: Entry, *, key_hash: str, fingerprint: str, until: int
) -> Writes:
    """Give credits, once per key."""
    idem = _idem(account, key_hash, fingerprint, until) | {"id": entry.id}
    now = int(entry.at.timestamp())
    return Writes(
        roles=(Role.IDEM, Role.BALANCE, Role.ENTRY),
        actions=(
            put(table, idem, f"{ABSENT} OR #ttl < :now", now=now),
            {"Update": _grant_balance(table, account, entry.amount)},
            put(table, entry_item(account, entry)),
        ),
    )


def change(
    table: str, step: Change, attempt: Attempt | None, *, shards: int, open_max: int
) -> Writes:
    """Move a task, and its credits and its attempt in the same transaction."""
    moved = _moved(table, step, shards=shards, open_max=open_max)
    if attempt is None:
        return moved
    noted = {"Put": {"TableName": table, "Item": wire(attempt_item(step.before, attempt))}}
    return Writes(roles=(*moved.roles, Role.ATTEMPT), actions=(*moved.actions, noted))


def _moved(table: str, step: Change, *, shards: int, open_max: int) -> Writes:
    task = step.after
    moved = {"Update": task_update(table, step, shards)}
    kind = step.credits
    if kind is None:
        return Writes(roles=(Role.TASK,), actions=(moved,))
    entry = replace(_entry(task, kind), at=step.at)
    written = put(table, entry_item(task.account, entry))
    if kind is EntryKind.HOLD:
        return Writes(
            roles=(Role.LOCK, Role.BALANCE, Role.TASK, Role.ENTRY),
            actions=(_take_lock(table, task), _hold(table, task, open_max), moved, written),
        )
    return Writes(
        roles=(Role.TASK, Role.BALANCE, Role.ENTRY, Role.LOCK),
        actions=(
            moved,
            {"Update": _move_balance(table, task, kind)},
            written,
            _drop_lock(table, task),
        ),
    )


def task_update(table: str, step: Change, shards: int) -> dict[str, Any]:
    """Write the new image over the very image that the step was decided on."""
    before, after = step.before, step.after
    guard = {"v": before.version, "state": str(before.state), "attempt": before.attempt}
    if before.lease:
        guard["lease"] = before.lease
    if step.on_deadline and before.due_at:
        guard["due_at"] = stamp(before.due_at)
    return update(
        table, task_key(before), task_item(before, shards), task_item(after, shards), guard
    )


def _entry(task: Task, kind: EntryKind) -> Entry:
    return Entry(
        id=entry_id(kind, subject=task.id, cycle=task.cycle),
        kind=kind,
        amount=task.price,
        at=task.created_at,
        task=task.id,
    )


def _take_lock(table: str, task: Task) -> dict[str, Any]:
    key = {"pk": account_pk(task.account), "sk": lock_sk(task.kind, task.resource)}
    return put(table, key | {"task": task.id})


def _drop_lock(table: str, task: Task) -> dict[str, Any]:
    key = {"pk": account_pk(task.account), "sk": lock_sk(task.kind, task.resource)}
    return {
        "Delete": {
            "TableName": table,
            "Key": wire(key),
            "ConditionExpression": "#task = :task",
            "ExpressionAttributeNames": {"#task": "task"},
            "ExpressionAttributeValues": wire({":task": task.id}),
        },
    }


def _hold(table: str, task: Task, open_max: int) -> dict[str, Any]:
    action = _move_balance(table, task, EntryKind.HOLD)
    action["ConditionExpression"] += " AND #open < :open_max"
    action["ExpressionAttributeValues"] |= wire({":open_max": open_max})
    action["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {"Update": action}


def _move_balance(table: str, task: Task, kind: EntryKind) -> dict[str, Any]:
    source, target = MOVES[kind]
    return {
        "TableName": table,
        "Key": wire(balance_key(task.account)),
        "UpdateExpression": (
            "SET #source = #source - :amount, #target = #target + :amount, #open = #open + :step"
        ),
        "ConditionExpression": "#source >= :amount",
        "ExpressionAttributeNames": {"#source": source, "#target": target, "#open": "open"},
        "ExpressionAttributeValues": wire({":amount": task.price, ":step": OPEN_STEP[kind]}),
    }


def _grant_balance(table: str, account: str, amount: int) -> dict[str, Any]:
    names = {"#available": "available", "#held": "held", "#spent": "spent", "#open": "open"}
    rest = ", ".join(f"{name} = if_not_exists({name}, :zero)" for name in list(names)[1:])
    return {
        "TableName": table,
        "Key": wire(balance_key(account)),
        "UpdateExpression": (
            f"SET #available = if_not_exists(#available, :zero) + :amount, {rest}"
        ),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": wire({":amount": amount, ":zero": 0}),
    }
