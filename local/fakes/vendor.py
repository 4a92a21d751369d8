"""What all stand-ins share: jobs on a clock of their own, files, calls, and the bill."""

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

from local.fakes.script import End, File, Hooks, Lost, Script, script_of

METADATA = "http://169.254.169.254/latest/meta-data/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to a stand-in. Header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Parse the body; an empty object where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


def request_of(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Take a request apart."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    lowered = {name.lower(): value for name, value in headers.items()}
    return Request(method=method, path=parts.path, query=query, headers=lowered, body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer. `cut` says more in its length than it sends, then hangs up."""

    status: int = 200
    content: Any = None
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0
    after_seconds: float = 0.0  # of real time, while others are answered


class HangUp(Exception):
    """Close the connection without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call to a hook, signed and ready."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True, kw_only=True)
class Job:
    """One accepted job."""

    id: str
    script: Script
    at: float  # on the stand-in's clock
    hook_url: str | None
    order: Mapping[str, Any]
    name: str = ""  # the client's own name for it
    withdrawn: bool = False
    erased: bool = False
    questions: int = 0
    listings: int = 0

    @property
    def ends_at(self) -> float:
        """When it is finished."""
        if self.script.end is End.STUCK:
            return float("inf")
        return self.at + self.script.queue_seconds + self.script.run_seconds


@dataclass(order=True, slots=True)
class Due:
    """A call that is to be made at a time; `phase` is what it tells."""

    at: float
    number: int
    job: Job = field(compare=False)
    phase: str = field(compare=False)
    tries: int = field(default=0, compare=False)


class Played(ABC):
    """What all stand-ins have: an address, a clock of their own, scripts, a key and a bill."""

    kind: ClassVar[str]  # of tasks that it is a provider of
    key: ClassVar[str] = "test-key"

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.address = ""  # known once it listens
        self.lock = threading.RLock()
        self.ahead = 0.0

    @classmethod
    @abstractmethod
    def prepared(cls, clip: bytes, seconds: float) -> Self:
        """Make one that takes so long for what it does, and delivers the clip if it delivers."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Tell what a client must be configured with."""

    def secrets(self) -> dict[str, list[str]]:
        """Tell the secrets that a client needs."""
        return {"api_key": [self.key]}

    @abstractmethod
    def answer(self, request: Request) -> Answer:
        """Answer a request as the vendor does."""

    @abstractmethod
    def refusal(self, status: int) -> Answer:
        """Word an error as the vendor does."""

    @abstractmethod
    def bill(self) -> dict[str, int]:
        """Count what was asked for, what was made, and what is to be paid."""

    @abstractmethod
    def told(self, given: Mapping[str, Any]) -> int:
        """Take scripts for what comes next, and count those that wait."""

    def now(self) -> float:
        """Tell the stand-in's time, in seconds since 1970."""
        return self.clock() + self.ahead


class Vendor(Played):
    """One vendor of renders. Subclasses answer requests and word their calls."""

    kind = "image_to_video"
    several_events: ClassVar[bool] = False
    call_tries: ClassVar[int] = 3
    call_again_seconds: ClassVar[float] = 60.0
    file_lifetime_seconds: ClassVar[float] = 86400.0

    def __init__(
        self,
        clip: bytes,
        script: Script | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(clock)
        self.clip = clip
        self.script = script or Script()
        self.scripts: list[Script] = []
        self.jobs: dict[str, Job] = {}
        self.due: list[Due] = []
        self.submits = 0
        self.questions = 0
        self.calls_now: list[Due] = []

    @classmethod
    def prepared(cls, clip: bytes, seconds: float) -> Self:
        """Make one whose renders take so long."""
        return cls(clip, Script(run_seconds=seconds))

    def told(self, given: Mapping[str, Any]) -> int:
        """Take scripts for the next jobs, or for all that have none of their own."""
        self.scripts += [script_of(one) for one in given.get("next", [])]
        if "default" in given:
            self.script = script_of(given["default"])
        return len(self.scripts)

    @abstractmethod
    def call(self, job: Job, phase: str) -> Call:
        """Word and sign a call about a job."""

    def stamp(self, job: Job) -> str:
        """Word when a job was made."""
        return datetime.fromtimestamp(job.at, UTC).isoformat()

    def accept(self, order: Mapping[str, Any], hook_url: str | None, name: str = "") -> Job:
        """Make a job, or break off as its script says."""
        self.submits += 1
        script = self.scripts.pop(0) if self.scripts else self.script
        if script.refuse:
            raise Refusal(script)
        if script.lost is Lost.BEFORE:
            raise HangUp
        job = Job(
            id=self.new_id(),
            script=script,
            at=self.now(),
            hook_url=hook_url,
            order=order,
            name=name,
        )
        self.jobs[job.id] = job
        self._plan(job)
        if script.lost is Lost.AFTER:
            raise HangUp
        return job

    def new_id(self) -> str:
        """Make an id as the vendor's look."""
        return token_hex(12)

    def asked(self, identifier: str) -> Job | None:
        """Count a question about a job, and break off as its script says."""
        self.questions += 1
        job = self.jobs.get(identifier)
        if job is None or job.erased:
            return None
        job.questions += 1
        if job.questions <= len(job.script.queries):
            raise Refusal(Script(refuse=job.script.queries[job.questions - 1]))
        return job

    def listed(self) -> list[Job]:
        """List jobs, newest first, leaving out what the script hides yet."""
        self.questions += 1
        shown = []
        for job in reversed(self.jobs.values()):
            job.listings += 1
            if job.listings > job.script.unlisted and not job.erased:
                shown.append(job)
        return shown

    def phase(self, job: Job) -> str:
        """Tell where a job is: queued, running or ended."""
        if job.withdrawn or self.now() >= job.ends_at:
            return "ended"
        return "running" if self.now() >= job.at + job.script.queue_seconds else "queued"

    def end(self, job: Job) -> End:
        """Tell how a job ended."""
        return End.CANCELED if job.withdrawn else job.script.end

    def file_url(self, job: Job) -> str:
        """Name the finished film; the address is good for the vendor's lifetime from now on."""
        return f"{self.address}/files/{job.id}.mp4?until={self.now() + self.file_lifetime_seconds}"

    def file(self, request: Request) -> Answer:
        """Serve a finished film, or what the script makes of it."""
        job = self.jobs.get(request.path.removeprefix("/files/").removesuffix(".mp4"))
        if job is None or job.erased or float(request.query.get("until", 0)) < self.now():
            return Answer(status=403, raw=b"expired")
        mp4 = {"content-type": "video/mp4"}
        where = job.script.file
        if where in (File.TRUNCATED, File.DAMAGED):
            half = self.clip[: len(self.clip) // 2]
            cut = len(self.clip) if where is File.TRUNCATED else 0
            return Answer(raw=half, headers=mp4, cut=cut)
        if where is File.MOVED and "moved" not in request.query:
            return Answer(status=302, headers={"location": f"{self.file_url(job)}&moved=1"})
        if where is File.ASTRAY:
            return Answer(status=302, headers={"location": METADATA})
        if where in (File.GONE, File.BUSY):
            return Answer(status=404 if where is File.GONE else 503, raw=b"")
        return Answer(raw=self.clip, headers=mp4)

    def bill(self) -> dict[str, int]:
        """Count what was asked for, what was made, and what is to be paid."""
        return {
            "submits": self.submits,
            "accepted": len(self.jobs),
            "billed": sum(job.script.billed for job in self.jobs.values()),
            "questions": self.questions,
        }

    def _plan(self, job: Job) -> None:
        script = job.script
        if job.hook_url is None or script.hooks is Hooks.NEVER:
            return
        times = [(job.at + script.queue_seconds, "running")] if self.several_events else []
        times += [(job.ends_at, "ended")] * (2 if script.hooks is Hooks.TWICE else 1)
        if script.hooks is Hooks.REVERSED:
            times = [(job.ends_at + place, what) for place, (_, what) in enumerate(times[::-1])]
        for at, what in times:
            due = Due(at + script.hook_delay_seconds, len(self.due), job, what)
            if at == float("inf"):
                continue
            (self.calls_now if script.hooks is Hooks.EARLY else self.due).append(due)


class Refusal(Exception):
    """A request that the script lets fail with an HTTP status."""

    def __init__(self, script: Script) -> None:
        super().__init__(script.refuse)
        self.script = script
