"""What can go wrong: one class for each problem code, and one for an API that is not reached."""

from collections.abc import Mapping
from typing import Any


class TallyreelError(Exception):
    """Anything that this package raises on purpose."""


class Unreachable(TallyreelError):
    """The API could not be asked. This says nothing about any task: tasks go on."""

    def __init__(self, why: str, *, key: str | None = None) -> None:
        super().__init__(why if key is None else f"{why}; repeat with idempotency key {key}")
        self.key = key


class Damaged(TallyreelError):
    """A downloaded file is not the one that was verified."""


class TaskEnded(TallyreelError):
    """The task ended without a result. Its credits were returned."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        error = task.get("error") or {"code": task["state"], "reason": task["message"]}
        super().__init__(f"{error['reason']} ({error['code']})")
        self.code: str = error["code"]
        self.task = task


class Problem(TallyreelError):
    """The API refused. `code` is stable; `retryable` says whether a repeat can succeed."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        said = str(body.get("detail") or body.get("message") or f"HTTP {status}")
        faults = [f"{each['pointer']}: {each['detail']}" for each in body.get("errors") or []]
        super().__init__(" ".join([said, *faults]))
        self.status = status
        self.code = str(body.get("code", status))
        self.retryable = bool(body.get("retryable"))
        self.body = dict(body)


class InvalidInput(Problem):
    """Parts of the request are not as expected; the text names each."""


class SourceRefused(Problem):
    """The uploaded source, or what is at its address, cannot be used."""


class NotSignedIn(Problem):
    """There is no token, or it has ended."""


class Forbidden(Problem):
    """This token may not do that."""


class NotFound(Problem):
    """It never existed, or is not yours."""


class Purged(Problem):
    """The task ended long ago; its ledger entries remain."""


class NoCredit(Problem):
    """The price is more than the credits available. Nothing was held."""

    @property
    def available(self) -> int:
        """What there is."""
        return int(self.body["available"])

    @property
    def price(self) -> int:
        """What it takes."""
        return int(self.body["price"])


class Busy(Problem):
    """A task on the same source is in progress."""

    @property
    def task_id(self) -> str:
        """Which."""
        return str(self.body["task"]).rpartition("/")[2]


class KeyReused(Problem):
    """The idempotency key was used for another request."""


class AccountFull(Problem):
    """As many tasks are open as the account may have."""


class NoResult(Problem):
    """The task has delivered nothing, or nothing yet."""


class Expired(Problem):
    """What was made has had its time and is removed."""


class StateConflict(Problem):
    """The task is not in a state in which this can be done."""


CODES: dict[str, type[Problem]] = {
    "invalid-input": InvalidInput,
    "forbidden": Forbidden,
    "not-found": NotFound,
    "task-purged": Purged,
    "insufficient-credit": NoCredit,
    "resource-busy": Busy,
    "idempotency-key-reused": KeyReused,
    "account-full": AccountFull,
    "state-conflict": StateConflict,
    "no-result": NoResult,
    "result-expired": Expired,
    "length-unknown": SourceRefused,
    "type-unsupported": SourceRefused,
}
REFUSED_SOURCES = ("photo-", "recording-", "video-", "source-", "url-")


def problem_of(status: int, body: Mapping[str, Any]) -> Problem:
    """Make the error that a refusal is."""
    code = str(body.get("code", ""))
    if status == 401:  # noqa: PLR2004 - the gateway's own answer has no code
        return NotSignedIn(status, body)
    if code.startswith(REFUSED_SOURCES):
        return SourceRefused(status, body)
    return CODES.get(code, Problem)(status, body)
