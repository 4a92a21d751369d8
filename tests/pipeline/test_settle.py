from pathlib import Path

import pytest

from functions.domain.credits import Balance
from functions.domain.errors import InspectionFailed
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.verdicts import NotVerified, Ruling, Verdict
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from functions.pipeline.settle import Settlement, settle
from functions.pipeline.verify import Finding, verify
from tests.doubles.world import World
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
    assert world.store.report(ref_of(rendered), 1) is not None


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
