"""Everything around the pipeline, in memory: queues, files, time and chance."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from functions import kinds, providers
from functions.adapters.clock import SystemIds
from functions.adapters.workshop import InProcess
from functions.domain.hooks import Delivery, Judgement
from functions.domain.jobs import (
    Broken,
    Cancellation,
    Download,
    Fetched,
    Job,
    Observation,
    OutputGone,
    RemoteOutput,
    RenderOrder,
    Search,
    Submitted,
    TooLarge,
)
from functions.domain.kinds import Kind, Promise
from functions.domain.media import (
    HEAD_BYTES,
    MediaHead,
    StoredFile,
    Unreachable,
    UploadForm,
    identity,
    outputs_prefix,
)
from functions.domain.models import (
    Asked,
    Clip,
    Listener,
    Listening,
    Model,
    ModelCalls,
    Question,
    Showing,
    Shown,
)
from functions.domain.ports import Attended, Budgets, Heartbeat, ProviderCalls
from functions.domain.providers import Provider, Remote
from functions.domain.rules import Rules
from functions.domain.signals import SIGNALS
from functions.domain.stores import AuditStore, DurationStore, ProgressStore, TaskStore
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.verdicts import Facts, Inspected, NotVerified, Ruling, Verdict
from functions.domain.windows import Sketch
from functions.domain.work import Progress, Workshop
from tests.doubles.store import MemoryAuditStore, MemoryStore

T = TypeVar("T")
START = datetime(2026, 11, 30, 10, tzinfo=UTC)


@dataclass(slots=True)
class FixedClock:
    """Provides `Clock`; time moves when told to."""

    at: datetime = START

    def now(self) -> datetime:
        return self.at

    def forward(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass(slots=True)
class SeededIds:
    """Provides `Ids` from one seed."""

    chance: random.Random = field(default_factory=lambda: random.Random(7))

    def ulid(self, now: datetime) -> str:
        stem = SystemIds().ulid(now)[:10]
        return stem + "".join(self.chance.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=16))

    def lease(self) -> str:
        return f"{self.chance.getrandbits(128):032x}"

    def jitter(self) -> float:
        return self.chance.random()


@dataclass(slots=True)
class MemoryQueue:
    """Provides `RenderQueue`; what was sent waits in `tickets`."""

    tickets: list[tuple[Ticket, int]] = field(default_factory=list)
    buried: list[Task] = field(default_factory=list)

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        self.tickets.append((ticket, delay_seconds))

    def bury(self, task: Task) -> None:
        self.buried.append(task)


@dataclass(slots=True)
class MemoryWorkflow:
    """Provides `Workflow`; what was started waits in `runs`."""

    runs: list[tuple[TaskRef, int]] = field(default_factory=list)

    def start(self, task: Task) -> None:
        self.runs.append((TaskRef(account=task.account, id=task.id), task.attempt))


@dataclass(slots=True)
class MemoryMedia:
    """Provides `MediaStore`."""

    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def upload_form(self, key: str, *, content_type: str, bytes_max: int) -> UploadForm:
        fields = {"key": key, "Content-Type": content_type, "max": str(bytes_max)}
        return UploadForm(url="memory:", fields=fields)

    def link(self, key: str, *, filename: str, seconds: int) -> str:
        return f"memory:{key}?filename={filename}&seconds={seconds}"

    def head(self, key: str, *, first_bytes: int = 0) -> MediaHead | None:
        if key not in self.files:
            return None
        content, content_type = self.files[key]
        return MediaHead(
            key=key,
            size_bytes=len(content),
            etag=_etag(content),
            content_type=content_type,
            head=content[:first_bytes],
        )

    def fetch(self, key: str, path: Path, *, etag: str | None = None) -> bool:
        content, _ = self.files.get(key, (b"", ""))
        if key not in self.files or (etag and etag != _etag(content)):
            return False
        path.write_bytes(content)
        return True

    def outputs(self, account: str) -> Iterator[StoredFile]:
        for key, (content, _) in self.files.items():
            if key.startswith(outputs_prefix(account)):
                yield StoredFile(key=key, size_bytes=len(content), stored_at=START)

    def put_bytes(self, content: bytes, key: str, *, content_type: str) -> None:
        self.files.setdefault(key, (content, content_type))

    def keys(self, prefix: str, *, limit: int) -> list[str]:
        return sorted(key for key in self.files if key.startswith(prefix))[:limit]

    def read(self, key: str, *, bytes_max: int, start: int = 0) -> bytes | None:
        return self.files[key][0][start : start + bytes_max] if key in self.files else None

    def place(self, key: str) -> str:
        return f"s3://memory/{key}"

    def move(self, key: str, to: str) -> None:
        self.files[to] = self.files.pop(key)

    def put(self, path: Path, key: str, *, content_type: str) -> None:
        self.files.setdefault(key, (path.read_bytes(), content_type))


def _etag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'  # noqa: S324 - as S3 does


ACCEPTED = Verdict(
    ruling=Ruling.ACCEPT,
    code="ok",
    reason="",
    facts=Facts(size_bytes=5, sha256="0" * 64, seconds=4.0, width=1280, height=720, codec="h264"),
)


@dataclass(slots=True)
class ScriptedInspector:
    """Provides `Inspector` with the verdict that it was given."""

    verdict: Verdict | NotVerified = ACCEPTED

    def inspect(
        self, path: Path, promise: Promise, *, kind: str, workdir: Path
    ) -> Inspected | NotVerified:
        assert path.exists()
        assert promise.seconds > 0
        assert kind
        assert workdir.is_dir()
        if isinstance(self.verdict, NotVerified):
            return self.verdict
        return Inspected(verdict=self.verdict, path=path)


@dataclass(slots=True)
class CountingMetrics:
    """Provides `Metrics`, as they are declared, and no others.

    `counts` holds the sums by name, `gauges` what was said last.
    """

    counts: Counter[str] = field(default_factory=Counter)
    gauges: dict[str, float] = field(default_factory=dict)

    def count(self, name: str, value: float = 1, **about: str) -> None:
        assert set(SIGNALS[name].split) <= set(about), name
        self.counts[name] += int(value)
        for each, of in about.items():
            self.counts[f"{name}.{each}={of}"] += int(value)

    def gauge(self, name: str, value: float, **about: str) -> None:
        assert set(SIGNALS[name].split) <= set(about), name
        self.gauges[name] = value


@contextmanager
def still_heartbeat(beat: Callable[[], bool], seconds: float) -> Iterator[None]:
    """Provide `Heartbeat`: one beat at the start, as a real one has by the end of a render."""
    assert seconds > 0
    beat()
    yield


class NoProviders:
    """Provides `ProviderCalls` where no test should reach one."""

    def submit(self, provider: Remote, order: RenderOrder) -> Submitted:
        raise AssertionError((provider.name, order.token))

    def observe(self, provider: Remote, job: Job) -> Observation:
        raise AssertionError((provider.name, job))

    def find(self, provider: Remote, token: str, since: datetime) -> Search:
        raise AssertionError((provider.name, token, since))

    def cancel(self, provider: Remote, job: Job) -> Cancellation:
        raise AssertionError((provider.name, job))

    def judge(self, provider: Remote, hook: Delivery, *, at: datetime | None = None) -> Judgement:
        raise AssertionError((provider.name, hook, at))

    def download(self, provider: Remote, output: RemoteOutput, path: Path) -> Download:
        raise AssertionError((provider.name, output, path))


class NoModels:
    """Provides `ModelCalls` where no test should reach one."""

    def show(self, model: Model, clip: Clip) -> Showing:
        raise AssertionError((model.name, clip))

    def ask(self, model: Model, question: Question) -> Asked:
        raise AssertionError((model.name, question))

    def listen(self, listener: Listener, name: str, place: str) -> Listening:
        raise AssertionError((listener.name, name, place))

    def forget(self, model: Model, shown: Shown) -> None:
        raise AssertionError((model.name, shown))


@dataclass(slots=True)
class MemoryWeb:
    """Provides `Web`; `files` are what servers have, by address."""

    files: dict[str, bytes] = field(default_factory=dict)
    trouble: Unreachable | None = None
    broken: Broken | None = None

    def head(self, url: str, *, first_bytes: int) -> MediaHead | Unreachable:
        if self.trouble:
            return self.trouble
        content = self.files[url]
        return MediaHead(
            key=url,
            size_bytes=len(content),
            etag=identity(len(content), content[:HEAD_BYTES]),
            content_type="video/mp4",
            head=content[:first_bytes],
        )

    def piece(self, url: str, start: int, count: int) -> bytes:
        return self.files[url][start : start + count]

    def fetch(self, url: str, path: Path, *, bytes_max: int) -> Download:
        if self.broken:
            return self.broken
        content = self.files.get(url)
        if content is None:
            return OutputGone(status=404)
        if len(content) > bytes_max:
            return TooLarge(bytes_max=bytes_max)
        path.write_bytes(content)
        return Fetched(size_bytes=len(content), sha256="", content_type="video/mp4")


def at_once(work: Callable[[], T], look: Callable[[], None]) -> T:
    """Provide `Attended`: one look, as there is while somebody else thinks."""
    look()
    return work()


class Unlimited:
    """Provides `Budgets` that are never used up."""

    def take(self, name: str, per_minute: int | None) -> bool:
        assert name
        return per_minute is None or per_minute > 0


@dataclass(slots=True)
class MemoryDurations:
    """Provides `DurationStore`."""

    sketches: dict[tuple[str, str], Sketch] = field(default_factory=dict)

    def read(self, kind: str, provider: str) -> Sketch | None:
        return self.sketches.get((kind, provider))

    def write(self, kind: str, provider: str, sketch: Sketch) -> bool:
        known = self.sketches.get((kind, provider))
        if sketch.version != (known.version if known else 0):
            return False
        self.sketches[kind, provider] = replace(sketch, version=sketch.version + 1)
        return True


@dataclass(slots=True)
class MemoryProgress:
    """Provides `ProgressStore`; `notes` holds all that was ever noted."""

    notes: list[tuple[str, str | None, datetime, Progress]] = field(default_factory=list)

    def write(self, task: Task, progress: Progress, at: datetime) -> None:
        self.notes.append((task.id, task.lease, at, progress))

    def read(self, task: Task) -> Progress | None:
        mine = [note for note in self.notes if note[0] == task.id]
        if not mine:
            return None
        _, lease, _, progress = max(mine, key=lambda note: note[2])
        return progress if lease == task.lease else None


@dataclass(slots=True)
class World:
    """Provides `Ports`, all in memory unless a test puts something else in."""

    store: TaskStore = field(default_factory=MemoryStore)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    workflow: MemoryWorkflow = field(default_factory=MemoryWorkflow)
    media: MemoryMedia = field(default_factory=MemoryMedia)
    clock: FixedClock = field(default_factory=FixedClock)
    ids: SeededIds = field(default_factory=SeededIds)
    metrics: CountingMetrics = field(default_factory=CountingMetrics)
    kinds: Mapping[str, Kind] = field(default_factory=kinds.load)
    providers: Mapping[str, Provider] = field(default_factory=providers.load)
    inspector: ScriptedInspector = field(default_factory=ScriptedInspector)
    rules: Rules = field(default_factory=Rules)
    heartbeat: Heartbeat = still_heartbeat
    audits: MemoryAuditStore | None = None
    remote: ProviderCalls = field(default_factory=NoProviders)
    models: ModelCalls = field(default_factory=NoModels)
    web: MemoryWeb = field(default_factory=MemoryWeb)
    attended: Attended = at_once
    budgets: Budgets = field(default_factory=Unlimited)
    durations: DurationStore = field(default_factory=MemoryDurations)
    progress: ProgressStore = field(default_factory=MemoryProgress)
    workshop: Workshop = field(default_factory=InProcess)

    @property
    def auditing(self) -> AuditStore:
        if self.audits is None:
            assert isinstance(self.store, MemoryStore)
            self.audits = MemoryAuditStore(store=self.store)
        return self.audits
