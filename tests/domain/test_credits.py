from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from functions.domain.credits import (
    MOVES,
    Balance,
    Entry,
    EntryKind,
    entry_id,
    moved,
    recompute,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = st.lists(st.tuples(st.sampled_from(EntryKind), st.integers(0, 50)), max_size=40)


@given(STEPS)
def test_credits_are_conserved_and_never_negative(steps: list[tuple[EntryKind, int]]) -> None:
    balance, issued = Balance(), 0
    for kind, amount in steps:
        after = moved(balance, kind, amount)
        if after is None:
            continue
        balance = after
        issued += {EntryKind.GRANT: amount, EntryKind.VOID: -amount}.get(kind, 0)
        assert min(balance.available, balance.held, balance.spent) >= 0
        assert balance.granted == issued


@given(STEPS)
def test_a_ledger_adds_up_to_the_balance(steps: list[tuple[EntryKind, int]]) -> None:
    balance, entries = Balance(), []
    for number, (kind, amount) in enumerate(steps):
        after = moved(balance, kind, amount)
        if after is not None and after.open >= 0:
            balance = after
            entries.append(Entry(id=str(number), kind=kind, amount=amount, at=AT))

    assert recompute(entries) == recompute(reversed(entries)) == balance


def test_a_ledger_that_spends_what_was_never_held_cannot_be_true() -> None:
    entry = Entry(id="1", kind=EntryKind.SETTLE, amount=1, at=AT)

    assert recompute([entry]) is None


def test_every_entry_moves_between_two_accounts() -> None:
    assert set(MOVES) == set(EntryKind)
    assert all(source != target for source, target in MOVES.values())


def test_a_hold_has_one_end() -> None:
    ends = {entry_id(kind, subject="t") for kind in (EntryKind.SETTLE, EntryKind.RELEASE)}

    assert len(ends) == 1
    assert entry_id(EntryKind.HOLD, subject="t") not in ends
    assert entry_id(EntryKind.SETTLE, subject="t", cycle=1) not in ends


def test_open_tasks_are_counted() -> None:
    start = Balance(available=10)
    held = moved(start, EntryKind.HOLD, 8)
    assert held == Balance(available=2, held=8, open=1)
    assert held is not None
    assert moved(held, EntryKind.RELEASE, 8) == start
    assert moved(held, EntryKind.SETTLE, 8) == replace(start, available=2, spent=8)
