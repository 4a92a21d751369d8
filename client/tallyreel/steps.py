"""What the client does, without doing it: each flow yields its steps and is sent their outcomes.

The blocking and the asynchronous client run the very same flows; see `client.py` and `aio.py`.
"""

import hashlib
import json
import secrets
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from tallyreel.errors import Damaged, Expired, Problem, TaskEnded, Unreachable, problem_of
from tallyreel.models import Task

TRIES = 6
FIRST_WAIT, LAST_WAIT = 1.0, 30.0  # seconds
ASK_AGAIN = 2.0  # where an answer does not say when
OK, PARTIAL, SEE_OTHER, NOT_MODIFIED = 200, 206, 303, 304
FORBIDDEN, GONE, RANGE_NOT_SATISFIABLE, BUSY, BROKEN = 403, 410, 416, 429, 500
CHUNK_BYTES = 1 << 20
DOCUMENT = "application/json"
ACCEPTED = {"json": DOCUMENT, "markdown": "text/markdown"}

Format = Literal["json", "markdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Send a request to the API and hand its answer in."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Send a file through an upload form."""

    url: str
    fields: Mapping[str, str]
    file: Path
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Append what is at an address to a file, from where the file ends."""

    url: str
    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. `status` 0: nothing did."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""  # of one that is no JSON
    why: str = ""

    @property
    def lost(self) -> bool:
        """Whether nobody knows what became of the request, or the service is in trouble."""
        throttled = self.status == BUSY and "code" not in (self.body or {})
        return self.status == 0 or self.status >= BROKEN or throttled

    @property
    def wait(self) -> float | None:
        """When to come back, if it says so."""
        told = self.headers.get("retry-after", "")
        return float(told) if told.isdecimal() else None


T = TypeVar("T")
Step = Send | Post | Fetch | Sleep
Flow = Generator[Step, Answer, T]


def new_key() -> str:
    """Make an idempotency key: one per order, kept for its repeats."""
    return secrets.token_urlsafe(24)


def call(
    method: str,
    path: str,
    *,
    body: Any = None,
    key: str | None = None,
    query: Mapping[str, Any] | None = None,
) -> Flow[Any]:
    """Ask, and ask again while the answer is missing: every call of this API bears repeating."""
    headers = {"Idempotency-Key": key} if key else {}
    asked = {name: value for name, value in (query or {}).items() if value is not None}
    sent = Send(method=method, path=path, body=body, headers=headers, query=asked)
    return (yield from _answered(sent, key=key)).body


def _answered(sent: Send, *, key: str | None = None) -> Flow[Answer]:
    answer = Answer(status=0)
    for turn in range(TRIES):
        answer = yield sent
        again = answer.lost or (answer.body or {}).get("code") == "concurrent-request"
        if not again:
            break
        if turn < TRIES - 1:
            yield Sleep(seconds=answer.wait or _backoff(turn))
    if answer.lost:
        raise Unreachable(answer.why or f"HTTP {answer.status}", key=key)
    if answer.status >= 400:  # noqa: PLR2004 - where refusals begin
        raise problem_of(answer.status, answer.body or {})
    return answer


def _backoff(turn: int) -> float:
    return float(min(FIRST_WAIT * 2**turn, LAST_WAIT))


def create(
    kind: str, given: Mapping[str, Any], *, provider: str | None = None, key: str | None = None
) -> Flow[Task]:
    """Order a task once, however often it has to be sent."""
    body = {"kind": kind, "input": dict(given)} | ({"provider": provider} if provider else {})
    return cast("Task", (yield from call("POST", "/v1/tasks", body=body, key=key or new_key())))


def wait(task_id: str, *, on_news: Callable[[Task], None] | None = None) -> Flow[Task]:
    """Follow a task to its end, asking when the service says; trouble on the way ends nothing."""
    tag, task, failures = "", None, 0
    while True:
        headers = {"If-None-Match": tag} if tag else {}
        answer = yield Send(method="GET", path=f"/v1/tasks/{task_id}", headers=headers)
        if answer.lost:
            yield Sleep(seconds=answer.wait or _backoff(failures))
            failures += 1
            continue
        failures = 0
        if answer.status == OK:
            task, tag = cast("Task", answer.body), answer.headers.get("etag", "")
            if on_news:
                on_news(task)
            if task["done"]:
                return task
        elif answer.status != NOT_MODIFIED:
            raise problem_of(answer.status, answer.body or {})
        yield Sleep(seconds=answer.wait or ASK_AGAIN)


def delivered(task: Task) -> Task:
    """Insist on a result."""
    if task["result"] is None:
        raise TaskEnded(task)
    return task


def upload(file: Path, *, kind: str, content_type: str) -> Flow[str]:
    """Upload a source; its id goes into the order."""
    for turn in range(TRIES):
        asked = {"kind": kind, "content_type": content_type}
        slot = yield from call("POST", "/v1/uploads", body=asked)
        answer = yield Post(
            url=slot["url"], fields=slot["fields"], file=file, content_type=content_type
        )
        if not answer.lost:
            break
        yield Sleep(seconds=_backoff(turn))
    if answer.lost:
        raise Unreachable(answer.why or f"HTTP {answer.status}")
    if answer.status >= 400:  # noqa: PLR2004 - where refusals begin
        raise Problem(answer.status, {"code": "upload-refused", "detail": "The file was refused."})
    return str(slot["upload"])


def download(task_id: str, to: Path) -> Flow[Path]:
    """Fetch a result, going on where an earlier try stopped; keep only the verified file."""
    part = to.with_name(f"{to.name}.{task_id}.part")
    for turn in range(TRIES):
        task = delivered((yield from call("GET", f"/v1/tasks/{task_id}")))
        result = task["result"]
        if result is None or result["url"] is None:
            raise Expired(GONE, {"code": "result-expired", "detail": task["message"]})
        whole = part.is_file() and part.stat().st_size == result["bytes"]
        answer = Answer(status=OK) if whole else (yield Fetch(url=result["url"], file=part))
        if answer.status in (OK, PARTIAL) and part.stat().st_size == result["bytes"]:
            if _digest(part) == result["sha256"]:
                part.replace(to)
                return to
            part.unlink()  # begun on other bytes, or damaged on the way: from the start
        elif answer.status == RANGE_NOT_SATISFIABLE:
            part.unlink()
        yield Sleep(seconds=_backoff(turn))
    if answer.lost or answer.status == FORBIDDEN:
        raise Unreachable(answer.why or f"HTTP {answer.status}")
    raise Damaged(f"{to.name} did not arrive as it was verified, in {TRIES} tries")


def result(task_id: str, *, form: Format) -> Flow[Any]:
    """Read a result that is a document: as plain values, or as Markdown."""
    path, headers = f"/v1/tasks/{task_id}/result", {"Accept": ACCEPTED[form]}
    answer = yield from _answered(Send(method="GET", path=path, headers=headers))
    if answer.status != SEE_OTHER:
        return answer.text if form == "markdown" else answer.body
    task = delivered((yield from call("GET", f"/v1/tasks/{task_id}")))
    made = task["result"]
    if form == "markdown" or made is None or made["content_type"] != DOCUMENT:
        detail = "This result is a file. Download it."
        raise Problem(answer.status, {"code": "no-document", "detail": detail})
    with tempfile.TemporaryDirectory() as folder:  # too large for the API to pass on by itself
        file = yield from download(task_id, Path(folder, "result.json"))
        return json.loads(file.read_bytes())


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
