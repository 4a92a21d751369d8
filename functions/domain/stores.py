"""The table, as the stages need it. Adapters provide these ports, and tests in memory."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from functions.domain.attempts import Attempt
from functions.domain.audit import AuditReport, Books
from functions.domain.credits import Balance, Entry
from functions.domain.results import Application, Creation, Grant, KeyReused, Page, Replayed
from functions.domain.tasks import Change, Task
from functions.domain.tickets import NewTask, TaskRef
from functions.domain.verdicts import Verdict
from functions.domain.windows import Sketch
from functions.domain.work import Progress


class TaskStore(Protocol):
    """The table. Every write is conditional and says how it ended."""

    def create(self, new: NewTask) -> Creation:
        """Write idempotency record, lock, hold, task, input and ledger entry, or none of them."""
        ...

    def replayed(
        self, account: str, key_hash: str, fingerprint: str, now: datetime
    ) -> Replayed | KeyReused | None:
        """Look an idempotency key up; None if it was never used, or is forgotten by now."""
        ...

    def get(self, ref: TaskRef, *, fresh: bool = True) -> Task | None:
        """Read one task. Not `fresh`: at half the price, perhaps as it was a moment ago."""
        ...

    def input(self, ref: TaskRef) -> Mapping[str, Any] | None:
        """Read what was ordered."""
        ...

    def apply(self, change: Change, attempt: Attempt | None = None) -> Application:
        """Write a step if the task is still `before`; credits and attempt in the same write."""
        ...

    def attempts(self, ref: TaskRef) -> list[Attempt]:
        """List what was submitted for a task, oldest first."""
        ...

    def renew(self, task: Task, due_at: datetime) -> bool:
        """Move the deadline of a lease that is still held; False if it is lost."""
        ...

    def tasks(self, account: str, *, limit: int, cursor: str | None) -> Page[Task]:
        """List an account's tasks, newest first."""
        ...

    def due(self, shard: int, *, until: datetime, limit: int) -> list[TaskRef]:
        """Name unfinished tasks whose deadline has passed, oldest first."""
        ...

    def dead(self, *, limit: int, cursor: str | None) -> Page[TaskRef]:
        """Name tasks that wait for an operator, longest dead first."""
        ...

    def balance(self, account: str) -> Balance:
        """Read what an account has."""
        ...

    def ledger(self, account: str, *, limit: int, cursor: str | None) -> Page[Entry]:
        """List an account's entries, by the time of what they belong to, newest first."""
        ...

    def entry(self, account: str, entry_id: str) -> Entry | None:
        """Read one ledger entry."""
        ...

    def grant(
        self,
        account: str,
        entry: Entry,
        *,
        key_hash: str,
        fingerprint: str,
        keep_until: datetime,
    ) -> Grant:
        """Give credits, once per key."""
        ...

    def put_report(self, task: Task, verdict: Verdict) -> None:
        """Keep an attempt's inspection; the first one stays."""
        ...

    def report(self, task: Task) -> Verdict | None:
        """Read an attempt's inspection."""
        ...

    def put_late(self, task: Task, output_key: str, at: datetime) -> None:
        """Record a result that came when its task had moved on. It is never charged."""
        ...


class ProgressStore(Protocol):
    """How far renders are, beside their tasks, so that noting it moves and relays nothing."""

    def write(self, task: Task, progress: Progress, at: datetime) -> None:
        """Note how far the render under a task's lease is; the newest note stays."""
        ...

    def read(self, task: Task) -> Progress | None:
        """Read how far the render under a task's lease is; None if nothing was noted yet."""
        ...


class DurationStore(Protocol):
    """How long renders took, by kind and provider."""

    def read(self, kind: str, provider: str) -> Sketch | None:
        """Read a sketch; None if nothing was measured yet."""
        ...

    def write(self, kind: str, provider: str, sketch: Sketch) -> bool:
        """Keep the successor of the version that it was made from; False if another came first."""
        ...


class AuditStore(Protocol):
    """The table as the auditor sees it: whole, and read only but for its own report."""

    def accounts(self, *, limit: int, cursor: str | None) -> Page[str]:
        """Name accounts that were ever given credits, in no order. Reads the whole table."""
        ...

    def books(self, account: str) -> Books:
        """Read everything that an account has."""
        ...

    def report(self) -> AuditReport | None:
        """Read the newest audit, finished or not."""
        ...

    def put_report(self, report: AuditReport) -> None:
        """Keep how far the audit has come."""
        ...
