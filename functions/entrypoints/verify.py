"""Settle workflow, first step → verify."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.bootstrap import ports
from functions.domain.tickets import TaskRef
from functions.entrypoints.findings import finding_json
from functions.entrypoints.log import done
from functions.pipeline.verify import verify


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Inspect one attempt's output; hand the finding to the next step."""
    ref = TaskRef(account=event["account"], id=event["id"])
    with TemporaryDirectory(prefix="verify-") as workdir:
        finding = verify(ports(), ref, event["attempt"], Path(workdir))
    outcome = finding.code if finding else "skipped"
    done("verify", task=ref.id, attempt=event["attempt"], outcome=outcome)
    return {
        "account": ref.account,
        "id": ref.id,
        "attempt": event["attempt"],
        "finding": finding_json(finding) if finding else None,
    }
