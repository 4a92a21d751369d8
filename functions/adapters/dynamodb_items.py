"""Tasks, entries and verdicts as table items, and back."""

from datetime import UTC, datetime

from functions.adapters.dynamodb_keys import (
    BALANCE_SK,
    DEAD_SHARD,
    Item,
    account_pk,
    attempt_sk,
    due_shard,
    entry_sk,
    moment,
    stamp,
    task_sk,
)
from functions.domain.attempts import Attempt
from functions.domain.credits import Balance, Entry, EntryKind
from functions.domain.jobs import Job
from functions.domain.states import Deadline, Effect, TaskState
from functions.domain.tasks import Output, Step, Task

_MILLISECONDS = 1000


def task_key(task: Task) -> Item:
    """Name a task's hot item."""
    return {"pk": account_pk(task.account), "sk": task_sk(task.id)}


def task_item(task: Task, shards: int) -> Item:
    """Write a task without its key. `ob` is what the relay's filter looks for."""
    dead = task.deadline is Deadline.OPERATOR
    shard = DEAD_SHARD if dead else due_shard(task.id, shards)
    return {
        "kind": task.kind,
        "provider": task.provider,
        "lane": task.lane,
        "resource": task.resource,
        "price": task.price,
        "state": str(task.state),
        "created_at": stamp(task.created_at),
        "v": task.version,
        "attempt": task.attempt,
        "cycle": task.cycle,
        "tries": task.tries,
        "lease": task.lease,
        "due_at": _stamp(task.due_at),
        "due_shard": shard if task.due_at else None,
        "deadline": str(task.deadline),
        "not_before": _stamp(task.not_before),
        "queued_at": _stamp(task.queued_at),
        "ob": str(task.effect) if task.effect else None,
        "job": {"id": task.job.id, "handles": dict(task.job.handles)} if task.job else None,
        "out_key": task.output_key,
        "out": _output_item(task.output) if task.output else None,
        "code": task.code,
        "reason": task.reason,
        "ttl": int(task.keep_until.timestamp()) if task.keep_until else None,
        "history": [_step_text(step) for step in task.history],
    }


def task_of(item: Item) -> Task:
    """Read a task."""
    effect = item.get("ob")
    output = item.get("out")
    return Task(
        account=str(item["pk"]).partition("#")[2],
        id=str(item["sk"]).partition("#")[2],
        kind=item["kind"],
        provider=item["provider"],
        lane=item["lane"],
        resource=item["resource"],
        price=item["price"],
        state=TaskState(item["state"]),
        created_at=moment(item["created_at"]),
        version=item["v"],
        attempt=item["attempt"],
        cycle=item["cycle"],
        tries=item["tries"],
        lease=item.get("lease"),
        due_at=_moment(item.get("due_at")),
        deadline=Deadline(item["deadline"]),
        not_before=_moment(item.get("not_before")),
        queued_at=_moment(item.get("queued_at")),
        effect=Effect(effect) if effect else None,
        job=Job(**item["job"]) if "job" in item else None,
        output_key=item.get("out_key"),
        output=_output_of(output) if output else None,
        code=item.get("code"),
        reason=item.get("reason"),
        keep_until=datetime.fromtimestamp(item["ttl"], UTC) if "ttl" in item else None,
        history=tuple(_step_of(text) for text in item["history"]),
    )


def _stamp(at: datetime | None) -> str | None:
    return stamp(at) if at else None


def _moment(text: str | None) -> datetime | None:
    return moment(text) if text else None


def _step_text(step: Step) -> str:
    return f"{step.state} {stamp(step.at)} {step.attempt} {step.reason}"


def _step_of(text: str) -> Step:
    state, at, attempt, reason = text.split(" ", 3)
    return Step(state=TaskState(state), at=moment(at), attempt=int(attempt), reason=reason)


def _output_item(output: Output) -> Item:
    return {
        "key": output.key,
        "type": output.content_type,
        "bytes": output.size_bytes,
        "sha256": output.sha256,
        "ms": round(output.seconds * _MILLISECONDS),
        "w": output.width,
        "h": output.height,
        "codec": output.codec,
        "until": stamp(output.expires_at) if output.expires_at else "",
        "thumbs": output.thumbnails,
    }


def _output_of(item: Item) -> Output:
    return Output(
        key=item["key"],
        content_type=item["type"],
        size_bytes=item["bytes"],
        sha256=item["sha256"],
        seconds=item["ms"] / _MILLISECONDS,
        width=item["w"],
        height=item["h"],
        codec=item["codec"],
        expires_at=_moment(item["until"]),
        thumbnails=item.get("thumbs", 0),
    )


def attempt_item(task: Task, attempt: Attempt) -> Item:
    """Write an attempt with its key."""
    return {
        "pk": account_pk(task.account),
        "sk": attempt_sk(task.id, attempt.cycle, attempt.number),
        "provider": attempt.provider,
        "at": stamp(attempt.at),
        "units": attempt.units,
        "outcome": attempt.outcome,
        "job": attempt.job,
        "charged": attempt.charged,
    }


def attempt_of(item: Item) -> Attempt:
    """Read an attempt."""
    cycle, number = str(item["sk"]).rpartition("#")[2].split(".")
    return Attempt(
        cycle=int(cycle),
        number=int(number),
        provider=item["provider"],
        at=moment(item["at"]),
        units=item["units"],
        outcome=item.get("outcome"),
        job=item.get("job"),
        charged=item.get("charged"),
    )


def entry_item(account: str, entry: Entry) -> Item:
    """Write a ledger entry."""
    return {
        "pk": account_pk(account),
        "sk": entry_sk(entry.id),
        "kind": str(entry.kind),
        "amount": entry.amount,
        "at": stamp(entry.at),
        "task": entry.task,
        "note": entry.note,
    }


def entry_of(item: Item) -> Entry:
    """Read a ledger entry."""
    return Entry(
        id=str(item["sk"]).partition("#")[2],
        kind=EntryKind(item["kind"]),
        amount=item["amount"],
        at=moment(item["at"]),
        task=item.get("task"),
        note=item.get("note"),
    )


def balance_key(account: str) -> Item:
    """Name an account's balance."""
    return {"pk": account_pk(account), "sk": BALANCE_SK}


def balance_of(item: Item) -> Balance:
    """Read a balance; an account that was never granted anything has an empty one."""
    return Balance(
        available=item.get("available", 0),
        held=item.get("held", 0),
        spent=item.get("spent", 0),
        open=item.get("open", 0),
    )
