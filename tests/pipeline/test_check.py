from datetime import timedelta
from pathlib import Path

import pytest

from functions.domain.credits import Balance
from functions.domain.jobs import (
    CannotTell,
    Fault,
    Found,
    JobState,
    Observation,
    failure,
)
from functions.domain.spend import SpendLine
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline import intake
from functions.pipeline.audit import audit
from functions.pipeline.sweep import sweep
from tests.doubles.provider import JOB, LOST, SUCCEEDED, ScriptedProvider
from tests.doubles.world import World
from tests.pipeline.conftest import now_of, ref_of
from tests.pipeline.remote import asked, finished, make_remote, provider, relayed, submitted

__all__ = ["provider"]


@pytest.fixture(autouse=True)
def remote(world: World, provider: ScriptedProvider) -> None:
    make_remote(world, provider)


@pytest.fixture
def accepted(world: World, ordered: Task, tmp_path: Path) -> Task:
    submitted(world, ordered, tmp_path)
    return now_of(world, ordered)


@pytest.fixture
def unanswered(world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path) -> Task:
    provider.submitted = LOST
    submitted(world, ordered, tmp_path)
    return now_of(world, ordered)


def swept(world: World, **later: float) -> None:
    """Let the sweeper run, and the checks that it asks for."""
    world.clock.forward(**later)
    sweep(world, world.clock.now() + timedelta(seconds=50))
    for ticket, _ in list(world.queue.tickets):
        if ticket.lane == "check":
            asked(world, now_of(world, world.store.get(ref_of(_task(world, ticket.id)))))  # type: ignore[arg-type]
    world.queue.tickets.clear()


def _task(world: World, task_id: str) -> Task:
    page = world.store.tasks("alice", limit=10, cursor=None)
    return next(task for task in page.items if task.id == task_id)


