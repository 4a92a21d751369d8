"""A kind's queue → render."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.bootstrap import ports
from functions.domain.errors import TallyreelError
from functions.domain.ports import Ticket
from functions.entrypoints.log import done, trouble
from functions.pipeline.render import render


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Work tickets off; those that trouble kept from ending come again."""
    failed = [record["messageId"] for record in event["Records"] if not _worked(record)]
    return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}


def _worked(record: dict[str, Any]) -> bool:
    ticket = Ticket(**json.loads(record["body"]))
    about: dict[str, Any] = {"task": ticket.id, "attempt": ticket.attempt}
    try:
        with TemporaryDirectory(prefix="render-") as workdir:
            outcome = render(ports(), ticket, Path(workdir))
    except TallyreelError as error:
        trouble("render", error, **about)
        return False
    done("render", **about, outcome=outcome)
    return True
