"""What a long-lived worker needs from outside, named by need."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from functions.domain.tickets import Ticket

DISK_FULL = Failed(code="disk-full", reason="There was no room left for the file.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a render is, in steps of its own: frames, mostly."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A ticket as it was received: hidden from other workers for a while."""

    ticket: Ticket
    handle: str


class Workshop(Protocol):
    """Where files are made: in this process, or in one that can be ended."""

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Callable[[int, int], None],
    ) -> Rendered | Refused | Failed:
        """Have a provider make a file. What `on_progress` raises ends the work at once."""
        ...

    def shortage(self, workdir: Path) -> Failed | None:
        """Say what this machine is about to run out of."""
        ...


class Inbox(Protocol):
    """A queue as its reader sees it."""

    def receive(self) -> Parcel | None:
        """Wait a while for the next ticket."""
        ...

    def extend(self, parcel: Parcel) -> None:
        """Keep a ticket hidden from other workers for another while."""
        ...

    def done(self, parcel: Parcel) -> None:
        """Take a ticket out for good."""
        ...


class Stay(Protocol):
    """How long this worker is going to be there."""

    def seconds_left(self) -> float | None:
        """Say how soon it must have ended; None while nobody has asked it to end."""
        ...

    def protected(self) -> AbstractContextManager[None]:
        """Keep it from being chosen when there are too many workers, while the block runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a worker adds to a render: a message to be kept hidden, and an end in sight."""

    extend: Callable[[], None]
    seconds_left: Callable[[], float | None]
