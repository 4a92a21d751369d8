from pathlib import Path

import pytest

from functions.domain.errors import FetchFailed
from functions.domain.jobs import Broken, OutputGone, RefusedAddress, TooLarge
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline.fetch import Fetching, fetch
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from tests.doubles.provider import RUNNING, SUCCEEDED, ScriptedProvider
from tests.doubles.world import World
from tests.pipeline.conftest import now_of, ref_of
from tests.pipeline.remote import asked, make_remote, provider, submitted

__all__ = ["provider"]


@pytest.fixture
def rendered(
    world: World, provider: ScriptedProvider, request: pytest.FixtureRequest, tmp_path: Path
) -> Task:
    make_remote(world, provider)
    ordered: Task = request.getfixturevalue("ordered")
    submitted(world, ordered, tmp_path)
    provider.observation = SUCCEEDED
    asked(world, ordered)
    return now_of(world, ordered)


def test_brings_the_file_over_once(
    world: World, rendered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    assert rendered.state is TaskState.VERIFYING
    assert fetch(world, ref_of(rendered), 1, tmp_path) is Fetching.FETCHED
    assert fetch(world, ref_of(rendered), 1, tmp_path) is Fetching.ALREADY_HERE
    assert provider.downloads == 1
    assert rendered.output_key in world.media.files


@pytest.mark.parametrize("result", [Broken(code="timed-out"), OutputGone(status=404)])
def test_a_failed_download_repeats_only_the_download(
    world: World,
    rendered: Task,
    provider: ScriptedProvider,
    tmp_path: Path,
    result: Broken | OutputGone,
) -> None:
    provider.downloaded = result

    with pytest.raises(FetchFailed):
        fetch(world, ref_of(rendered), 1, tmp_path)
    assert now_of(world, rendered) == rendered
    assert len(provider.orders) == 1


@pytest.mark.parametrize(
    "result", [TooLarge(bytes_max=1), RefusedAddress(code="private", host="10.0.0.1")]
)
def test_a_file_that_cannot_be_taken_is_another_attempt(
    world: World,
    rendered: Task,
    provider: ScriptedProvider,
    tmp_path: Path,
    result: TooLarge | RefusedAddress,
) -> None:
    provider.downloaded = result

    assert fetch(world, ref_of(rendered), 1, tmp_path) is Fetching.UNUSABLE
    found = now_of(world, rendered)
    assert (found.state, found.attempt, found.code) == (TaskState.QUEUED, 2, "output-unusable")


def test_a_provider_that_takes_its_word_back_is_asked_again(
    world: World, rendered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.observation = RUNNING

    with pytest.raises(FetchFailed):
        fetch(world, ref_of(rendered), 1, tmp_path)


def test_has_nothing_to_do_for_our_own_renders(world: World, ordered: Task, tmp_path: Path) -> None:
    render(world, ticket_of(ordered), tmp_path)

    assert fetch(world, ref_of(ordered), 1, tmp_path) is Fetching.SKIPPED
