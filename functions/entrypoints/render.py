"""A kind's queue → render."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.bootstrap import ports
from functions.domain.tickets import Ticket
from functions.entrypoints.messages import worked_off
from functions.pipeline.render import render


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Render what the tickets ask for."""
    return worked_off("render", event, _work)


def _work(ticket: Ticket) -> str:
    with TemporaryDirectory(prefix="render-") as workdir:
        return render(ports(), ticket, Path(workdir))
