"""The check queue → check."""

from typing import Any

from functions.bootstrap import ports
from functions.domain.results import Applied
from functions.domain.tickets import Ticket
from functions.entrypoints.messages import worked_off
from functions.pipeline.check import answer


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Ask about the tasks that the tickets name."""
    return worked_off("check", event, _work)


def _work(ticket: Ticket) -> str | None:
    result = answer(ports(), ticket)
    return result.task.state if isinstance(result, Applied) else None
