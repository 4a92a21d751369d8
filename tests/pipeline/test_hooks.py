from pathlib import Path

import pytest

from functions.domain.hooks import (
    BadSignature,
    Challenge,
    Delivery,
    Hint,
    Judgement,
    Parked,
    Unverifiable,
)
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline.check import answer
from functions.pipeline.hooks import Reception, receive, replay
from tests.doubles.provider import LOST, SUCCEEDED, ScriptedProvider
from tests.doubles.world import World
from tests.pipeline.conftest import now_of
from tests.pipeline.remote import (
    finished,
    make_remote,
    provider,
    relayed,
    submitted,
    tickets,
)

__all__ = ["provider"]


@pytest.fixture(autouse=True)
def remote(world: World, provider: ScriptedProvider) -> None:
    make_remote(world, provider)


def called(provider: ScriptedProvider, token: str | None = None) -> Delivery:
    return Delivery(
        token=token or provider.orders[-1].token, headers={"x": "y"}, body=b'{"done":true}'
    )


def asked_about(world: World) -> None:
    for ticket in tickets(world, "check"):
        answer(world, ticket)
    world.queue.tickets.clear()


def test_a_call_is_kept_and_sets_off_a_question(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    submitted(world, ordered, tmp_path)
    provider.observation = SUCCEEDED

    assert receive(world, "fal", called(provider)).reception is Reception.TAKEN
    assert now_of(world, ordered).state is TaskState.RENDERING  # a call moves nothing by itself
    assert len(world.media.keys("hooks/seen/fal/", limit=9)) == 1
    asked_about(world)
    relayed(world, ordered)
    finished(world, tmp_path)

    assert now_of(world, ordered).state is TaskState.DELIVERED
    assert world.metrics.counts["FoundBySweep"] == 0


def test_a_lying_call_moves_nothing(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    submitted(world, ordered, tmp_path)

    receive(world, "fal", called(provider))
    asked_about(world)  # the provider itself says: still running

    assert now_of(world, ordered).state is TaskState.RENDERING


def test_twice_and_thrice_is_once(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    submitted(world, ordered, tmp_path)
    provider.observation = SUCCEEDED
    for _ in range(3):
        receive(world, "fal", called(provider))
    asked_about(world)

    assert now_of(world, ordered).state is TaskState.VERIFYING
    assert len(world.media.keys("hooks/seen/", limit=9)) == 1


def test_a_call_that_beats_the_answer_is_understood(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    """p16: the webhook arrives before our own record of the job."""
    provider.submitted = LOST
    submitted(world, ordered, tmp_path)
    provider.observation = SUCCEEDED

    receive(world, "fal", called(provider))
    asked_about(world)

    assert now_of(world, ordered).state is TaskState.VERIFYING
    assert len(provider.orders) == 1


def test_a_call_with_another_lease_is_nobodys(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    submitted(world, ordered, tmp_path)
    provider.observation = SUCCEEDED
    head = provider.orders[-1].token.rpartition(".")[0]

    receive(world, "fal", called(provider, token=f"{head}.{'0' * 32}"))
    asked_about(world)

    assert now_of(world, ordered).state is TaskState.RENDERING
    assert world.metrics.counts["HookOfNobody"] == 1


@pytest.mark.parametrize(
    ("judgement", "reception"),
    [
        (BadSignature(code="wrong"), Reception.FORGED),
        (Unverifiable(code="no-keys"), Reception.UNVERIFIABLE),
        (Challenge(body=b'{"challenge":"x"}'), Reception.CHALLENGED),
    ],
)
def test_what_is_no_call_leaves_nothing_behind(
    world: World,
    ordered: Task,
    provider: ScriptedProvider,
    tmp_path: Path,
    judgement: Judgement,
    reception: Reception,
) -> None:
    submitted(world, ordered, tmp_path)
    provider.judgement = judgement

    received = receive(world, "fal", called(provider))

    assert received.reception is reception
    assert received.body == (judgement.body if isinstance(judgement, Challenge) else b"")
    assert world.media.keys("hooks/", limit=9) == []
    assert tickets(world, "check") == []


@pytest.mark.parametrize("name", ["motion", "nobody"])
def test_only_remote_providers_call(world: World, name: str) -> None:
    assert receive(world, name, Delivery(token="x", headers={}, body=b"")).reception is (
        Reception.UNKNOWN
    )


def test_a_parked_call_is_replayed_after_a_fix(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    submitted(world, ordered, tmp_path)
    provider.judgement, provider.observation = Parked(code="no-job-id"), SUCCEEDED
    assert receive(world, "fal", called(provider)).reception is Reception.PARKED
    assert replay(world, limit=10) == {"replayed": 0, "parked": 1}

    provider.judgement = Hint(observation=SUCCEEDED)
    assert replay(world, limit=10) == {"replayed": 1, "parked": 0}
    assert replay(world, limit=10) == {"replayed": 0, "parked": 0}
    asked_about(world)

    assert now_of(world, ordered).state is TaskState.VERIFYING
