"""Every key, index and expression of the table, in one place."""

from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

DUE_INDEX = "due"
DEAD_SHARD = "dead"
EXISTS = "attribute_exists(pk)"
ABSENT = "attribute_not_exists(pk)"

Item = dict[str, Any]  # plain values
Wire = dict[str, Any]  # typed values, as DynamoDB wants them

_serialize = TypeSerializer().serialize
_deserialize = TypeDeserializer().deserialize


def account_pk(account: str) -> str:
    """One partition per account: a caller can only name items in its own."""
    return f"ACCT#{account}"


def task_sk(task: str) -> str:
    """Sort tasks by the time in their ULID."""
    return f"TASK#{task}"


def input_sk(task: str) -> str:
    """Keep what was ordered beside the hot item, not in it."""
    return f"INPUT#{task}"


def report_sk(task: str, cycle: int, attempt: int) -> str:
    """Keep one inspection per attempt of each round."""
    return f"REPORT#{task}#{cycle}.{attempt}"


def idem_sk(key_hash: str) -> str:
    """Remember an idempotency key."""
    return f"IDEM#{key_hash}"


def lock_sk(kind: str, resource: str) -> str:
    """Let one task per kind and source be in progress."""
    return f"LOCK#{kind}#{resource}"


def entry_sk(entry: str) -> str:
    """Give a ledger entry its one place."""
    return f"LEDGER#{entry}"


BALANCE_SK = "BALANCE"


ATTEMPTS = "ATTEMPT#"


def attempts_sk(task: str) -> str:
    """Begin with what all submits of one task begin with."""
    return f"{ATTEMPTS}{task}#"


def attempt_sk(task: str, cycle: int, number: int) -> str:
    """Write down one submit to a provider."""
    return f"{attempts_sk(task)}{cycle}.{number}"


def rate_sk(name: str, minute: int) -> str:
    """Count what was asked of a provider in one minute."""
    return f"RATE#{name}#{minute}"


def progress_sk(task: str) -> str:
    """Say how far a render is where the relay does not look."""
    return f"PROGRESS#{task}"


def late_sk(task: str, attempt: int, lease: str) -> str:
    """Record a result that came too late."""
    return f"LATE#{task}#{attempt}-{lease}"


def stats_pk(kind: str, provider: str) -> str:
    """Keep what was measured of a provider's renders of one kind."""
    return f"STATS#{kind}#{provider}"


DURATIONS_SK = "DURATIONS"
OPERATIONS_PK = "OPS"  # what belongs to no account
AUDIT_SK = "AUDIT"


def due_shard(task: str, shards: int) -> str:
    """Spread unfinished tasks over the index's partitions."""
    return due_shard_name(crc32(task.encode()) % shards)


def due_shard_name(shard: int) -> str:
    """Name a partition of the index."""
    return f"due-{shard}"


def wire(item: Item) -> Wire:
    """Type plain values; None is left out."""
    return {name: _serialize(value) for name, value in item.items() if value is not None}


def plain(item: Wire) -> Item:
    """Untype values; whole numbers come back as int."""
    return {name: _plain(_deserialize(value)) for name, value in item.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if hasattr(value, "as_tuple"):  # Decimal
        return int(value)
    return value


def stamp(moment: datetime) -> str:
    """Write a time so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(stamp: str) -> datetime:
    """Read `stamp` back."""
    return datetime.fromisoformat(stamp)


def update(table: str, key: Item, before: Item, after: Item, guard: Item) -> dict[str, Any]:
    """Set and remove just what differs, if the item still shows `guard`."""
    names: dict[str, str] = {}
    values: Item = {}

    def name(attribute: str) -> str:
        return names.setdefault(attribute, f"#{attribute}")

    def value(prefix: str, attribute: str, of: Any) -> str:
        values[f":{prefix}_{attribute}"] = of
        return f":{prefix}_{attribute}"

    changed = {key: new for key, new in after.items() if new is not None and before.get(key) != new}
    gone = [key for key, old in before.items() if old is not None and after.get(key) is None]
    sets = [f"{name(key)} = {value('new', key, new)}" for key, new in changed.items()]
    removes = [name(key) for key in gone]
    expression = "SET " + ", ".join(sets)
    if removes:
        expression += " REMOVE " + ", ".join(removes)
    held = [f"{name(key)} = {value('old', key, old)}" for key, old in guard.items()]
    return {
        "TableName": table,
        "Key": wire(key),
        "UpdateExpression": expression,
        "ConditionExpression": " AND ".join(held),
        "ExpressionAttributeNames": {short: long for long, short in names.items()},
        "ExpressionAttributeValues": wire(values),
    }
