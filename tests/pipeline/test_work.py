"""A worker from ticket to ticket: what it looks after while it renders, and how it ends."""

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from functions.domain.credits import Balance
from functions.domain.media import source_key
from functions.domain.outcomes import Refused
from functions.domain.results import Created
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.domain.verdicts import NotVerified, Ruling, Verdict
from functions.domain.work import DISK_FULL, Parcel, Progress
from functions.pipeline import intake, operate
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import Rendering
from functions.pipeline.settle import Settlement, settle
from functions.pipeline.verify import verify
from functions.pipeline.work import sweep_up, work
from tests.doubles.worker import MemoryInbox, MemoryStay, ScriptedWorkshop
from tests.doubles.world import World
from tests.factories import ulid
from tests.media.sessions import simple
from tests.pipeline.conftest import now_of, ref_of

KIND = "session_to_video"


@pytest.fixture
def workshop() -> ScriptedWorkshop:
    return ScriptedWorkshop()


@pytest.fixture
def world(workshop: ScriptedWorkshop) -> World:
    world = World(workshop=workshop)
    operate.grant(world, "alice", "grant-0000000001", 20, None)
    world.media.files[source_key("alice", ulid(1))] = (simple().json(), "application/json")
    return world


@pytest.fixture
def ordered(world: World) -> Task:
    made = intake.order(world, "alice", "key-0000000000001", KIND, {"source": ulid(1)})
    assert isinstance(made, Created)
    return made.task


@pytest.fixture
def stay() -> MemoryStay:
    return MemoryStay()


Run = Callable[[], list[Rendering]]


@pytest.fixture
def inbox(ordered: Task, stay: MemoryStay) -> MemoryInbox:
    parcel = Parcel(ticket=ticket_of(ordered), handle="handle-1")
    return MemoryInbox(idle=stay.end, parcels=[parcel])


@pytest.fixture
def run(world: World, inbox: MemoryInbox, stay: MemoryStay, tmp_path: Path) -> Run:
    """Work until the inbox is empty, or until told to end."""

    def until_idle() -> list[Rendering]:
        ended: list[Rendering] = []
        work(world, inbox, stay, tmp_path, lambda _ticket, outcome: ended.append(outcome))
        assert list(tmp_path.iterdir()) == []
        return ended

    return until_idle


def test_a_ticket_is_worked_off_and_taken_out(
    run: Run, world: World, inbox: MemoryInbox, stay: MemoryStay, ordered: Task
) -> None:
    assert run() == [Rendering.RENDERED]

    assert now_of(world, ordered).state is TaskState.VERIFYING
    assert (inbox.finished, inbox.extended) == (["handle-1"], ["handle-1"])
    assert stay.protections == 1


def test_the_worker_inspects_by_what_the_recording_gives(
    run: Run, world: World, ordered: Task, tmp_path: Path
) -> None:
    """The order says how long at most, and the file's own word is what is settled by."""
    run()
    key = now_of(world, ordered).output_key or ""

    finding = verify(world, ref_of(ordered), 1, tmp_path)

    assert finding is not None
    assert (finding.ruling, finding.code) == (Ruling.ACCEPT, "ok")
    assert finding.output is not None
    assert (finding.output.key, finding.output.size_bytes) == (key, 5)
    assert settle(world, ref_of(ordered), 1, finding) is Settlement.DELIVERED
    assert world.store.balance("alice") == Balance(available=15, spent=5)


@pytest.mark.parametrize("gone", ["file", "word"])
def test_a_file_without_a_word_about_it_is_not_delivered(
    run: Run, world: World, ordered: Task, tmp_path: Path, gone: str
) -> None:
    run()
    key = now_of(world, ordered).output_key or ""
    del world.media.files[key if gone == "file" else f"{key[:-4]}-inspection.json"]

    finding = verify(world, ref_of(ordered), 1, tmp_path)

    assert finding is not None
    assert (finding.ruling, finding.output) == (Ruling.REJECT, None)


def test_a_word_about_another_file_is_not_believed(
    run: Run, world: World, ordered: Task, tmp_path: Path
) -> None:
    run()
    key = now_of(world, ordered).output_key or ""
    world.media.files[key] = (b"something else", "video/mp4")

    finding = verify(world, ref_of(ordered), 1, tmp_path)

    assert finding is not None
    assert finding.code == "output-changed"


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (Verdict(ruling=Ruling.REJECT, code="blank", reason="It is blank."), "blank"),
        (NotVerified(reason="It died."), "inspection-failed"),
    ],
)
def test_what_does_not_pass_is_tried_again_and_not_uploaded(
    run: Run, world: World, ordered: Task, seen: Verdict | NotVerified, code: str
) -> None:
    world.inspector.verdict = seen

    assert run() == [Rendering.FAILED]

    task = now_of(world, ordered)
    assert (task.state, task.attempt, task.code) == (TaskState.QUEUED, 2, code)
    assert [key for key in world.media.files if key.startswith("out/")] == []


