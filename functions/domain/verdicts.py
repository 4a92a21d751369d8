"""What an inspection says of a finished file."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Ruling(StrEnum):
    """Whether a file may be charged for."""

    ACCEPT = "accept"
    REJECT = "reject"
    REVIEW = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at: what was found, what was allowed, and how it went."""

    name: str
    value: str
    limit: str
    verdict: str  # pass, fail, review or info


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on the file that the customer gets."""

    size_bytes: int
    sha256: str
    seconds: float
    width: int
    height: int
    codec: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The inspection's word. `reason` is one sentence for the customer."""

    ruling: Ruling
    code: str
    reason: str
    checks: tuple[Check, ...] = ()
    facts: Facts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A verdict and the file it is about: the given one, or its repacked copy."""

    verdict: Verdict
    path: Path
    mended: bool = False
    thumbnails: tuple[Path, ...] = ()  # a poster and a contact strip, as JPEG


@dataclass(frozen=True, slots=True, kw_only=True)
class NotVerified:
    """The inspection itself did not finish. This says nothing about the file."""

    reason: str


def verdict_text(verdict: Verdict) -> str:
    """Write a verdict as JSON."""
    return json.dumps(asdict(verdict), separators=(",", ":"))


def verdict_of(text: str) -> Verdict:
    """Read a verdict."""
    raw: dict[str, Any] = json.loads(text)
    facts = raw["facts"]
    return Verdict(
        ruling=Ruling(raw["ruling"]),
        code=raw["code"],
        reason=raw["reason"],
        checks=tuple(Check(**check) for check in raw["checks"]),
        facts=Facts(**facts) if facts else None,
    )
