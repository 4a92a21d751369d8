from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from functions.domain.credits import Balance
from functions.domain.errors import Unavailable
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Task
from functions.domain.tickets import Ticket
from functions.domain.verdicts import NotVerified
from functions.pipeline.advance import advance
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from functions.pipeline.settle import settle
from functions.pipeline.sweep import sweep
from functions.pipeline.verify import verify
from tests.doubles.world import MemoryQueue, World
from tests.factories import LIMITS, new_task
from tests.pipeline.conftest import Renderer, now_of


def swept(world: World, **later: float) -> dict[str, int]:
    world.clock.forward(**later)
    return dict(sweep(world, world.clock.now() + timedelta(seconds=50)))


def test_leaves_alone_what_is_not_due(world: World, ordered: Task) -> None:
    assert swept(world, seconds=1) == {}
    assert now_of(world, ordered) == ordered


def test_sends_a_lost_message_again(world: World, ordered: Task) -> None:
    assert swept(world, minutes=3) == {"queued": 1}

    assert [ticket for ticket, _ in world.queue.tickets] == [ticket_of(ordered)]
    assert swept(world, seconds=1) == {}


def test_waits_for_a_worker_only_so_long(world: World, ordered: Task) -> None:
    assert swept(world, hours=7) == {"failed": 1}

    assert now_of(world, ordered).code == "queue-wait-expired"
    assert world.store.balance("alice") == Balance(available=20)


def claimed(world: World, task: Task) -> Task:
    advance(world, task, Happening(event=Event.CLAIMED, lease="dead-worker"))
    return now_of(world, task)


def test_a_lost_worker_costs_an_attempt(world: World, ordered: Task) -> None:
    claimed(world, ordered)

    assert swept(world, seconds=91) == {"checking": 1}
    assert swept(world, seconds=16) == {"queued": 1}

    found = now_of(world, ordered)
    assert (found.attempt, found.code) == (2, "worker-lost")


def test_a_worker_that_died_after_its_upload_has_delivered(world: World, ordered: Task) -> None:
    claimed(world, ordered)
    key = f"out/alice/{ordered.id}/1-dead-worker.mp4"
    world.media.files[key] = (b"video", "video/mp4")

    swept(world, seconds=91)
    swept(world, seconds=16)

    found = now_of(world, ordered)
    assert (found.state, found.attempt, found.output_key) == (TaskState.VERIFYING, 1, key)


def test_a_worker_that_was_only_slow_may_still_finish(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    renderer.before = lambda: swept(world, seconds=91)

    render(world, ticket_of(ordered), tmp_path)

    assert now_of(world, ordered).state is TaskState.VERIFYING


def test_starts_a_lost_workflow_again_and_gives_up_in_the_end(
    world: World, ordered: Task, tmp_path: Path
) -> None:
    render(world, ticket_of(ordered), tmp_path)
    world.inspector.verdict = NotVerified(reason="killed")

    for _ in range(LIMITS.workflows_max):
        assert swept(world, hours=1) == {"verifying": 1}
    assert len(world.workflow.runs) == LIMITS.workflows_max
    assert swept(world, hours=1) == {"queued": 1}
    assert now_of(world, ordered).attempt == 2


def test_alone_it_brings_a_task_to_its_end(world: World, ordered: Task, tmp_path: Path) -> None:
    for _ in range(6):
        swept(world, minutes=7)
        for ticket, _ in world.queue.tickets:
            render(world, ticket, tmp_path)
        for ref, attempt in world.workflow.runs:
            finding = verify(world, ref, attempt, tmp_path)
            if finding:
                settle(world, ref, attempt, finding)

    assert now_of(world, ordered).state is TaskState.DELIVERED
    assert world.store.balance("alice") == Balance(available=12, spent=8)


class BrokenQueue(MemoryQueue):
    """Fails on the first ticket only."""

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        self.tickets.append((ticket, delay_seconds))
        if len(self.tickets) == 1:
            raise Unavailable


def test_one_task_that_cannot_be_mended_does_not_stop_others(world: World, ordered: Task) -> None:
    other = new_task(2)
    world.store.create(other)
    world.queue = BrokenQueue()

    assert swept(world, minutes=3) == {"error": 1, "queued": 1}
    assert {now_of(world, task).tries for task in (ordered, other.task)} == {0, 1}


def test_each_sweep_says_how_much_it_had_to_leave(world: World, ordered: Task) -> None:
    swept(world, seconds=1)
    assert world.metrics.gauges == {"Overdue": 0, "OldestUnfinished": 0}

    world.store.create(new_task(2))
    world.queue = BrokenQueue()
    swept(world, minutes=3)

    assert world.metrics.gauges["Overdue"] == 1
    assert world.metrics.gauges["OldestUnfinished"] >= 180
    assert now_of(world, ordered).state is TaskState.QUEUED


def test_a_sweep_without_time_says_so(world: World, ordered: Task) -> None:
    for number in range(2, 7):
        world.store.create(new_task(number, price=1))
    world.clock.forward(minutes=3)

    assert sweep(world, world.clock.now()) == {}

    assert world.metrics.gauges["Overdue"] == 6
    assert now_of(world, ordered).tries == 0


def test_a_task_that_lost_something_is_counted_once_while_it_is_mended(
    world: World, ordered: Task, tmp_path: Path
) -> None:
    for _ in range(3):
        swept(world, hours=1)
    assert world.metrics.counts["Stuck"] == 1  # its message

    render(world, ticket_of(ordered), tmp_path)
    for _ in range(3):
        swept(world, hours=1)
    assert world.metrics.counts["Stuck"] == 2  # its run


def test_a_lost_worker_counts_as_stuck_and_asking_does_not(world: World, ordered: Task) -> None:
    claimed(world, ordered)

    swept(world, seconds=91)
    swept(world, seconds=16)

    assert world.metrics.counts["Stuck"] == 1


def test_a_retry_far_off_is_sent_by_the_sweep_and_is_not_stuck(world: World, ordered: Task) -> None:
    later = world.clock.now() + timedelta(minutes=25)
    retry = new_task(2, price=1).task
    retry = replace(retry, not_before=later, due_at=later)
    world.store.create(replace(new_task(2, price=1), task=retry))
    swept(world, minutes=3)
    counted = world.metrics.counts["Stuck"]

    swept(world, minutes=23)

    assert now_of(world, retry).tries == 1
    assert counted == world.metrics.counts["Stuck"] == 1
    assert now_of(world, ordered).tries == 2
