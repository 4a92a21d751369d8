"""What must be true of an account's credits, tasks and locks at any quiet moment."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from functions.domain.attempts import Attempt
from functions.domain.credits import Balance, Entry, EntryKind, entry_id, recompute
from functions.domain.spend import SpendLine
from functions.domain.states import TaskState
from functions.domain.tasks import Task

DIFFERENCES_MAX = 200  # a report lists so many and counts the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as it must be. It is shown to operators, never repaired silently."""

    account: str
    code: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Which task holds a source."""

    kind: str
    resource: str
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Everything that an account has, read while its balance stood still."""

    account: str
    balance: Balance
    entries: tuple[Entry, ...]
    tasks: tuple[Task, ...]
    locks: tuple[Lock, ...]
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """How far an audit has come; `finished_at` when it is through."""

    started_at: datetime
    finished_at: datetime | None = None
    cursor: str | None = None
    accounts: int = 0
    tasks: int = 0
    entries: int = 0
    skipped: int = 0  # accounts that never stood still long enough
    found: int = 0
    differences: tuple[Difference, ...] = field(default_factory=tuple)
    spend: tuple[SpendLine, ...] = field(default_factory=tuple)


def audit_account(books: Books) -> list[Difference]:
    """Compare an account's balance, holds, ends, tasks and locks with each other."""
    return [
        Difference(account=books.account, code=code, subject=subject, detail=detail)
        for code, subject, detail in (
            *_balance(books),
            *_ends(books),
            *_locks(books),
            *_tasks(books),
        )
    ]


Found = Iterable[tuple[str, str, str]]


def _balance(books: Books) -> Found:
    sums = recompute(books.entries)
    if sums is None:
        yield "ledger-impossible", "BALANCE", "the entries take more than there was"
    elif sums != books.balance:
        yield "balance-differs", "BALANCE", f"ledger says {sums}, balance says {books.balance}"


def _ends(books: Books) -> Found:
    holds = {entry.id: entry for entry in books.entries if entry.kind is EntryKind.HOLD}
    for entry in books.entries:
        if entry.kind not in (EntryKind.SETTLE, EntryKind.RELEASE):
            continue
        hold = holds.get(entry.id.replace("#2-end", "#1-hold"))
        if hold is None:
            yield "end-without-hold", entry.id, f"a {entry.kind} of {entry.amount}"
        elif hold.amount != entry.amount:
            yield "end-differs", entry.id, f"held {hold.amount}, ended {entry.amount}"


def _locks(books: Books) -> Found:
    holders = {(lock.kind, lock.resource): lock.task for lock in books.locks}
    unfinished = {
        (task.kind, task.resource): task.id for task in books.tasks if not task.state.done
    }
    for key, task in holders.items():
        if unfinished.get(key) != task:
            yield "lock-without-task", "/".join(key), f"held by {task}"
    for key, task in unfinished.items():
        if holders.get(key) != task:
            yield "task-without-lock", task, "/".join(key)


def _tasks(books: Books) -> Found:
    entries = {entry.id: entry.kind for entry in books.entries}
    for task in books.tasks:
        hold = entry_id(EntryKind.HOLD, subject=task.id, cycle=task.cycle)
        end = entries.get(entry_id(EntryKind.RELEASE, subject=task.id, cycle=task.cycle))
        if hold not in entries:
            yield "task-without-hold", task.id, f"in state {task.state}"
        if end is not _end_of(task.state):
            yield "end-not-of-state", task.id, f"{task.state} with {end or 'no end'}"
        if not task.state.done and task.due_at is None:
            yield "no-deadline", task.id, f"in state {task.state}"


def _end_of(state: TaskState) -> EntryKind | None:
    if state is TaskState.DELIVERED:
        return EntryKind.SETTLE
    return EntryKind.RELEASE if state.done else None
