"""What the answers of models have in common, and what customers are told when there is none."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from functions.domain.exchange import HttpReply, retry_after_seconds
from functions.domain.jobs import Failure, Fault, Rejected, Unknown, failure
from functions.domain.models import Answered, Unusable, Usage
from functions.domain.replies import fault_of

COUNT_MAX: Final = 1 << 50  # beyond it a number of tokens is a mistake
_REASONS: Final = {
    Fault.BAD_INPUT: "This video cannot be analysed. Try another video.",
    Fault.REFUSED_CONTENT: "The content was refused by the analysis service. Try another video.",
    Fault.NO_ACCESS: "The analysis service is not available to us at the moment.",
    Fault.THROTTLED: "The analysis service is busy.",
    Fault.TROUBLE: "The analysis service could not finish.",
}


def no_analysis(
    fault: Fault, code: str = "", *, detail: str = "", again: bool | None = None
) -> Failure:
    """Build a failure of a model, in words about videos."""
    return failure(fault, code, detail=detail, again=again, reason=_REASONS[fault])


def declined(
    reply: HttpReply, now: datetime, fault: Fault | None = None, *, detail: str = ""
) -> Rejected | Unknown:
    """Read what is no answer. `fault` is what the vendor's own error says; else the status does."""
    known = fault or fault_of(reply.status)
    if known is None:
        return Unknown(cause=f"http-{reply.status}")
    return Rejected(
        failure=no_analysis(known, detail=detail or f"http-{reply.status}"),
        retry_after_seconds=retry_after_seconds(reply, now),
    )


def not_shown(detail: str, *, retry_after: int | None = None) -> Rejected:
    """Say that a clip did not get to where it can be looked at. It may the next time."""
    broken = no_analysis(Fault.TROUBLE, "clip-not-shown", detail=detail)
    return Rejected(failure=broken, retry_after_seconds=retry_after)


def refused_content(usage: Usage, detail: str) -> Unusable:
    """Say that a model will not speak about what it saw."""
    return Unusable(failure=no_analysis(Fault.REFUSED_CONTENT, detail=detail), usage=usage)


def truncated(usage: Usage, detail: str) -> Unusable:
    """Say that there was no room for the answer: a shorter part is to be asked about."""
    return unusable("answer-truncated", usage, detail)


def unusable(code: str, usage: Usage, detail: str, *, again: bool = True) -> Unusable:
    """Say that an answer is none, which may be different the next time."""
    broken = no_analysis(Fault.TROUBLE, code, detail=detail, again=again)
    return Unusable(failure=broken, usage=usage)


def answered(texts: Iterable[Any], usage: Usage, detail: str) -> Answered | Unusable:
    """Join the pieces of an answer that a model says is whole."""
    joined = "".join(each for each in texts if isinstance(each, str))
    written = joined.encode("utf-8", "replace").decode()
    if not written.strip():
        return unusable("answer-empty", usage, detail)
    return Answered(text=written, usage=usage)


def tokens(*counts: Any) -> int | None:
    """Add what a model counted; None if it says nothing that is a count."""
    known = [
        count
        for count in counts
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < COUNT_MAX
    ]
    return sum(known) if known else None
