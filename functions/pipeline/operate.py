"""Operate: what a person with the operators' claim can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from functions.domain.credits import Entry, EntryKind, entry_id
from functions.domain.errors import OutcomeUnknown, Unavailable
from functions.domain.ports import Ports
from functions.domain.results import (
    AccountFull,
    Application,
    Applied,
    Busy,
    Contended,
    Grant,
    NoCredit,
    Page,
    Stale,
)
from functions.domain.states import Event
from functions.domain.tasks import Happening, Ignored, Task
from functions.domain.tickets import TaskRef
from functions.pipeline.advance import advance
from functions.pipeline.intake import digest

PAGES_MAX = 20  # of dead tasks that one bulk redrive looks through


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What an operator looks at first. Counts stop at `capped_at`."""

    overdue: int
    dead: int
    capped_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redriven:
    """How the redrive of one task went: `redriven`, or what was in the way."""

    task: Task
    outcome: str


def grant(ports: Ports, account: str, key: str, amount: int, note: str | None) -> Grant:
    """Give an account credits, once per key."""
    now = ports.clock.now()
    entry = Entry(
        id=entry_id(EntryKind.GRANT, subject=ports.ids.ulid(now)),
        kind=EntryKind.GRANT,
        amount=amount,
        at=now,
        note=note,
    )
    key_hash, fingerprint = digest(f"grant:{key}"), digest(f"{amount}:{note}")
    try:
        return ports.store.grant(
            account,
            entry,
            key_hash=key_hash,
            fingerprint=fingerprint,
            keep_until=now + timedelta(days=ports.rules.key_days),
        )
    except OutcomeUnknown as error:
        known = ports.store.replayed(account, key_hash, fingerprint, now)
        if known is None:
            raise Unavailable from error
        return known


def dead(ports: Ports, *, limit: int, cursor: str | None) -> Page[Task]:
    """List tasks that wait for an operator, longest dead first."""
    page = ports.store.dead(limit=limit, cursor=cursor)
    tasks = [ports.store.get(ref) for ref in page.items]
    return Page(items=[task for task in tasks if task], cursor=page.cursor)


def redrive(ports: Ports, ref: TaskRef) -> Application | Ignored | None:
    """Start a dead task anew under a new hold; None if there is no such task."""
    task = ports.store.get(ref)
    if task is None:
        return None
    return advance(ports, task, Happening(event=Event.REDRIVE, code="redriven"))


def redrive_many(
    ports: Ports, *, limit: int, kind: str | None = None, code: str | None = None
) -> list[Redriven]:
    """Start the longest-dead tasks anew, as many as `limit`; each one says how it went."""
    done: list[Redriven] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = dead(ports, limit=limit, cursor=cursor)
        for task in page.items:
            if kind in (None, task.kind) and code in (None, task.code) and len(done) < limit:
                result = advance(ports, task, Happening(event=Event.REDRIVE, code="redriven"))
                done.append(Redriven(task=task, outcome=_outcome(result)))
        cursor = page.cursor
        if cursor is None or len(done) >= limit:
            break
    return done


def _outcome(result: Application | Ignored) -> str:
    match result:
        case Applied():
            return "redriven"
        case Busy():
            return "resource-busy"
        case NoCredit():
            return "insufficient-credit"
        case AccountFull():
            return "account-full"
        case Stale() | Ignored():
            return "moved-on"
        case Contended():
            return "concurrent-request"
        case _:
            assert_never(result)


def health(ports: Ports, *, capped_at: int = 1000) -> Health:
    """Count what is overdue and what is dead."""
    now = ports.clock.now()
    overdue: Sequence[int] = [
        len(ports.store.due(shard, until=now, limit=capped_at))
        for shard in range(ports.rules.shards)
    ]
    waiting = ports.store.dead(limit=capped_at, cursor=None)
    return Health(overdue=sum(overdue), dead=len(waiting.items), capped_at=capped_at)