def test_a_refusal_gives_the_credits_back(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    workshop.outcome = Refused(code="longer-than-ordered", reason="Order 2.")

    assert run() == [Rendering.REFUSED]

    assert now_of(world, ordered).code == "longer-than-ordered"
    assert world.store.balance("alice") == Balance(available=20)


def test_progress_is_noted_every_ten_seconds(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    workshop.steps = 25
    workshop.between = lambda _step: world.clock.forward(seconds=1)

    run()

    noted = world.progress.notes  # type: ignore[attr-defined]
    assert [note[3] for note in noted] == [
        Progress(done=9, total=25),
        Progress(done=19, total=25),
    ]
    assert noted[0][0] == ordered.id


def test_a_cancel_ends_the_render_within_seconds(
    run: Run, world: World, workshop: ScriptedWorkshop, inbox: MemoryInbox, ordered: Task
) -> None:
    reached: list[int] = []

    def between(step: int) -> None:
        reached.append(step)
        world.clock.forward(seconds=0.5)
        if step == 4:
            intake.cancel(world, ref_of(ordered))

    workshop.steps, workshop.between = 100, between

    assert run() == [Rendering.SUPERSEDED]

    assert reached[-1] <= 6
    assert now_of(world, ordered).state is TaskState.CANCELED
    assert inbox.finished == ["handle-1"]
    assert world.store.balance("alice") == Balance(available=20)


def test_told_to_end_it_finishes_what_fits(
    run: Run, world: World, workshop: ScriptedWorkshop, stay: MemoryStay, ordered: Task
) -> None:
    def between(step: int) -> None:
        world.clock.forward(seconds=1)
        if step == 5:
            stay.end(left=60)

    workshop.between = between

    assert run() == [Rendering.RENDERED]
    assert now_of(world, ordered).attempt == 1


def test_told_to_end_it_gives_back_what_does_not_fit(
    run: Run,
    world: World,
    workshop: ScriptedWorkshop,
    stay: MemoryStay,
    inbox: MemoryInbox,
    ordered: Task,
) -> None:
    def between(step: int) -> None:
        world.clock.forward(seconds=1)
        if step == 5:
            stay.end(left=60)

    workshop.steps, workshop.between = 1000, between

    assert run() == [Rendering.GIVEN_BACK]

    task = now_of(world, ordered)
    assert (task.state, task.attempt, task.code) == (TaskState.QUEUED, 1, "worker-stopped")
    assert inbox.finished == ["handle-1"]  # a new ticket is on its way
    assert world.store.balance("alice") == Balance(available=15, held=5, open=1)


def test_what_has_not_begun_is_given_back(
    run: Run, world: World, workshop: ScriptedWorkshop, stay: MemoryStay, ordered: Task
) -> None:
    workshop.steps = 0
    workshop.between = lambda _step: stay.end(left=100)

    assert run() == [Rendering.GIVEN_BACK]
    assert now_of(world, ordered).attempt == 1


def test_a_render_that_takes_far_too_long_is_a_failed_attempt(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    workshop.between = lambda _step: world.clock.forward(minutes=10)

    assert run() == [Rendering.FAILED]
    assert now_of(world, ordered).code == "render-overdue"


def test_a_shortage_is_a_failed_attempt_before_anything_is_killed(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    workshop.between = lambda _step: world.clock.forward(seconds=2)
    workshop.short = DISK_FULL

    assert run() == [Rendering.FAILED]
    assert (now_of(world, ordered).attempt, now_of(world, ordered).code) == (2, "disk-full")


def test_where_there_is_no_room_nothing_is_fetched(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    workshop.short = DISK_FULL

    assert run() == [Rendering.FAILED]
    assert workshop.workdirs == []
    assert (now_of(world, ordered).attempt, now_of(world, ordered).code) == (2, "disk-full")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_others_fill_is_a_failed_attempt_and_not_the_workers_end(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task, code: int
) -> None:
    def full(_step: int) -> None:
        raise OSError(code, "no room")

    workshop.between = full

    assert run() == [Rendering.FAILED]
    assert (now_of(world, ordered).attempt, now_of(world, ordered).code) == (2, "disk-full")


def test_other_trouble_with_files_is_not_taken_for_a_full_disk(
    run: Run, workshop: ScriptedWorkshop
) -> None:
    def broken(_step: int) -> None:
        raise OSError(errno.EIO, "broken")

    workshop.between = broken

    with pytest.raises(OSError, match="broken"):
        run()


def test_a_lost_lease_ends_the_render(
    run: Run, world: World, workshop: ScriptedWorkshop, ordered: Task
) -> None:
    """Another worker has it: whoever held it before goes on with nothing."""

    def between(step: int) -> None:
        if step == 3:
            world.clock.forward(seconds=2)
            ref = TaskRef(account=ordered.account, id=ordered.id)
            stolen: Any = world.store
            stolen.tasks_by_ref[ref] = replace(now_of(world, ordered), lease="another", version=9)

    workshop.between = between

    assert run() == [Rendering.SUPERSEDED]
    assert [key for key in world.media.files if key.startswith("out/")] == []


def test_a_ticket_that_comes_again_is_taken_out(
    run: Run, world: World, inbox: MemoryInbox, ordered: Task
) -> None:
    inbox.parcels.append(Parcel(ticket=ticket_of(ordered), handle="handle-2"))

    assert run() == [Rendering.RENDERED, Rendering.SKIPPED]
    assert inbox.finished == ["handle-1", "handle-2"]
    assert world.metrics.counts["Transition.state=verifying"] == 1


def test_what_a_killed_worker_left_is_removed_at_the_start(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    assert sweep_up(scratch) == 0
    (scratch / "job-1" / "profile").mkdir(parents=True)
    (scratch / "core").write_bytes(b"")

    assert sweep_up(scratch) == 2
    assert list(scratch.iterdir()) == []
