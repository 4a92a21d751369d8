from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from functions.domain.audit import AuditReport
from functions.domain.credits import Balance, EntryKind
from functions.domain.media import outputs_prefix
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.pipeline import intake
from functions.pipeline.advance import advance
from functions.pipeline.audit import audit
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from functions.pipeline.settle import settle
from functions.pipeline.verify import verify
from tests.doubles.store import MemoryStore
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import now_of, ref_of


def audited(world: World) -> AuditReport:
    return audit(world, world.clock.now() + timedelta(minutes=1), at_once=True)


def codes(world: World) -> list[str]:
    return [difference.code for difference in audited(world).differences]


@pytest.fixture
def delivered(world: World, ordered: Task, tmp_path: Path) -> Task:
    render(world, ticket_of(ordered), tmp_path)
    finding = verify(world, ref_of(ordered), 1, tmp_path)
    assert finding
    settle(world, ref_of(ordered), 1, finding)
    return now_of(world, ordered)


def test_finds_nothing_wherever_a_task_stands(world: World, ordered: Task, tmp_path: Path) -> None:
    assert codes(world) == []
    render(world, ticket_of(ordered), tmp_path)
    assert codes(world) == []
    found = now_of(world, ordered)
    advance(world, found, Happening(event=Event.ATTEMPT_FAILED, code="x"))
    assert codes(world) == []
    intake.cancel(world, ref_of(ordered))
    assert codes(world) == []


def test_counts_what_it_read(world: World, delivered: Task) -> None:
    report = audited(world)

    assert delivered.state is TaskState.DELIVERED
    assert (report.accounts, report.tasks, report.entries, report.found) == (1, 1, 3, 0)
    assert report.finished_at == world.clock.now()


Damage = Callable[[MemoryStore, Task], object]


def _steal(store: MemoryStore, _: Task) -> None:
    store.balances["alice"] = replace(store.balances["alice"], available=99)


def _unlock(store: MemoryStore, _: Task) -> None:
    store.locks.clear()


def _lock(store: MemoryStore, _: Task) -> None:
    store.locks["alice", "image_to_video", "another"] = ulid(7)


def _forget_hold(store: MemoryStore, task: Task) -> None:
    del store.entries["alice", f"{task.id}#0#1-hold"]


def _settle_again(store: MemoryStore, task: Task) -> None:
    end = f"{task.id}#0#2-end"
    hold = store.entries["alice", f"{task.id}#0#1-hold"]
    store.entries["alice", end] = replace(hold, id=end, kind=EntryKind.SETTLE)


def _forget_deadline(store: MemoryStore, task: Task) -> None:
    store.tasks_by_ref[ref_of(task)] = replace(task, due_at=None)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (_steal, {"balance-differs"}),
        (_unlock, {"task-without-lock"}),
        (_lock, {"lock-without-task"}),
        (_forget_hold, {"task-without-hold", "balance-differs"}),
        (_settle_again, {"end-not-of-state", "balance-differs"}),
        (_forget_deadline, {"no-deadline"}),
    ],
)
def test_finds_damage(world: World, ordered: Task, damage: Damage, expected: set[str]) -> None:
    assert isinstance(world.store, MemoryStore)
    damage(world.store, ordered)

    assert set(codes(world)) == expected
    assert world.metrics.gauges["AuditDifferences"] == len(expected)


def test_finds_files_without_task_and_tasks_without_file(world: World, delivered: Task) -> None:
    assert delivered.output
    del world.media.files[delivered.output.key]
    world.media.files[f"{outputs_prefix('alice')}{ulid(9)}/1-x.mp4"] = (b"", "video/mp4")
    world.clock.forward(hours=2)

    assert sorted(codes(world)) == ["file-without-task", "output-missing"]


def test_an_expired_output_is_not_missed(world: World, delivered: Task) -> None:
    assert delivered.output
    del world.media.files[delivered.output.key]
    world.clock.forward(hours=25)

    assert codes(world) == []


def test_repairs_nothing(world: World, ordered: Task) -> None:
    assert isinstance(world.store, MemoryStore)
    _steal(world.store, ordered)
    audited(world)

    assert world.store.balance("alice").available == 99


def test_goes_on_where_time_ran_out(world: World, ordered: Task) -> None:
    assert ordered.account == "alice"
    assert isinstance(world.store, MemoryStore)
    for number in range(250):
        world.store.balances[f"empty-{number:03d}"] = Balance()

    class Tiring(type(world.clock)):  # type: ignore[misc]
        def now(self) -> object:
            self.forward(seconds=20)
            return super().now()

    world.clock = Tiring()
    first = audit(world, world.clock.at + timedelta(seconds=70))
    assert first.finished_at is None
    assert 0 < first.accounts < 251
    second = audit(world, world.clock.at + timedelta(days=1))
    assert second.finished_at is not None
    assert second.accounts == 251


def test_is_due_once_a_day(world: World, ordered: Task) -> None:
    assert ordered.account == "alice"
    until = timedelta(minutes=1)
    first = audit(world, world.clock.now() + until)
    world.clock.forward(hours=1)
    assert audit(world, world.clock.now() + until) == first
    world.clock.forward(hours=23)
    assert audit(world, world.clock.now() + until) != first
