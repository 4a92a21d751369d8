"""What the auditor reads, whoever keeps the items."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from functions.adapters.dynamodb_audit import DynamoAuditStore
from functions.domain.audit import AuditReport, Difference, Lock, audit_account
from functions.domain.credits import Balance, Entry, EntryKind, entry_id
from functions.domain.stores import AuditStore, TaskStore
from tests.contracts.conftest import BACKENDS, TABLE, dynamo_store, table_client
from tests.doubles.store import MemoryAuditStore, MemoryStore
from tests.doubles.world import START
from tests.factories import new_task, ulid


@dataclass(slots=True)
class Table:
    """One table, seen by its two users."""

    tasks: TaskStore
    audits: AuditStore


@pytest.fixture(params=BACKENDS)
def table(request: pytest.FixtureRequest, aws_environment: None) -> Iterator[Table]:
    assert aws_environment is None
    if request.param == "memory":
        store = MemoryStore()
        yield Table(tasks=store, audits=MemoryAuditStore(store=store))
        return
    with table_client(request.param, request) as client:
        yield Table(tasks=dynamo_store(client), audits=DynamoAuditStore(client, TABLE))


def granted(table: Table, account: str) -> None:
    entry = Entry(
        id=entry_id(EntryKind.GRANT, subject=ulid(0)), kind=EntryKind.GRANT, amount=50, at=START
    )
    table.tasks.grant(
        account, entry, key_hash="k", fingerprint="f", keep_until=START + timedelta(days=7)
    )


def test_names_every_account_once(table: Table) -> None:
    for account in ("carol", "alice", "bob"):
        granted(table, account)

    assert sorted(table.audits.accounts(limit=10, cursor=None).items) == ["alice", "bob", "carol"]


def test_reads_everything_of_one_account(table: Table) -> None:
    granted(table, "alice")
    granted(table, "bob")
    made = [table.tasks.create(new_task(number)) for number in (1, 2)]
    assert len(made) == 2

    books = table.audits.books("alice")

    assert books.balance == Balance(available=34, held=16, open=2)
    assert sorted(task.id for task in books.tasks) == [ulid(1), ulid(2)]
    assert Lock(kind="image_to_video", resource="photo-1", task=ulid(1)) in books.locks
    assert len(books.entries) == 3
    assert audit_account(books) == []


def test_keeps_its_report(table: Table) -> None:
    assert table.audits.report() is None
    report = AuditReport(
        started_at=START,
        cursor="here",
        accounts=3,
        found=1,
        differences=(Difference(account="a", code="c", subject="s", detail="d"),),
    )
    table.audits.put_report(report)
    assert table.audits.report() == report

    done = AuditReport(started_at=START, finished_at=START + timedelta(minutes=2))
    table.audits.put_report(done)
    assert table.audits.report() == done
