"""What the pipeline needs from outside, named by need. Adapters provide it, and tests in memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

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
from functions.domain.kinds import Kind, Promise
from functions.domain.media import MediaHead, StoredFile, Unreachable, UploadForm
from functions.domain.models import ModelCalls
from functions.domain.providers import Provider, Remote
from functions.domain.rules import Rules
from functions.domain.stores import AuditStore, DurationStore, ProgressStore, TaskStore
from functions.domain.tasks import Task
from functions.domain.tickets import Ticket
from functions.domain.verdicts import Inspected, NotVerified
from functions.domain.work import Workshop

T = TypeVar("T")


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

    def read(self, key: str, *, bytes_max: int, start: int = 0) -> bytes | None:
        """Read a small object, or a part of one; None if there is none."""
        ...

    def place(self, key: str) -> str:
        """Name an object as other AWS services do: s3://bucket/key."""
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


class Attended(Protocol):
    """Waits for work that says nothing while it goes on, and calls `look` meanwhile.

    What `look` raises ends the wait; the work may go on unheard for a while.
    """

    def __call__(self, work: Callable[[], T], look: Callable[[], None]) -> T:
        """Do the work and return what it returns."""
        ...


class Web(Protocol):
    """Files of customers elsewhere, named by addresses that nobody vouches for."""

    def head(self, url: str, *, first_bytes: int) -> MediaHead | Unreachable:
        """Look at a file's first bytes; its `etag` is made of them and its size."""
        ...

    def piece(self, url: str, start: int, count: int) -> bytes:
        """Read a part of a file; raises `SourceUnreadable` if that is not to be had."""
        ...

    def fetch(self, url: str, path: Path, *, bytes_max: int) -> Download:
        """Fetch a whole file."""
        ...


class Metrics(Protocol):
    """Counts for the dashboard and the alarms: those that `functions/domain/signals.py` names."""

    def count(self, name: str, value: float = 1, **about: str) -> None:
        """Add to a metric. `about` splits it, or is only told in the log, as its signal says."""
        ...

    def gauge(self, name: str, value: float, **about: str) -> None:
        """Say how much there is of something now."""
        ...


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
    def models(self) -> ModelCalls:
        """Who reaches models."""
        ...

    @property
    def budgets(self) -> Budgets:
        """What providers may be asked."""
        ...

    @property
    def durations(self) -> DurationStore:
        """How long renders took."""
        ...

    @property
    def progress(self) -> ProgressStore:
        """How far renders are."""
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
    def attended(self) -> Attended:
        """What waits for an answer and looks around meanwhile."""
        ...

    @property
    def web(self) -> Web:
        """Where sources are that were not uploaded."""
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
    def workshop(self) -> Workshop:
        """Where files are made."""
        ...

    @property
    def rules(self) -> Rules:
        """What the deployment decided."""
        ...
