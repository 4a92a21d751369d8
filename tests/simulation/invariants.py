"""What must be true of an account, whoever keeps it: written apart from the product's auditor."""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime

from functions.domain.audit import Books, audit_account
from functions.domain.credits import Entry, EntryKind
from functions.domain.states import TaskState
from functions.domain.tasks import Task

FINAL = frozenset({TaskState.DELIVERED, TaskState.FAILED, TaskState.CANCELED})


def violations(
    books: Books,
    files: Collection[str],
    *,
    ended: bool,
    now: datetime | None = None,
    purged: Collection[str] = (),
) -> list[str]:
    """List what is wrong; with `ended`, unfinished tasks are wrong too.

    With `now`, files whose time is over may be gone; `purged` names tasks that are.
    """
    found = [*_credits(books), *_locks(books)]
    for task in books.tasks:
        found += _entries(task, books.entries)
        found += _deadline(task)
        found += _history(task)
        found += _delivery(task, files, now)
        if ended and not task.state.done:
            found.append(f"{task.id} is still {task.state}")
    known = {task.id for task in books.tasks} | set(purged)
    found += [
        f"entry {entry.id} of no task"
        for entry in books.entries
        if entry.task not in {None, *known}
    ]
    found += [f"auditor: {difference}" for difference in audit_account(books)]
    return found


def _credits(books: Books) -> Iterator[str]:
    sums: Counter[EntryKind] = Counter()
    for entry in books.entries:
        if entry.amount <= 0:
            yield f"entry {entry.id} of {entry.amount}"
        sums[entry.kind] += entry.amount
    ended = sums[EntryKind.SETTLE] + sums[EntryKind.RELEASE]
    granted = sums[EntryKind.GRANT] - sums[EntryKind.VOID]
    expected = {
        "available": granted - sums[EntryKind.HOLD] + sums[EntryKind.RELEASE],
        "held": sums[EntryKind.HOLD] - ended,
        "spent": sums[EntryKind.SETTLE],
        "open": sum(not task.state.done for task in books.tasks),
    }
    for name, amount in expected.items():
        has = getattr(books.balance, name)
        if has != amount:
            yield f"{name} is {has}, the ledger says {amount}"
        if has < 0:
            yield f"{name} is negative: {has}"
    holding = sum(task.price for task in books.tasks if not task.state.done)
    if holding != books.balance.held:
        yield f"{books.balance.held} held, open tasks cost {holding}"


def _locks(books: Books) -> Iterator[str]:
    locks = Counter((lock.kind, lock.resource, lock.task) for lock in books.locks)
    wanted = Counter(
        (task.kind, task.resource, task.id) for task in books.tasks if not task.state.done
    )
    for lock in locks - wanted:
        yield f"lock {lock} without an open task"
    for lock in wanted - locks:
        yield f"open task without lock {lock}"
    if len({lock[:2] for lock in wanted}) != wanted.total():
        yield "two open tasks on one source"


def _entries(task: Task, entries: Collection[Entry]) -> Iterator[str]:
    """One hold per round; one end per hold but the open one's; the end says how it ended."""
    mine = [entry for entry in entries if entry.task == task.id]
    for cycle in range(task.cycle + 1):
        here = [entry for entry in mine if entry.id.split("#")[1] == str(cycle)]
        holds = [entry for entry in here if entry.kind is EntryKind.HOLD]
        ends = [entry.kind for entry in here if entry.kind is not EntryKind.HOLD]
        current = cycle == task.cycle
        if current and not task.state.done:
            wanted = []
        elif current and task.state is TaskState.DELIVERED:
            wanted = [EntryKind.SETTLE]
        else:
            wanted = [EntryKind.RELEASE]
        if [entry.amount for entry in holds] != [task.price]:
            yield f"{task.id} round {cycle}: holds {holds}"
        if ends != wanted:
            yield f"{task.id} round {cycle}, {task.state}: ends {ends}, not {wanted}"
    if len(mine) != len({entry.id for entry in mine}):
        yield f"{task.id}: an entry twice"


def _deadline(task: Task) -> Iterator[str]:
    waits = not task.state.done or task.state is TaskState.DEAD
    if waits != (task.due_at is not None):
        yield f"{task.id} is {task.state} with deadline {task.due_at}"


def _history(task: Task) -> Iterator[str]:
    if task.history[-1].state is not task.state:
        yield f"{task.id} is {task.state}, its history ends with {task.history[-1].state}"
    for earlier, later in zip(task.history, task.history[1:], strict=False):
        line = f"{task.id} went from {earlier.state} to {later.state}"
        if earlier.state in FINAL:
            yield line
        if earlier.state is TaskState.DEAD and later.state is not TaskState.QUEUED:
            yield line
        if later.attempt < earlier.attempt and earlier.state is not TaskState.DEAD:
            yield f"{line} and back to attempt {later.attempt}"
        if later.at < earlier.at:
            yield f"{line} back in time"


def _delivery(task: Task, files: Collection[str], now: datetime | None) -> Iterator[str]:
    if (task.state is TaskState.DELIVERED) != (task.output is not None):
        yield f"{task.id} is {task.state} with output {task.output}"
    if task.output is None or task.state is not TaskState.DELIVERED:
        return
    until = task.output.expires_at
    expired = until is not None and now is not None and until <= now
    if task.output.key not in files and not expired:
        yield f"{task.id} was delivered without a file at {task.output.key}"
    if not task.output.key.startswith(f"out/{task.account}/{task.id}/{task.attempt}-"):
        yield f"{task.id} was delivered with a file of another attempt: {task.output.key}"
