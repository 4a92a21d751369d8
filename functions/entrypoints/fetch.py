"""Settle workflow, before verify → fetch."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.bootstrap import ports
from functions.domain.tickets import TaskRef
from functions.entrypoints.log import done
from functions.pipeline.fetch import fetch


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Bring a provider's file over; pass on what the next step needs."""
    ref = TaskRef(account=event["account"], id=event["id"])
    with TemporaryDirectory(prefix="fetch-") as workdir:
        outcome = fetch(ports(), ref, event["attempt"], Path(workdir))
    done("fetch", task=ref.id, attempt=event["attempt"], outcome=outcome)
    return event
