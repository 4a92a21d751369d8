"""The table in memory, held to the same contract as the real one."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import Any

from functions.adapters.dynamodb_keys import due_shard, due_shard_name
from functions.domain.attempts import Attempt
from functions.domain.audit import AuditReport, Books, Lock
from functions.domain.credits import Balance, Entry, EntryKind, entry_id, moved
from functions.domain.errors import BadCursor
from functions.domain.results import (
    AccountFull,
    Application,
    Applied,
    Busy,
    Created,
    Creation,
    Grant,
    Granted,
    KeyReused,
    NoCredit,
    Page,
    Replayed,
    Stale,
)
from functions.domain.states import Deadline
from functions.domain.tasks import Change, Task
from functions.domain.tickets import NewTask, TaskRef
from functions.domain.verdicts import Verdict


@dataclass(slots=True)
class _Key:
    fingerprint: str
    id: str
    until: datetime


@dataclass(slots=True)
class MemoryStore:
    """Provides `TaskStore`. Its dictionaries may be looked at, not written to."""

    shards: int = 4
    open_max: int = 50
    tasks_by_ref: dict[TaskRef, Task] = field(default_factory=dict)
    inputs: dict[TaskRef, Mapping[str, Any]] = field(default_factory=dict)
    balances: dict[str, Balance] = field(default_factory=dict)
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    locks: dict[tuple[str, str, str], str] = field(default_factory=dict)
    keys: dict[tuple[str, str], _Key] = field(default_factory=dict)
    reports: dict[tuple[TaskRef, int, int], Verdict] = field(default_factory=dict)
    late: dict[tuple[TaskRef, int, str | None], tuple[str, datetime]] = field(default_factory=dict)
    submits: dict[tuple[TaskRef, int, int], Attempt] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def create(self, new: NewTask) -> Creation:
        task = new.task
        with self._lock:
            known = self._known(task.account, new.key_hash, new.fingerprint, task.created_at)
            if known:
                return known
            holder = self.locks.get(_lock(task))
            if holder:
                return Busy(id=holder)
            refused = self._hold_refused(task, new.open_max)
            if refused:
                return refused
            ref = _ref(task)
            key = _Key(fingerprint=new.fingerprint, id=task.id, until=new.keep_until)
            self.keys[task.account, new.key_hash] = key
            self.locks[_lock(task)] = task.id
            self._move(task, EntryKind.HOLD, task.created_at)
            self.tasks_by_ref[ref] = task
            self.inputs[ref] = deepcopy(dict(new.input))
        return Created(task=task)

    def replayed(
        self, account: str, key_hash: str, fingerprint: str, now: datetime
    ) -> Replayed | KeyReused | None:
        return self._known(account, key_hash, fingerprint, now)

    def get(self, ref: TaskRef, *, fresh: bool = True) -> Task | None:  # noqa: ARG002 - always is
        return self.tasks_by_ref.get(ref)

    def input(self, ref: TaskRef) -> Mapping[str, Any] | None:
        return self.inputs.get(ref)

    def apply(self, change: Change, attempt: Attempt | None = None) -> Application:
        before, after = change.before, change.after
        with self._lock:
            now = self.tasks_by_ref.get(_ref(before))
            same = now is not None and (now.version, now.state, now.attempt, now.lease) == (
                before.version,
                before.state,
                before.attempt,
                before.lease,
            )
            if change.on_deadline and now is not None:
                same = same and now.due_at == before.due_at
            if not same:
                return Stale()
            kind = change.credits
            if kind is EntryKind.HOLD:
                holder = self.locks.get(_lock(after))
                if holder:
                    return Busy(id=holder)
                refused = self._hold_refused(after, self.open_max)
                if refused:
                    return refused
            if kind is not None:
                self._move(after, kind, change.at)
                if kind is EntryKind.HOLD:
                    self.locks[_lock(after)] = after.id
                else:
                    del self.locks[_lock(after)]
            self.tasks_by_ref[_ref(before)] = after
            if attempt is not None:
                self.submits[_ref(before), attempt.cycle, attempt.number] = attempt
        return Applied(task=after)

    def attempts(self, ref: TaskRef) -> list[Attempt]:
        return [
            made
            for (owner, _, _), made in sorted(self.submits.items(), key=_by_number)
            if owner == ref
        ]

    def renew(self, task: Task, due_at: datetime) -> bool:
        with self._lock:
            now = self.tasks_by_ref.get(_ref(task))
            if now is None or (now.state, now.attempt, now.lease) != (
                task.state,
                task.attempt,
                task.lease,
            ):
                return False
            self.tasks_by_ref[_ref(task)] = replace(now, due_at=due_at)
        return True

    def tasks(self, account: str, *, limit: int, cursor: str | None) -> Page[Task]:
        mine = [task for ref, task in self.tasks_by_ref.items() if ref.account == account]
        newest = sorted(mine, key=lambda task: task.id, reverse=True)
        rest = [task for task in newest if cursor is None or task.id < cursor]
        return _page(rest, limit, lambda task: task.id)

    def due(self, shard: int, *, until: datetime, limit: int) -> list[TaskRef]:
        name = due_shard_name(shard)
        found = [
            (task.due_at, ref)
            for ref, task in self.tasks_by_ref.items()
            if task.due_at is not None
            and task.deadline is not Deadline.OPERATOR
            and due_shard(task.id, self.shards) == name
            and task.due_at <= until
        ]
        return [ref for _, ref in sorted(found, key=lambda pair: (pair[0], pair[1].id))][:limit]

    def dead(self, *, limit: int, cursor: str | None) -> Page[TaskRef]:
        found = [
            (task.due_at, ref)
            for ref, task in self.tasks_by_ref.items()
            if task.deadline is Deadline.OPERATOR and task.due_at is not None
        ]
        refs = [ref for _, ref in sorted(found, key=lambda pair: (pair[0], pair[1].id))]
        ids = [ref.id for ref in refs]
        if cursor is not None and cursor not in ids:
            raise BadCursor(cursor)
        start = ids.index(cursor) + 1 if cursor is not None else 0
        return _page(refs[start:], limit, lambda ref: ref.id)

    def balance(self, account: str) -> Balance:
        return self.balances.get(account, Balance())

    def ledger(self, account: str, *, limit: int, cursor: str | None) -> Page[Entry]:
        mine = [entry for (owner, _), entry in self.entries.items() if owner == account]
        newest = sorted(mine, key=lambda entry: entry.id, reverse=True)
        rest = [entry for entry in newest if cursor is None or entry.id < cursor]
        return _page(rest, limit, lambda entry: entry.id)

    def entry(self, account: str, entry_id: str) -> Entry | None:
        return self.entries.get((account, entry_id))

    def grant(
        self,
        account: str,
        entry: Entry,
        *,
        key_hash: str,
        fingerprint: str,
        keep_until: datetime,
    ) -> Grant:
        with self._lock:
            known = self._known(account, key_hash, fingerprint, entry.at)
            if known:
                return known
            after = moved(self.balance(account), entry.kind, entry.amount)
            assert after is not None
            self.keys[account, key_hash] = _Key(
                fingerprint=fingerprint, id=entry.id, until=keep_until
            )
            self.balances[account] = after
            self.entries[account, entry.id] = entry
        return Granted(id=entry.id)

    def put_report(self, task: Task, verdict: Verdict) -> None:
        self.reports.setdefault((_ref(task), task.cycle, task.attempt), verdict)

    def report(self, task: Task) -> Verdict | None:
        return self.reports.get((_ref(task), task.cycle, task.attempt))

    def put_late(self, task: Task, output_key: str, at: datetime) -> None:
        self.late.setdefault((_ref(task), task.attempt, task.lease), (output_key, at))

    def _known(
        self, account: str, key_hash: str, fingerprint: str, now: datetime
    ) -> Replayed | KeyReused | None:
        key = self.keys.get((account, key_hash))
        if key is None or key.until < now:
            return None
        return _replay(key, fingerprint)

    def _hold_refused(self, task: Task, open_max: int) -> NoCredit | AccountFull | None:
        had = self.balance(task.account)
        if had.available < task.price:
            return NoCredit(available=had.available, price=task.price)
        return AccountFull(open=had.open) if had.open >= open_max else None

    def _move(self, task: Task, kind: EntryKind, at: datetime) -> None:
        entry = Entry(
            id=entry_id(kind, subject=task.id, cycle=task.cycle),
            kind=kind,
            amount=task.price,
            at=at,
            task=task.id,
        )
        after = moved(self.balance(task.account), kind, task.price)
        assert after is not None
        assert (task.account, entry.id) not in self.entries
        self.balances[task.account] = after
        self.entries[task.account, entry.id] = entry


def _by_number(pair: tuple[tuple[TaskRef, int, int], Attempt]) -> tuple[int, int]:
    (_, cycle, number), _ = pair
    return cycle, number


def _ref(task: Task) -> TaskRef:
    return TaskRef(account=task.account, id=task.id)


def _lock(task: Task) -> tuple[str, str, str]:
    return task.account, task.kind, task.resource


def _replay(key: _Key, fingerprint: str) -> Replayed | KeyReused:
    return Replayed(id=key.id) if key.fingerprint == fingerprint else KeyReused()


def _page(items: list[Any], limit: int, name: Any) -> Page[Any]:
    more = len(items) > limit
    return Page(items=items[:limit], cursor=name(items[limit - 1]) if more else None)


@dataclass(slots=True)
class MemoryAuditStore:
    """Provides `AuditStore` over a store in memory."""

    store: MemoryStore
    kept: AuditReport | None = None

    def accounts(self, *, limit: int, cursor: str | None) -> Page[str]:
        rest = [name for name in sorted(self.store.balances) if cursor is None or name > cursor]
        return _page(rest, limit, lambda name: name)

    def books(self, account: str) -> Books:
        store = self.store
        return Books(
            account=account,
            balance=store.balance(account),
            entries=tuple(e for (owner, _), e in store.entries.items() if owner == account),
            tasks=tuple(t for ref, t in store.tasks_by_ref.items() if ref.account == account),
            attempts=tuple(
                made for (ref, _, _), made in store.submits.items() if ref.account == account
            ),
            locks=tuple(
                Lock(kind=kind, resource=resource, task=task)
                for (owner, kind, resource), task in store.locks.items()
                if owner == account
            ),
        )

    def report(self) -> AuditReport | None:
        return self.kept

    def put_report(self, report: AuditReport) -> None:
        self.kept = report
