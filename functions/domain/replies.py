"""What a status code alone says, for all providers alike."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from functions.domain.exchange import HttpReply, retry_after_seconds
from functions.domain.jobs import (
    CannotTell,
    Cost,
    Fault,
    JobState,
    Observation,
    Rejected,
    RenderOrder,
    Unknown,
    failure,
)

NOT_FOUND: Final = 404
TOO_MANY: Final = 429

# A redirect is here because none is followed: whoever sent it made no job. What is not here
# (408, 409, 425 and all of 5xx) may come from something in front of a provider that has the job.
_REFUSALS: Final = (
    {400: Fault.BAD_INPUT, 413: Fault.BAD_INPUT, 415: Fault.BAD_INPUT, 422: Fault.BAD_INPUT}
    | {401: Fault.NO_ACCESS, 402: Fault.NO_ACCESS, 403: Fault.NO_ACCESS}
    | {404: Fault.NO_ACCESS, 405: Fault.NO_ACCESS, 410: Fault.NO_ACCESS}
    | {301: Fault.NO_ACCESS, 302: Fault.NO_ACCESS, 307: Fault.NO_ACCESS, 308: Fault.NO_ACCESS}
    | {TOO_MANY: Fault.THROTTLED}
)


def fault_of(status: int) -> Fault | None:
    """Say what a status alone refuses for; None where it does not say that anything was."""
    return _REFUSALS.get(status)


def refused(reply: HttpReply, now: datetime) -> Rejected | Unknown:
    """Read an answer to a submission that is no acceptance."""
    fault = fault_of(reply.status)
    if fault is None:
        return Unknown(cause=f"http-{reply.status}")
    return Rejected(
        failure=failure(fault, detail=f"http-{reply.status}"),
        retry_after_seconds=retry_after_seconds(reply, now),
    )


def unanswered(reply: HttpReply, now: datetime, *, word: str = "") -> Observation:
    """Say that a question went wrong. The job is where it was."""
    return Observation(
        state=JobState.UNANSWERED,
        word=word or (f"http-{reply.status}" if not reply.ok else "not-json"),
        retry_after_seconds=retry_after_seconds(reply, now),
    )


def no_answer(reply: HttpReply, now: datetime) -> Observation | None:
    """Read what is no answer about a job at all; None where the body is worth reading."""
    if reply.status == NOT_FOUND:
        return Observation(state=JobState.GONE, word="http-404")
    if not reply.ok or not isinstance(reply.json(), dict):
        return unanswered(reply, now)
    return None


def no_list(reply: HttpReply, now: datetime) -> CannotTell | None:
    """Read what is no list of jobs; None where the body is worth reading."""
    if reply.ok and isinstance(reply.json(), dict):
        return None
    return CannotTell(
        cause=f"http-{reply.status}" if not reply.ok else "not-json",
        retry_after_seconds=retry_after_seconds(reply, now),
    )


def wrong_length(order: RenderOrder, allowed: Collection[int]) -> Rejected | None:
    """Refuse a length that the model does not make: another one would not be what was ordered."""
    if order.seconds in allowed:
        return None
    return Rejected(failure=failure(Fault.BAD_INPUT, "seconds-unsupported"))


def output_missing(word: str, cost: Cost | None = None, *, job_id: str = "") -> Observation:
    """Report a success that has nothing to show. It is not one."""
    return Observation(
        state=JobState.FAILED,
        word=word,
        job_id=job_id,
        failure=failure(Fault.TROUBLE, "output-missing"),
        cost=cost or Cost(),
    )
