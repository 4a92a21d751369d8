"""Every answer that is not a success: one table from what happened to status and code.

Bodies are RFC 9457 problems with a stable `code`, and `retryable`: whether the very same
request can succeed later.
"""

import json
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from functions.domain.errors import BadCursor, OutcomeUnknown, Unavailable
from functions.domain.kinds import InvalidInput
from functions.domain.outcomes import Refused
from functions.domain.results import AccountFull, Busy, Contended, KeyReused, NoCredit

CONTENT_TYPE = "application/problem+json"
RETRY_SOON_SECONDS = 1
RETRY_LATER_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One row: what a client is told. `retry_after` in seconds goes into the header."""

    status: HTTPStatus
    code: str
    detail: str
    retryable: bool = False
    retry_after: int | None = None


class Refusal(Exception):
    """Ends a request with a problem from anywhere in a route."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


KEY_MISSING = Problem(
    status=HTTPStatus.BAD_REQUEST,
    code="idempotency-key-missing",
    detail="Send an Idempotency-Key header, a new one per order, and keep it for repeats.",
)
KEY_MALFORMED = Problem(
    status=HTTPStatus.BAD_REQUEST,
    code="idempotency-key-malformed",
    detail="Use 16 to 128 letters, digits, dots, colons, underscores or hyphens.",
)
NOT_FOUND = Problem(
    status=HTTPStatus.NOT_FOUND, code="not-found", detail="There is no such thing in your account."
)
PURGED = Problem(
    status=HTTPStatus.GONE,
    code="task-purged",
    detail="This task ended long ago and its details were removed; its ledger entries remain.",
)
NO_RESULT = Problem(
    status=HTTPStatus.CONFLICT,
    code="no-result",
    detail="This task has delivered nothing, or nothing yet. See GET /v1/tasks/{id}.",
)
EXPIRED = Problem(
    status=HTTPStatus.GONE,
    code="result-expired",
    detail="The result was kept for its time and is removed. Order it again.",
)
FORBIDDEN = Problem(
    status=HTTPStatus.FORBIDDEN,
    code="forbidden",
    detail="This token may not do that. Use an access token with the right group.",
)
TOO_LARGE = Problem(
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    code="body-too-large",
    detail="A request body has at most 64 KB. Files go through POST /v1/uploads.",
)
UNSUPPORTED = Problem(
    status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    code="content-type-unsupported",
    detail="Send application/json.",
)
INTERNAL = Problem(
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    code="internal",
    detail="Something went wrong on our side. No credits were lost. Repeat with the same key.",
    retryable=True,
)
CONFLICT = Problem(
    status=HTTPStatus.CONFLICT,
    code="state-conflict",
    detail="The task is not in a state in which this can be done.",
)

TABLE: dict[type[Any], Problem] = {
    InvalidInput: Problem(
        status=HTTPStatus.BAD_REQUEST,
        code="invalid-input",
        detail="Parts of the request are not as expected; see `errors`.",
    ),
    Refused: Problem(status=HTTPStatus.BAD_REQUEST, code="source-refused", detail=""),
    KeyReused: Problem(
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
        code="idempotency-key-reused",
        detail="This key was used for another request. Use a new key for a new order.",
    ),
    Busy: Problem(
        status=HTTPStatus.CONFLICT,
        code="resource-busy",
        detail="A task on the same source is in progress. Follow it, or order again when it ended.",
    ),
    NoCredit: Problem(
        status=HTTPStatus.PAYMENT_REQUIRED,
        code="insufficient-credit",
        detail="The price is more than the credits available. Nothing was held.",
    ),
    AccountFull: Problem(
        status=HTTPStatus.TOO_MANY_REQUESTS,
        code="account-full",
        detail="As many tasks are open as the account may have. Order again when one has ended.",
        retryable=True,
        retry_after=RETRY_LATER_SECONDS,
    ),
    Contended: Problem(
        status=HTTPStatus.CONFLICT,
        code="concurrent-request",
        detail="Other requests of this account were in the way. Repeat with the same key.",
        retryable=True,
        retry_after=RETRY_SOON_SECONDS,
    ),
    Unavailable: Problem(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        code="unavailable",
        detail="The service is busy. Nothing was lost. Repeat with the same key.",
        retryable=True,
        retry_after=RETRY_SOON_SECONDS,
    ),
    OutcomeUnknown: Problem(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        code="outcome-unknown",
        detail="The answer was lost on the way. Repeat with the same key: it is done only once.",
        retryable=True,
        retry_after=RETRY_SOON_SECONDS,
    ),
    BadCursor: Problem(
        status=HTTPStatus.BAD_REQUEST,
        code="cursor-invalid",
        detail="Use a cursor from an earlier answer, or none to start at the beginning.",
    ),
}


def answer(result: object, request: str) -> Response[Any]:
    """Turn anything in the table into its answer."""
    problem = TABLE[type(result)]
    match result:
        case InvalidInput():
            faults = [asdict(fault) for fault in result.faults]
            return rendered(problem, request, errors=faults)
        case Refused():
            found = replace(problem, code=result.code, detail=result.reason)
            return rendered(found, request)
        case Busy():
            return rendered(problem, request, task=f"/v1/tasks/{result.id}")
        case NoCredit():
            return rendered(problem, request, available=result.available, price=result.price)
        case _:
            return rendered(problem, request)


def rendered(problem: Problem, request: str, **more: Any) -> Response[Any]:
    """Write a problem as an answer to the request with this id."""
    body = {
        "type": f"urn:tallyreel:problem:{problem.code}",
        "title": problem.status.phrase,
        "status": int(problem.status),
        "detail": problem.detail,
        "instance": f"urn:request:{request}",
        "code": problem.code,
        "retryable": problem.retryable,
    }
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store"}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    return Response(
        status_code=int(problem.status),
        content_type=CONTENT_TYPE,
        body=json.dumps(body | more),
        headers=headers,
    )
