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
