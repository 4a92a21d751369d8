"""Settle workflow, last step → settle."""

from typing import Any

from functions.bootstrap import ports
from functions.domain.tickets import TaskRef
from functions.entrypoints.findings import finding_of
from functions.entrypoints.log import done
from functions.pipeline.settle import Settlement, settle


def handler(event: dict[str, Any], _context: Any) -> dict[str, str]:
    """Move the task and its credits to the end that the finding allows."""
    ref = TaskRef(account=event["account"], id=event["id"])
    found = event["finding"]
    outcome = Settlement.SKIPPED
    if found is not None:
        outcome = settle(ports(), ref, event["attempt"], finding_of(found))
    done("settle", task=ref.id, attempt=event["attempt"], outcome=outcome)
    return {"outcome": outcome}
