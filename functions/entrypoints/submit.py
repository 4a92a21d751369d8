"""The submit queue → submit."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.bootstrap import ports
from functions.domain.tickets import Ticket
from functions.entrypoints.messages import worked_off
from functions.pipeline.submit import submit


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Order from providers what the tickets ask for."""
    return worked_off("submit", event, _work)


def _work(ticket: Ticket) -> str:
    with TemporaryDirectory(prefix="submit-") as workdir:
        return submit(ports(), ticket, Path(workdir))
