"""How a step ended, as values. Exceptions are left for bugs and broken infrastructure."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It cannot succeed, however often it is tried: bad input, refused content.

    `code` is stable and for programs; `reason` is one sentence for the customer that says
    what is wrong and what to do.
    """

    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It did not work this time and may work the next: a retry spends an attempt."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A finished file on this machine's disk, not yet inspected."""

    path: Path
    content_type: str = "video/mp4"
    facts: dict[str, str | int | float] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()  # that belong beside it
