"""What the pipeline needs from outside, named by need. Adapters provide it, and tests in memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from functions.domain.attempts import Attempt
from functions.domain.audit import AuditReport, Books
from functions.domain.credits import Balance, Entry
from functions.domain.hooks import Delivery, Judgement
from functions.domain.jobs import (
    Cancellation,
    Download,
    Job,
    Observation,
    RemoteOutput,
    RenderOrder,
    Search,
    Submitted,
)
from functions.domain.kinds import Kind, Promise, Review
from functions.domain.media import MediaHead, StoredFile, UploadForm
from functions.domain.providers import Provider, Remote
from functions.domain.results import Application, Creation, Grant, KeyReused, Page, Replayed
from functions.domain.tasks import Change, Route, Task
from functions.domain.verdicts import Inspected, NotVerified, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRef:
    """A task's name. The account is part of it: that is the isolation."""

    account: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """The message that asks for one attempt."""

    account: str
    id: str
    kind: str
    attempt: int
    lane: str  # the queue
    lease: str | None = None  # from a call's token: it must fit
    hint: str | None = None  # a job's name, from a call that was proved to be its provider's


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """Everything that the creation transaction writes."""

    task: Task
    input: Mapping[str, Any]
    key_hash: str  # of the idempotency key
    fingerprint: str  # of the request
    open_max: int
    keep_until: datetime  # how long the key is remembered
    input_until: datetime  # how long the input is, longer than any task of it


class TaskStore(Protocol):
    """The table. Every write is conditional and says how it ended."""

    def create(self, new: NewTask) -> Creation:
        """Write idempotency record, lock, hold, task, input and ledger entry, or none of them."""
        ...

    def replayed(
        self, account: str, key_hash: str, fingerprint: str
    ) -> Replayed | KeyReused | None:
        """Look an idempotency key up; None if it was never used."""
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

    def report(self, ref: TaskRef, attempt: int) -> Verdict | None:
        """Read an attempt's inspection."""
        ...

    def put_late(self, task: Task, output_key: str, at: datetime) -> None:
        """Record a result that came when its task had moved on. It is never charged."""
        ...


class ProviderCalls(Protocol):
    """Remote providers over HTTPS. Every ending is a value."""

    def submit(self, provider: Remote, order: RenderOrder) -> Submitted:
        """Order a render with exactly one request."""
        ...

    def observe(self, provider: Remote, job: Job) -> Observation:
        """Ask where a job is."""
        ...

    def find(self, provider: Remote, token: str, since: datetime) -> Search:
        """Look for the job of a submit of unknown outcome."""
        ...

    def cancel(self, provider: Remote, job: Job) -> Cancellation:
        """Withdraw a job, as far as the provider can."""
        ...

    def judge(self, provider: Remote, hook: Delivery, *, at: datetime | None = None) -> Judgement:
        """Judge a call that came just now, or `at`: whose it is, then what it says."""
        ...

    def download(self, provider: Remote, output: RemoteOutput, path: Path) -> Download:
        """Fetch a finished file."""
        ...


class Budgets(Protocol):
    """How often something may be asked, over all functions together."""

    def take(self, name: str, per_minute: int | None) -> bool:
        """Take one of this minute's; False if none is left. No limit is always True."""
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


class RenderQueue(Protocol):
    """The queues that feed renderers, one per kind."""

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        """Ask for an attempt. The account is the message group, so that none starves another."""
        ...

    def bury(self, task: Task) -> None:
        """Put the whole history of a dead task into the kind's dead-letter queue."""
        ...


class Workflow(Protocol):
    """Verify, then settle."""

    def start(self, task: Task) -> None:
        """Start it for a task's current attempt. Starting twice is harmless."""
        ...


