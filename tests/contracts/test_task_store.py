"""What every task store does, whoever keeps the items."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.domain.attempts import Attempt
from functions.domain.credits import Balance, Entry, EntryKind, entry_id
from functions.domain.jobs import Job
from functions.domain.results import (
    AccountFull,
    Applied,
    Busy,
    Created,
    Granted,
    KeyReused,
    NoCredit,
    Replayed,
    Stale,
)
from functions.domain.states import Event, TaskState
from functions.domain.stores import TaskStore
from functions.domain.tasks import Change, Happening, Task, decide
from functions.domain.tickets import TaskRef
from functions.domain.verdicts import Check, Facts, Ruling, Verdict
from tests.doubles.world import START
from tests.factories import LIMITS, OUTPUT, new_task, task, ulid


def grant(store: TaskStore, amount: int, *, key: str = "grant-1", account: str = "alice") -> object:
    entry = Entry(
        id=entry_id(EntryKind.GRANT, subject=ulid(0)), kind=EntryKind.GRANT, amount=amount, at=START
    )
    return store.grant(
        account,
        entry,
        key_hash=key,
        fingerprint=str(amount),
        keep_until=START + timedelta(days=7),
    )


def ordered(store: TaskStore, number: int = 1) -> Task:
    grant(store, 100, key=f"grant-for-{number}")
    made = store.create(new_task(number))
    assert isinstance(made, Created)
    return made.task


def step(found: Task, event: Event, **more: object) -> Change:
    change = decide(found, Happening(event=event, **more), now=START, limits=LIMITS)  # type: ignore[arg-type]
    assert isinstance(change, Change)
    return change


def walked(store: TaskStore, found: Task, *happenings: Happening) -> Task:
    for happening in happenings:
        change = decide(found, happening, now=START, limits=LIMITS)
        assert isinstance(change, Change)
        applied = store.apply(change)
        assert isinstance(applied, Applied)
        found = applied.task
    return found


CLAIMED = Happening(event=Event.CLAIMED, lease="lease-1")
RENDERED = Happening(event=Event.RENDERED, output_key="out/alice/1.mp4")
VERIFIED = Happening(event=Event.VERIFIED, output=OUTPUT)
REFUSED = Happening(event=Event.REFUSED, code="photo-truncated", reason="The photo is cut off.")


class TestCreate:
    def test_writes_everything_at_once(self, store: TaskStore) -> None:
        grant(store, 100)
        new = new_task(1)

        made = store.create(new)

        assert made == Created(task=new.task)
        assert store.get(TaskRef(account="alice", id=ulid(1))) == new.task
        assert store.input(TaskRef(account="alice", id=ulid(1))) == new.input
        assert store.balance("alice") == Balance(available=92, held=8, open=1)
        hold = store.entry("alice", f"{ulid(1)}#0#1-hold")
        assert hold == Entry(
            id=f"{ulid(1)}#0#1-hold", kind=EntryKind.HOLD, amount=8, at=START, task=ulid(1)
        )

    def test_replays_the_same_request_under_the_same_key(self, store: TaskStore) -> None:
        ordered(store)

        again = new_task(1)
        again = replace(again, task=replace(again.task, id=ulid(2)))

        assert store.create(again) == Replayed(id=ulid(1))
        assert store.balance("alice").held == 8
        assert store.replayed("alice", "key-1", "print-1", START) == Replayed(id=ulid(1))
        late = START + timedelta(days=8)
        assert store.replayed("alice", "key-1", "print-1", late) is None

    def test_refuses_another_request_under_the_same_key(self, store: TaskStore) -> None:
        ordered(store)

        assert store.create(new_task(2, key="key-1")) == KeyReused()
        assert store.replayed("alice", "key-1", "print-2", START) == KeyReused()
        assert store.replayed("alice", "key-2", "print-2", START) is None
        assert store.balance("alice") == Balance(available=92, held=8, open=1)

    def test_forgets_a_key_when_its_time_is_up(self, store: TaskStore) -> None:
        found = ordered(store)
        walked(store, found, Happening(event=Event.CANCEL))
        late = START + timedelta(days=8)

        made = store.create(new_task(2, key="key-1", now=late, resource="photo-1"))

        assert isinstance(made, Created)

    def test_keys_of_two_accounts_are_strangers(self, store: TaskStore) -> None:
        ordered(store)
        grant(store, 100, account="bob", key="grant-bob")

        made = store.create(new_task(2, key="key-1", account="bob"))

        assert isinstance(made, Created)

    def test_names_the_task_that_holds_the_source(self, store: TaskStore) -> None:
        ordered(store)

        assert store.create(new_task(2, resource="photo-1")) == Busy(id=ulid(1))
        assert store.get(TaskRef(account="alice", id=ulid(2))) is None
        assert store.balance("alice").held == 8

    def test_needs_the_price(self, store: TaskStore) -> None:
        grant(store, 7)

        assert store.create(new_task(1)) == NoCredit(available=7, price=8)
        assert store.balance("alice") == Balance(available=7)
        assert store.get(TaskRef(account="alice", id=ulid(1))) is None

    def test_an_account_never_granted_anything_has_no_credit(self, store: TaskStore) -> None:
        assert store.create(new_task(1)) == NoCredit(available=0, price=8)

    def test_limits_open_tasks(self, store: TaskStore) -> None:
        ordered(store)

        assert store.create(new_task(2, open_max=1)) == AccountFull(open=1)

    def test_a_refused_order_leaves_its_key_free(self, store: TaskStore) -> None:
        assert isinstance(store.create(new_task(1)), NoCredit)
        grant(store, 100)

        assert isinstance(store.create(new_task(1)), Created)


class TestApply:
    def test_moves_a_task_and_keeps_its_history(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED, RENDERED)

        assert store.get(TaskRef(account="alice", id=found.id)) == found
        assert [line.state for line in found.history] == [
            TaskState.QUEUED,
            TaskState.RENDERING,
            TaskState.VERIFYING,
        ]

    def test_settles_in_the_same_write(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED, RENDERED, VERIFIED)

        assert store.get(TaskRef(account="alice", id=found.id)) == found
        assert found.output == OUTPUT
        assert store.balance("alice") == Balance(available=92, spent=8)
        end = store.entry("alice", f"{found.id}#0#2-end")
        assert end is not None
        assert (end.kind, end.amount, end.task) == (EntryKind.SETTLE, 8, found.id)

    def test_releases_in_the_same_write(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED, REFUSED)

        assert found.state is TaskState.FAILED
        assert store.balance("alice") == Balance(available=100)
        end = store.entry("alice", f"{found.id}#0#2-end")
        assert end is not None
        assert end.kind is EntryKind.RELEASE

    @pytest.mark.parametrize("end", [VERIFIED, REFUSED])
    def test_an_end_frees_the_source(self, store: TaskStore, end: Happening) -> None:
        walked(store, ordered(store), CLAIMED, RENDERED, end)

        assert isinstance(store.create(new_task(2, resource="photo-1")), Created)

    def test_an_image_that_moved_on_is_stale(self, store: TaskStore) -> None:
        first = ordered(store)
        walked(store, first, CLAIMED)

        late = step(first, Event.CLAIMED, lease="lease-2")

        assert store.apply(late) == Stale()
        found = store.get(TaskRef(account="alice", id=first.id))
        assert found is not None
        assert found.lease == "lease-1"

    def test_two_ends_of_one_image_settle_once(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED, RENDERED)
        settle, refuse = step(found, Event.VERIFIED, output=OUTPUT), step(found, Event.REFUSED)

        assert isinstance(store.apply(settle), Applied)
        assert store.apply(refuse) == Stale()
        assert store.apply(settle) == Stale()
        assert store.balance("alice") == Balance(available=92, spent=8)

    def test_a_lapse_decided_before_a_heartbeat_is_stale(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED)
        lapse = step(found, Event.OVERDUE)
        assert store.renew(found, START + timedelta(minutes=5))

        assert store.apply(lapse) == Stale()

    def test_a_heartbeat_does_not_make_the_worker_stale(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED)
        assert store.renew(found, START + timedelta(minutes=5))

        assert isinstance(store.apply(step(found, Event.RENDERED, output_key="k")), Applied)

    def test_a_lost_lease_is_not_renewed(self, store: TaskStore) -> None:
        found = walked(store, ordered(store), CLAIMED)
        walked(store, found, Happening(event=Event.OVERDUE))

        assert not store.renew(found, START + timedelta(minutes=5))


class TestRedrive:
    def buried(self, store: TaskStore) -> Task:
        found = ordered(store)
        return walked(store, found, Happening(event=Event.GAVE_UP, code="poison"))

    def test_takes_a_new_hold(self, store: TaskStore) -> None:
        dead = self.buried(store)
        assert store.balance("alice") == Balance(available=100)

        again = walked(store, dead, Happening(event=Event.REDRIVE))

        assert (again.state, again.attempt, again.cycle) == (TaskState.QUEUED, 1, 1)
        assert store.balance("alice") == Balance(available=92, held=8, open=1)
        done = walked(store, again, CLAIMED, RENDERED, VERIFIED)
        assert store.balance("alice") == Balance(available=92, spent=8)
        assert store.entry("alice", f"{done.id}#1#2-end") is not None

    def test_needs_the_source_to_be_free(self, store: TaskStore) -> None:
        dead = self.buried(store)
        assert isinstance(store.create(new_task(2, resource="photo-1")), Created)

        assert store.apply(step(dead, Event.REDRIVE)) == Busy(id=ulid(2))
        assert store.get(TaskRef(account="alice", id=dead.id)) == dead

    def test_needs_the_price(self, store: TaskStore) -> None:
        dead = self.buried(store)
        assert isinstance(store.create(new_task(2, price=99)), Created)

        assert store.apply(step(dead, Event.REDRIVE)) == NoCredit(available=1, price=8)

    def test_twice_from_one_image_holds_once(self, store: TaskStore) -> None:
        again = step(self.buried(store), Event.REDRIVE)

        assert isinstance(store.apply(again), Applied)
        assert isinstance(store.apply(again), Stale | Busy)
        assert store.balance("alice").held == 8

    def test_dead_tasks_are_listed_for_operators_only(self, store: TaskStore) -> None:
        dead = self.buried(store)
        later = START + timedelta(days=1)

        assert [ref.id for ref in store.dead(limit=10, cursor=None).items] == [dead.id]
        assert not any(store.due(shard, until=later, limit=10) for shard in range(4))


class TestDue:
    def test_names_only_what_is_overdue(self, store: TaskStore) -> None:
        ordered(store, 1)
        ended = ordered(store, 2)
        walked(store, ended, Happening(event=Event.CANCEL))
        now, later = START, START + timedelta(minutes=3)

        def due(until: object) -> list[str]:
            return [ref.id for shard in range(4) for ref in store.due(shard, until=until, limit=9)]  # type: ignore[arg-type]

        assert due(now) == []
        assert due(later) == [ulid(1)]


class TestGrant:
    def test_adds_credits_once_per_key(self, store: TaskStore) -> None:
        assert isinstance(grant(store, 50), Granted)
        assert isinstance(grant(store, 50), Replayed)
        assert grant(store, 60) == KeyReused()
        assert store.balance("alice") == Balance(available=50)


class TestLists:
    def test_tasks_come_newest_first_in_pages(self, store: TaskStore) -> None:
        grant(store, 100)
        for number in (1, 2, 3):
            store.create(new_task(number))
        grant(store, 100, account="bob", key="b")
        store.create(new_task(4, account="bob"))

        first = store.tasks("alice", limit=2, cursor=None)
        second = store.tasks("alice", limit=2, cursor=first.cursor)

        assert [found.id for found in first.items] == [ulid(3), ulid(2)]
        assert [found.id for found in second.items] == [ulid(1)]
        assert second.cursor is None

    def test_ledger_comes_newest_first_in_pages(self, store: TaskStore) -> None:
        walked(store, ordered(store), Happening(event=Event.CANCEL))

        first = store.ledger("alice", limit=2, cursor=None)
        second = store.ledger("alice", limit=2, cursor=first.cursor)

        kinds = [entry.kind for entry in [*first.items, *second.items]]
        assert kinds == [EntryKind.RELEASE, EntryKind.HOLD, EntryKind.GRANT]


class TestReports:
    def test_the_first_report_of_an_attempt_stays(self, store: TaskStore) -> None:
        facts = Facts(size_bytes=1, sha256="00", seconds=4.04, width=1280, height=720, codec="h264")
        check = Check(name="duration", value="4.04", limit="3.5-4.5", verdict="pass")
        good = Verdict(ruling=Ruling.ACCEPT, code="ok", reason="", checks=(check,), facts=facts)
        bad = Verdict(ruling=Ruling.REJECT, code="black", reason="It is black.")
        found = task(1)

        store.put_report(found, good)
        store.put_report(found, bad)

        assert store.report(found) == good
        assert store.report(replace(found, attempt=2)) is None
        assert store.report(replace(found, cycle=1)) is None


class TestAttempts:
    def test_are_written_with_the_step_and_closed_with_another(self, store: TaskStore) -> None:
        found = ordered(store)
        ref = TaskRef(account="alice", id=found.id)
        begun = Attempt(cycle=0, number=1, provider="fal", at=START, units=4)

        applied = store.apply(step(found, Event.CLAIMED, lease="l"), begun)
        assert isinstance(applied, Applied)
        assert store.attempts(ref) == [begun]
        ended = replace(begun, outcome="succeeded", job="job-1", charged=True)
        store.apply(step(applied.task, Event.RENDERED, output_key="k"), ended)

        assert store.attempts(ref) == [ended]

    def test_of_a_stale_step_are_not_written(self, store: TaskStore) -> None:
        first = ordered(store)
        walked(store, first, CLAIMED)
        begun = Attempt(cycle=0, number=1, provider="fal", at=START, units=4)

        assert store.apply(step(first, Event.CLAIMED, lease="x"), begun) == Stale()
        assert store.attempts(TaskRef(account="alice", id=first.id)) == []

    def test_a_job_stays_with_its_task(self, store: TaskStore) -> None:
        job = Job(id="job-1", handles={"status_url": "https://queue.example/1"})
        found = walked(store, ordered(store), CLAIMED, Happening(event=Event.ACCEPTED, job=job))

        assert store.get(TaskRef(account="alice", id=found.id)) == found
        assert found.job == job
