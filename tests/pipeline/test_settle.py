from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from functions.domain.credits import Balance
from functions.domain.errors import InspectionFailed
from functions.domain.kinds import Promise, Review
from functions.domain.media import thumbnail_key
from functions.domain.results import Applied
from functions.domain.states import Deadline, Event, TaskState
from functions.domain.tasks import Happening, Ignored, Task
from functions.domain.verdicts import Inspected, NotVerified, Ruling, Verdict
from functions.pipeline.advance import advance
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from functions.pipeline.settle import Settlement, reviewed, settle
from functions.pipeline.sweep import sweep
from functions.pipeline.verify import Finding, verify
from tests.doubles.world import ACCEPTED, ScriptedInspector, World
from tests.pipeline.conftest import now_of, ref_of


@pytest.fixture
def rendered(world: World, ordered: Task, tmp_path: Path) -> Task:
    render(world, ticket_of(ordered), tmp_path)
    return now_of(world, ordered)


def checked(world: World, task: Task, workdir: Path) -> Finding:
    finding = verify(world, ref_of(task), task.attempt, workdir)
    assert finding is not None
    return finding


def test_a_verified_output_is_charged_and_delivered(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    finding = checked(world, rendered, tmp_path)
    assert settle(world, ref_of(rendered), 1, finding) is Settlement.DELIVERED

    found = now_of(world, rendered)
    assert found.state is TaskState.DELIVERED
    assert found.output is not None
    assert found.output.key == rendered.output_key
    assert world.store.balance("alice") == Balance(available=12, spent=8)
    assert world.store.report(found) is not None


def test_running_the_workflow_twice_charges_once(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    first, second = checked(world, rendered, tmp_path), checked(world, rendered, tmp_path)

    assert settle(world, ref_of(rendered), 1, first) is Settlement.DELIVERED
    assert settle(world, ref_of(rendered), 1, second) is Settlement.SKIPPED
    assert verify(world, ref_of(rendered), 1, tmp_path) is None
    assert world.store.balance("alice") == Balance(available=12, spent=8)


def test_a_rejected_output_is_another_attempt(world: World, rendered: Task, tmp_path: Path) -> None:
    black = Verdict(ruling=Ruling.REJECT, code="black", reason="The picture is black.")
    world.inspector.verdict = black

    finding = checked(world, rendered, tmp_path)
    assert settle(world, ref_of(rendered), 1, finding) is Settlement.REJECTED

    found = now_of(world, rendered)
    assert (found.state, found.attempt, found.code) == (TaskState.QUEUED, 2, "black")
    assert world.store.balance("alice").held == 8


def test_a_finding_about_an_earlier_attempt_changes_nothing(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    finding = checked(world, rendered, tmp_path)

    assert settle(world, ref_of(rendered), 2, finding) is Settlement.SKIPPED
    assert now_of(world, rendered) == rendered


def test_an_inspection_that_dies_is_no_verdict(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    world.inspector.verdict = NotVerified(reason="killed")

    with pytest.raises(InspectionFailed):
        verify(world, ref_of(rendered), 1, tmp_path)
    assert now_of(world, rendered) == rendered


def test_an_output_that_vanished_is_another_attempt(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    assert rendered.output_key is not None
    del world.media.files[rendered.output_key]

    finding = checked(world, rendered, tmp_path)

    assert (finding.code, finding.output) == ("output-missing", None)


DOUBTFUL = Verdict(
    ruling=Ruling.REVIEW,
    code="still",
    reason="Most of the video stands still.",
    facts=ACCEPTED.facts,
)


def doubted(world: World, rendered: Task, tmp_path: Path, review: Review) -> Settlement:
    world.rules = replace(world.rules, reviews={"image_to_video": review})
    world.inspector.verdict = DOUBTFUL
    return settle(world, ref_of(rendered), 1, checked(world, rendered, tmp_path))


def test_a_doubt_can_be_delivered_with_a_notice(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    assert doubted(world, rendered, tmp_path, Review.DELIVER) is Settlement.DELIVERED

    found = now_of(world, rendered)
    assert (found.state, found.reason) == (TaskState.DELIVERED, DOUBTFUL.reason)
    assert world.store.balance("alice") == Balance(available=12, spent=8)


def test_a_doubt_can_be_another_attempt(world: World, rendered: Task, tmp_path: Path) -> None:
    assert doubted(world, rendered, tmp_path, Review.REJECT) is Settlement.REJECTED
    assert now_of(world, rendered).state is TaskState.QUEUED


@pytest.mark.parametrize(
    ("accept", "state", "balance"),
    [
        (True, TaskState.DELIVERED, Balance(available=12, spent=8)),
        (False, TaskState.FAILED, Balance(available=20)),
    ],
)
def test_a_doubt_can_wait_for_an_operators_word(
    world: World,
    rendered: Task,
    tmp_path: Path,
    *,
    accept: bool,
    state: TaskState,
    balance: Balance,
) -> None:
    assert doubted(world, rendered, tmp_path, Review.HOLD) is Settlement.HELD
    held = now_of(world, rendered)
    assert (held.state, held.deadline) == (TaskState.VERIFYING, Deadline.REVIEW)
    assert world.store.balance("alice").held == 8
    again = settle(world, ref_of(rendered), 1, checked(world, rendered, tmp_path))
    assert again is Settlement.SKIPPED

    assert isinstance(reviewed(world, ref_of(rendered), accept=accept), Applied)
    assert now_of(world, rendered).state is state
    assert world.store.balance("alice") == balance
    assert isinstance(reviewed(world, ref_of(rendered), accept=True), Ignored)


def test_an_operators_silence_gives_the_credits_back(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    doubted(world, rendered, tmp_path, Review.HOLD)
    world.clock.forward(hours=25)
    sweep(world, world.clock.now() + timedelta(seconds=50))

    found = now_of(world, rendered)
    assert (found.state, found.code) == (TaskState.FAILED, "review-expired")
    assert found.reason == DOUBTFUL.reason
    assert world.store.balance("alice") == Balance(available=20)


def test_what_was_repacked_is_what_is_delivered(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    mended = tmp_path / "mended.mp4"
    mended.write_bytes(b"mended")
    poster = tmp_path / "poster.jpg"
    poster.write_bytes(b"poster")

    class Mending(ScriptedInspector):
        def inspect(
            self, path: Path, promise: Promise, *, kind: str, workdir: Path
        ) -> Inspected | NotVerified:
            assert isinstance(
                ScriptedInspector.inspect(self, path, promise, kind=kind, workdir=workdir),
                Inspected,
            )
            return Inspected(verdict=ACCEPTED, path=mended, mended=True, thumbnails=(poster,))

    world.inspector = Mending()
    settle(world, ref_of(rendered), 1, checked(world, rendered, tmp_path))

    output = now_of(world, rendered).output
    assert output is not None
    assert output.key != rendered.output_key
    assert world.media.files[output.key][0] == b"mended"
    assert world.media.files[thumbnail_key(output.key, "poster.jpg")][0] == b"poster"
    assert output.thumbnails == 1


def test_a_finding_of_an_earlier_round_changes_nothing(
    world: World, rendered: Task, tmp_path: Path
) -> None:
    finding = checked(world, rendered, tmp_path)
    found = rendered
    while found.state is not TaskState.DEAD:
        world.clock.forward(hours=1)
        if found.state is TaskState.QUEUED:
            render(world, ticket_of(found), tmp_path)
            found = now_of(world, rendered)
        advance(world, found, Happening(event=Event.ATTEMPT_FAILED, code="black"))
        found = now_of(world, rendered)
    advance(world, found, Happening(event=Event.REDRIVE))
    render(world, ticket_of(now_of(world, rendered)), tmp_path)

    assert now_of(world, rendered).attempt == rendered.attempt
    assert settle(world, ref_of(rendered), 1, finding) is Settlement.SKIPPED
