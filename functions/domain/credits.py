"""Credits: whole numbers that move between a customer's accounts, never edited.

Four accounts: `issued` (ours) -> `available` -> `held` -> `spent`. Every entry moves one
amount from one to another, so their sum over all entries is zero by construction.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class EntryKind(StrEnum):
    """Why credits moved."""

    GRANT = "grant"  # issued -> available
    VOID = "void"  # available -> issued: takes a grant back
    HOLD = "hold"  # available -> held: a task was ordered
    SETTLE = "settle"  # held -> spent: its verified output was delivered
    RELEASE = "release"  # held -> available: it ended otherwise


MOVES: dict[EntryKind, tuple[str, str]] = {
    EntryKind.GRANT: ("issued", "available"),
    EntryKind.VOID: ("available", "issued"),
    EntryKind.HOLD: ("available", "held"),
    EntryKind.SETTLE: ("held", "spent"),
    EntryKind.RELEASE: ("held", "available"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One immutable line of the ledger.

    `id` is deterministic: a hold and its end have one place each per task and redrive, so a
    second settle or release cannot be written.
    """

    id: str
    kind: EntryKind
    amount: int
    at: datetime
    task: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What a customer has. `open` counts the tasks that hold credits."""

    available: int = 0
    held: int = 0
    spent: int = 0
    open: int = 0

    @property
    def granted(self) -> int:
        """Everything ever issued to this customer and not voided."""
        return self.available + self.held + self.spent


def entry_id(kind: EntryKind, *, subject: str, cycle: int = 0) -> str:
    """Name an entry. Settle and release share the name, for a hold ends once."""
    match kind:
        case EntryKind.HOLD:
            return f"{subject}#{cycle}#1-hold"
        case EntryKind.SETTLE | EntryKind.RELEASE:
            return f"{subject}#{cycle}#2-end"
        case EntryKind.GRANT | EntryKind.VOID:
            return f"{subject}#{kind}"


def moved(balance: Balance, kind: EntryKind, amount: int) -> Balance | None:
    """Apply one entry; None if it would take more than there is."""
    source, target = MOVES[kind]
    after = balance
    if source != "issued":
        left = getattr(after, source) - amount
        if left < 0:
            return None
        after = replace(after, **{source: left})
    if target != "issued":
        after = replace(after, **{target: getattr(after, target) + amount})
    return replace(after, open=balance.open + OPEN_STEP[kind])


OPEN_STEP: dict[EntryKind, int] = {
    EntryKind.GRANT: 0,
    EntryKind.VOID: 0,
    EntryKind.HOLD: 1,
    EntryKind.SETTLE: -1,
    EntryKind.RELEASE: -1,
}


def recompute(entries: Iterable[Entry]) -> Balance | None:
    """Add a ledger up from nothing, in any order; None if it takes more than there ever was."""
    sums = dict.fromkeys(("issued", "available", "held", "spent"), 0)
    open_tasks = 0
    for entry in entries:
        source, target = MOVES[entry.kind]
        sums[source] -= entry.amount
        sums[target] += entry.amount
        open_tasks += OPEN_STEP[entry.kind]
    del sums["issued"]
    if min(*sums.values(), open_tasks) < 0:
        return None
    return Balance(**sums, open=open_tasks)
