"""How a write to the task store ended. A duplicate is a result with a name, not an error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from functions.domain.tasks import Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """All of the creation was written."""

    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The key was used before, for the same request."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReused:
    """The key was used before, for another request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A task on the same source is in progress."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCredit:
    """The price is more than what is available."""

    available: int
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFull:
    """As many tasks are open as the account may have."""

    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contended:
    """Others kept writing the same items; trying again shortly will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The grant was written."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The change was written; this is the task's new image."""

    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """The task had moved on; nothing was written."""


Creation: TypeAlias = Created | Replayed | KeyReused | Busy | NoCredit | AccountFull | Contended
Grant: TypeAlias = Granted | Replayed | KeyReused | Contended
Application: TypeAlias = Applied | Stale | Busy | NoCredit | AccountFull | Contended


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list, and where the next part starts."""

    items: Sequence[T]
    cursor: str | None = None