def test_a_finished_job_is_fetched_verified_and_charged_once(
    world: World, accepted: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.observation = SUCCEEDED

    asked(world, accepted)
    relayed(world, accepted)
    finished(world, tmp_path)
    asked(world, accepted)

    found = now_of(world, accepted)
    assert found.state is TaskState.DELIVERED
    assert world.store.balance("alice") == Balance(available=12, spent=8)
    assert (len(provider.orders), provider.downloads) == (1, 1)
    (attempt,) = world.store.attempts(ref_of(accepted))
    assert (attempt.outcome, attempt.job, attempt.charged) == ("succeeded", JOB.id, True)


def test_a_silent_provider_is_asked_by_the_sweep_alone(
    world: World, accepted: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.observation = SUCCEEDED

    swept(world, minutes=16)
    assert now_of(world, accepted).state is TaskState.CHECKING
    swept(world, seconds=20)
    swept(world, minutes=7)
    finished(world, tmp_path)

    assert now_of(world, accepted).state is TaskState.DELIVERED
    assert world.metrics.counts["FoundBySweep"] == 1
    assert len(provider.orders) == 1


def test_a_running_job_gets_another_window_but_not_for_ever(
    world: World, accepted: Task, provider: ScriptedProvider
) -> None:
    for _ in range(6):
        swept(world, minutes=16)
        swept(world, seconds=20)
        assert now_of(world, accepted).state is TaskState.RENDERING

    swept(world, minutes=40)
    swept(world, seconds=20)

    found = now_of(world, accepted)
    assert (found.state, found.code) == (TaskState.FAILED, "provider-overdue")
    assert world.store.balance("alice") == Balance(available=20)
    assert len(provider.orders) == 1
    (attempt,) = world.store.attempts(ref_of(accepted))
    assert attempt.outcome is None  # possible spend


def test_a_failure_is_tried_again_and_a_refusal_is_not(
    world: World, accepted: Task, provider: ScriptedProvider
) -> None:
    provider.observation = Observation(
        state=JobState.FAILED, job_id=JOB.id, failure=failure(Fault.TROUBLE)
    )
    asked(world, accepted)
    again = now_of(world, accepted)
    assert (again.state, again.attempt, again.job) == (TaskState.QUEUED, 2, None)


def test_refused_content_ends_it(world: World, accepted: Task, provider: ScriptedProvider) -> None:
    provider.observation = Observation(
        state=JobState.FAILED, job_id=JOB.id, failure=failure(Fault.REFUSED_CONTENT)
    )
    asked(world, accepted)

    assert now_of(world, accepted).state is TaskState.FAILED
    assert world.store.balance("alice") == Balance(available=20)


@pytest.mark.parametrize("state", [JobState.UNRECOGNISED, JobState.UNANSWERED])
def test_an_answer_that_says_nothing_changes_nothing(
    world: World, accepted: Task, provider: ScriptedProvider, state: JobState
) -> None:
    provider.observation = Observation(state=state, word="sparkling")

    asked(world, accepted)
    swept(world, minutes=16)
    swept(world, seconds=20)

    assert now_of(world, accepted).state is TaskState.CHECKING
    assert world.metrics.counts["ProviderAnswer"] >= 1


def test_a_job_that_is_gone_is_believed_only_after_a_while(
    world: World, accepted: Task, provider: ScriptedProvider
) -> None:
    provider.observation = Observation(state=JobState.GONE)

    asked(world, accepted)
    assert now_of(world, accepted).state is TaskState.RENDERING
    world.clock.forward(minutes=3)
    asked(world, accepted)

    assert now_of(world, accepted).code == "job-gone"


def test_a_lost_submit_that_had_arrived_is_found(
    world: World, unanswered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.search, provider.observation = Found(job=JOB), SUCCEEDED

    swept(world, seconds=20)
    swept(world, minutes=7)
    finished(world, tmp_path)

    assert now_of(world, unanswered).state is TaskState.DELIVERED
    assert len(provider.orders) == 1


def test_a_lost_submit_that_is_known_not_to_have_arrived_is_sent_again(
    world: World, unanswered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    world.clock.forward(minutes=10)
    asked(world, unanswered)
    assert now_of(world, unanswered).code == "submit-lost"
    world.clock.forward(minutes=1)

    submitted(world, unanswered, tmp_path)

    assert len(provider.orders) == 2
    assert len({order.token for order in provider.orders}) == 2


def test_a_lost_submit_that_nobody_can_tell_of_ends_with_the_credits_back(
    world: World, unanswered: Task, provider: ScriptedProvider
) -> None:
    provider.search = CannotTell(cause="no-lookup")

    for _ in range(12):
        swept(world, minutes=2)

    found = now_of(world, unanswered)
    assert (found.state, found.code) == (TaskState.FAILED, "provider-outcome-unknown")
    assert world.store.balance("alice") == Balance(available=20)
    assert len(provider.orders) == 1
    (attempt,) = world.store.attempts(ref_of(unanswered))
    assert attempt.outcome is None  # possible spend


def test_a_result_that_a_call_announced_is_not_counted_as_found_by_the_sweep(
    world: World, accepted: Task, provider: ScriptedProvider
) -> None:
    provider.observation = SUCCEEDED
    swept(world, minutes=16)
    assert now_of(world, accepted).state is TaskState.CHECKING

    asked(world, accepted, lease=accepted.lease or "")

    assert now_of(world, accepted).state is TaskState.VERIFYING
    assert world.metrics.counts["FoundBySweep"] == 0


def test_every_job_that_is_given_up_is_possible_spend(
    world: World, unanswered: Task, provider: ScriptedProvider
) -> None:
    provider.search = CannotTell(cause="no-lookup")

    for _ in range(12):
        swept(world, minutes=2)

    assert now_of(world, unanswered).code == "provider-outcome-unknown"
    assert world.metrics.counts["PossibleSpend"] == 1
    assert world.metrics.counts["PossibleSpend.provider=fal"] == 1


def test_a_late_success_is_counted_and_never_charged(
    world: World, accepted: Task, provider: ScriptedProvider
) -> None:
    intake.cancel(world, ref_of(accepted))
    provider.observation = SUCCEEDED

    asked(world, accepted, lease=accepted.lease or "")

    assert now_of(world, accepted).state is TaskState.CANCELED
    assert world.store.balance("alice") == Balance(available=20)
    assert world.metrics.counts["LateHook"] == 1


def test_operators_see_spend_against_what_was_charged(
    world: World, accepted: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    def lines() -> list[SpendLine]:
        report = audit(world, world.clock.now() + timedelta(minutes=1), at_once=True)
        return list(report.spend)

    (before,) = lines()
    assert (before.provider, before.possible, before.units, before.settled) == ("fal", 1, 4, 0)
    provider.observation = SUCCEEDED
    asked(world, accepted)
    relayed(world, accepted)
    finished(world, tmp_path)

    (after,) = lines()
    assert (after.attempts, after.charged, after.possible, after.settled) == (1, 1, 0, 8)
