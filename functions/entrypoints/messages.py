"""Queue messages: each is one ticket; those that trouble kept from ending come again."""

import json
from collections.abc import Callable
from typing import Any

from functions.domain.errors import TallyreelError
from functions.domain.tickets import Ticket
from functions.entrypoints.log import done, trouble


def worked_off(
    stage: str, event: dict[str, Any], work: Callable[[Ticket], str | None]
) -> dict[str, Any]:
    """Do the work of each message and report the failed ones, as the trigger wants it."""
    failed = [
        record["messageId"] for record in event["Records"] if not _worked(stage, record, work)
    ]
    return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}


def _worked(stage: str, record: dict[str, Any], work: Callable[[Ticket], str | None]) -> bool:
    ticket = Ticket(**json.loads(record["body"]))
    about: dict[str, Any] = {"task": ticket.id, "attempt": ticket.attempt}
    try:
        outcome = work(ticket)
    except TallyreelError as error:
        trouble(stage, error, **about)
        return False
    done(stage, **about, outcome=outcome)
    return True
