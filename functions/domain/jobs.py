"""What providers are asked for and how that turned out, as values.

A provider's answer never decides by itself whether money moves; these values are what the
stages decide on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOrder:
    """What one attempt asks a provider to make.

    `token` is the attempt's own, unguessable, written down before anything is sent. `hook_url`
    is where the provider shall call, with the token in it; None asks for no call.
    """

    token: str = field(repr=False)
    prompt: str = field(repr=False)
    seconds: int
    aspect: str  # such as "16:9"
    photo_url: str = field(repr=False)
    photo_type: str = "image/jpeg"
    photo: bytes = field(default=b"", repr=False)  # where the provider takes no link
    hook_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A provider's name for a job, with what else it takes to ask for it again."""

    id: str
    handles: Mapping[str, str] = field(default_factory=dict)


class Fault(StrEnum):
    """Why something was not made. It says who can change that."""

    BAD_INPUT = "bad-input"  # the customer, by ordering something else
    REFUSED_CONTENT = "refused-content"  # the same
    NO_ACCESS = "no-access"  # an operator: key, payment, model name, address
    THROTTLED = "throttled"  # time
    TROUBLE = "provider-trouble"  # time, perhaps


_AGAIN = frozenset({Fault.THROTTLED, Fault.TROUBLE})
_REASONS = {
    Fault.BAD_INPUT: "This photo or this order cannot be rendered. Try another photo.",
    Fault.REFUSED_CONTENT: "The content was refused by the render service. Try another photo.",
    Fault.NO_ACCESS: "The render service is not available to us at the moment.",
    Fault.THROTTLED: "The render service is busy.",
    Fault.TROUBLE: "The render service could not finish.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One verdict on an attempt. `again`: whether another attempt may end differently.

    `code` is ours and stable, `reason` a sentence for the customer, `detail` the provider's own
    code, for operators only.
    """

    fault: Fault
    code: str
    reason: str
    again: bool
    detail: str = ""


def failure(
    fault: Fault,
    code: str = "",
    *,
    detail: str = "",
    again: bool | None = None,
    reason: str = "",
) -> Failure:
    """Build a failure with what usually goes with its fault; it speaks of renders by itself."""
    return Failure(
        fault=fault,
        code=code or str(fault),
        reason=reason or _REASONS[fault],
        again=fault in _AGAIN if again is None else again,
        detail=detail,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The provider has the job, and will be paid for it."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The provider has no job from this request: it said so. A next attempt risks nothing."""

    failure: Failure
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """Not a byte of the request was written. A next attempt risks nothing."""

    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The request may have arrived. Nothing is sent again while it may be running."""

    cause: str


Submitted: TypeAlias = Accepted | Rejected | NotSent | Unknown


class JobState(StrEnum):
    """Where a job is. Only SUCCEEDED, FAILED and GONE can end an attempt."""

    RUNNING = "running"  # waiting or working
    SUCCEEDED = "succeeded"  # with at least one output
    FAILED = "failed"  # with a failure
    GONE = "gone"  # unknown to the provider: too early, too late, or never there
    ENDED = "ended"  # a hook says that it ended; how must be asked
    UNRECOGNISED = "unrecognised"  # an answer of a shape or word that we do not know: an alarm
    UNANSWERED = "unanswered"  # the question failed, which says nothing about the job


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOutput:
    """A finished file at the provider."""

    url: str = field(repr=False)
    needs_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the provider lets us know of its fee. None: it does not say."""

    charged: bool | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was learned of a job, by asking or by being called.

    `word` is the provider's own word for its status. `job_id` and `token` are there where the
    answer names them.
    """

    state: JobState
    word: str = ""
    job_id: str = ""
    token: str = field(default="", repr=False)
    outputs: tuple[RemoteOutput, ...] = ()
    failure: Failure | None = None
    cost: Cost = field(default_factory=Cost)
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A submit of unknown outcome had arrived: this is its job."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The provider has no such job. It counts once its `find_settle_seconds` have passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotTell:
    """Neither found nor excluded."""

    cause: str
    retry_after_seconds: int | None = None


Search: TypeAlias = Found | Absent | CannotTell


class Cancellation(StrEnum):
    """How a cancel request ended. None of these is final: the job is asked for afterwards."""

    REQUESTED = "requested"
    ALREADY_ENDED = "already-ended"
    UNKNOWN_JOB = "unknown-job"
    UNSUPPORTED = "unsupported"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The whole output is on this machine's disk."""

    size_bytes: int
    sha256: str
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputGone:
    """The address is dead. The provider may know a fresh one."""

    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge:
    """It is more than we take."""

    bytes_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAddress:
    """The address leads where we do not go. An alarm: it may be our rule that is too tight."""

    code: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The download did not finish. It is tried again as a download, never as a render."""

    code: str
    retry_after_seconds: int | None = None


Download: TypeAlias = Fetched | OutputGone | TooLarge | RefusedAddress | Broken
