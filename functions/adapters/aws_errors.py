"""What botocore raises, translated once by code, never by message text."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
)

from functions.domain.errors import OutcomeUnknown, TallyreelError, Unavailable


class Cause(StrEnum):
    """Why a conditional write was not made."""

    CONDITION = "condition"
    CONFLICT = "conflict"
    THROTTLED = "throttled"


_CAUSES = {
    "ConditionalCheckFailedException": Cause.CONDITION,
    "ConditionalCheckFailed": Cause.CONDITION,
    "TransactionConflictException": Cause.CONFLICT,
    "TransactionConflict": Cause.CONFLICT,
    "ProvisionedThroughputExceededException": Cause.THROTTLED,
    "ProvisionedThroughputExceeded": Cause.THROTTLED,
    "ThrottlingException": Cause.THROTTLED,
    "ThrottlingError": Cause.THROTTLED,
    "RequestLimitExceeded": Cause.THROTTLED,
    "TooManyRequestsException": Cause.THROTTLED,
    "RequestThrottled": Cause.THROTTLED,
    "SlowDown": Cause.THROTTLED,
}
_NOT_SENT = (EndpointConnectionError, ConnectTimeoutError)
_SERVER_FAULT = 500


def code_of(error: ClientError) -> str:
    """Read the error code of an answer."""
    return str(error.response.get("Error", {}).get("Code", ""))


def cause_of(error: ClientError) -> Cause | None:
    """Say why a single conditional write was not made; None if it is another error."""
    return _CAUSES.get(code_of(error))


def reasons_of(error: ClientError) -> list[tuple[Cause | None, dict[str, Any]]]:
    """List a canceled transaction's reasons by position, each with the item that stood there."""
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]
    return [(_CAUSES.get(reason.get("Code", "")), reason.get("Item", {})) for reason in reasons]


def is_canceled(error: ClientError) -> bool:
    """Whether a transaction was canceled, with reasons."""
    return code_of(error) == "TransactionCanceledException"


def translated(error: ClientError | BotoCoreError) -> TallyreelError | None:
    """Turn trouble into what the pipeline knows; None for a bug such as a refused permission."""
    if isinstance(error, _NOT_SENT):
        return Unavailable(type(error).__name__)
    if isinstance(error, BotoCoreError):
        return OutcomeUnknown(type(error).__name__)
    if cause_of(error) in (Cause.THROTTLED, Cause.CONFLICT):
        return Unavailable(code_of(error))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if status >= _SERVER_FAULT or code_of(error) == "TransactionInProgressException":
        return OutcomeUnknown(code_of(error))
    return None


@contextmanager
def translating() -> Iterator[None]:
    """Let only the pipeline's own errors, and bugs, out of the block."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        known = translated(error)
        if known is None:
            raise
        raise known from error