class MediaStore(Protocol):
    """The bucket."""

    def upload_form(self, key: str, *, content_type: str, bytes_max: int) -> UploadForm:
        """Sign a POST for exactly this key and type, up to this size."""
        ...

    def link(self, key: str, *, filename: str, seconds: int) -> str:
        """Sign a short-lived download link."""
        ...

    def head(self, key: str, *, first_bytes: int = 0) -> MediaHead | None:
        """Look at an object and at its first bytes; None if there is none."""
        ...

    def fetch(self, key: str, path: Path, *, etag: str | None = None) -> bool:
        """Download; False if it is gone, or is no longer the object with this etag."""
        ...

    def put_bytes(self, content: bytes, key: str, *, content_type: str) -> None:
        """Store a few bytes once; a second time leaves the first."""
        ...

    def keys(self, prefix: str, *, limit: int) -> list[str]:
        """List stored names, oldest names first."""
        ...

    def read(self, key: str, *, bytes_max: int) -> bytes | None:
        """Read a small object; None if there is none."""
        ...

    def move(self, key: str, to: str) -> None:
        """Rename an object."""
        ...

    def put(self, path: Path, key: str, *, content_type: str) -> None:
        """Upload once, with a checksum; a second upload to the key leaves the first."""
        ...

    def outputs(self, account: str) -> Iterator[StoredFile]:
        """List an account's rendered files."""
        ...


class Inspector(Protocol):
    """Looks at a finished file, in a process that cannot hurt the rest."""

    def inspect(
        self, path: Path, promise: Promise, *, kind: str, workdir: Path
    ) -> Inspected | NotVerified:
        """Judge a file, repacking it first where that is all it needs."""
        ...


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """Aware UTC, to the millisecond."""
        ...


class Ids(Protocol):
    """Randomness."""

    def ulid(self, now: datetime) -> str:
        """Sortable by time, unguessable."""
        ...

    def lease(self) -> str:
        """Name a claim."""
        ...

    def jitter(self) -> float:
        """Draw from [0, 1)."""
        ...


class Heartbeat(Protocol):
    """Calls `beat` at intervals while the block runs, and stops when it returns False."""

    def __call__(self, beat: Callable[[], bool], seconds: float) -> AbstractContextManager[None]:
        """Start beating."""
        ...


class Metrics(Protocol):
    """Counts for the dashboard and the alarms."""

    def count(self, name: str, value: float = 1, **dimensions: str) -> None:
        """Add to a metric."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the deployment may decide."""

    open_max: int = 50  # unfinished tasks per account
    key_days: int = 7
    link_seconds: int = 900
    shards: int = 4
    hook_base: str | None = None  # the API's public address, for providers to call
    routes: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)  # by kind, in order
    unit_prices: Mapping[str, int] = field(default_factory=dict)  # by "kind/provider"
    reviews: Mapping[str, Review] = field(default_factory=dict)  # by kind, where not its own


class Ports(Protocol):
    """Everything a stage may use. What is not asked for is never built."""

    @property
    def store(self) -> TaskStore:
        """Where tasks and credits are."""
        ...

    @property
    def auditing(self) -> AuditStore:
        """Where the auditor looks."""
        ...

    @property
    def remote(self) -> ProviderCalls:
        """Who reaches providers."""
        ...

    @property
    def budgets(self) -> Budgets:
        """What providers may be asked."""
        ...

    @property
    def queue(self) -> RenderQueue:
        """Where attempts wait."""
        ...

    @property
    def workflow(self) -> Workflow:
        """What verifies and settles."""
        ...

    @property
    def media(self) -> MediaStore:
        """Where files are."""
        ...

    @property
    def clock(self) -> Clock:
        """What time it is."""
        ...

    @property
    def ids(self) -> Ids:
        """Where names and chance come from."""
        ...

    @property
    def heartbeat(self) -> Heartbeat:
        """What keeps a lease."""
        ...

    @property
    def metrics(self) -> Metrics:
        """What counts."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What can be ordered, by name."""
        ...

    @property
    def providers(self) -> Mapping[str, Provider]:
        """Who renders, by name."""
        ...

    @property
    def inspector(self) -> Inspector:
        """Who judges finished files."""
        ...

    @property
    def rules(self) -> Rules:
        """What the deployment decided."""
        ...
