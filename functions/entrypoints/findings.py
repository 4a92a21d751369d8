"""A finding as the workflow carries it from verify to settle."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from functions.domain.tasks import Output
from functions.domain.verdicts import Ruling
from functions.pipeline.verify import Finding


def finding_json(finding: Finding) -> dict[str, Any]:
    """Write a finding."""
    plain = asdict(finding)
    if finding.output and finding.output.expires_at:
        plain["output"]["expires_at"] = finding.output.expires_at.isoformat()
    return plain


def finding_of(plain: dict[str, Any]) -> Finding:
    """Read a finding."""
    output = plain["output"]
    if output is not None:
        until = output["expires_at"]
        expires_at = datetime.fromisoformat(until) if until else None
        output = Output(**(output | {"expires_at": expires_at}))
    return Finding(
        ruling=Ruling(plain["ruling"]),
        code=plain["code"],
        reason=plain["reason"],
        lease=plain["lease"],
        output=output,
    )
