from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from functions.domain.attempts import Attempt, parsed_token
from functions.domain.credits import Balance
from functions.domain.jobs import Fault, NotSent, Rejected, failure
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline import intake
from functions.pipeline.relay import ticket_of
from functions.pipeline.submit import Submission, submit
from tests.doubles.provider import JOB, LOST, ScriptedProvider
from tests.doubles.world import World
from tests.pipeline.conftest import now_of, ref_of
from tests.pipeline.remote import make_remote, provider, submitted

__all__ = ["provider"]


@pytest.fixture(autouse=True)
def remote(world: World, provider: ScriptedProvider) -> None:
    make_remote(world, provider)


def test_sends_one_request_with_an_unguessable_token(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    assert (ordered.provider, ordered.lane) == ("fal", "submit")
    assert submitted(world, ordered, tmp_path) is Submission.ACCEPTED

    found = now_of(world, ordered)
    (order,) = provider.orders
    token = parsed_token(order.token)
    assert token is not None
    assert token.fits(found)
    assert order.hook_url == f"https://api.example/v1/hooks/fal/{order.token}"
    assert (found.state, found.job) == (TaskState.RENDERING, JOB)
    assert order.prompt


def test_writes_the_attempt_down_before_anything_is_sent(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    seen: list[Attempt] = []
    provider.before_submit = lambda: seen.extend(world.store.attempts(ref_of(ordered)))

    submitted(world, ordered, tmp_path)

    assert [(attempt.number, attempt.provider, attempt.outcome) for attempt in seen] == [
        (1, "fal", None)
    ]


def test_a_second_delivery_sends_nothing(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    ticket = ticket_of(ordered)
    submit(world, ticket, tmp_path)

    assert submit(world, ticket, tmp_path) is Submission.SKIPPED
    assert len(provider.orders) == 1


def test_an_answer_that_never_came_is_asked_for_and_never_sent_again(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.submitted = LOST

    assert submitted(world, ordered, tmp_path) is Submission.UNKNOWN
    assert now_of(world, ordered).state is TaskState.CHECKING
    assert submitted(world, ordered, tmp_path) is Submission.SKIPPED
    assert len(provider.orders) == 1
    (attempt,) = world.store.attempts(ref_of(ordered))
    assert attempt.outcome is None


@pytest.mark.parametrize("fault", [Fault.BAD_INPUT, Fault.REFUSED_CONTENT])
def test_a_refused_order_ends_with_the_credits_back(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path, fault: Fault
) -> None:
    provider.submitted = Rejected(failure=failure(fault))

    assert submitted(world, ordered, tmp_path) is Submission.REJECTED
    assert now_of(world, ordered).state is TaskState.FAILED
    assert world.store.balance("alice") == Balance(available=20)


@pytest.mark.parametrize("fault", [Fault.NO_ACCESS, Fault.THROTTLED, Fault.TROUBLE])
def test_where_we_are_refused_the_next_provider_is_tried(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path, fault: Fault
) -> None:
    provider.submitted = Rejected(failure=failure(fault))

    submitted(world, ordered, tmp_path)

    found = now_of(world, ordered)
    assert (found.state, found.provider, found.attempt) == (TaskState.QUEUED, "kling", 2)
    assert world.store.balance("alice").held == 8
    (attempt,) = world.store.attempts(ref_of(ordered))
    assert (attempt.outcome, attempt.charged) == ("rejected", False)


def test_the_last_provider_that_lets_us_not_in_ends_it(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.submitted = Rejected(failure=failure(Fault.NO_ACCESS))
    submitted(world, ordered, tmp_path)
    world.clock.forward(minutes=1)

    submitted(world, ordered, tmp_path)

    assert now_of(world, ordered).state is TaskState.FAILED
    assert world.store.balance("alice") == Balance(available=20)


def test_what_was_not_sent_is_tried_again(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.submitted = NotSent(cause="unreachable")

    assert submitted(world, ordered, tmp_path) is Submission.NOT_SENT
    assert now_of(world, ordered).state is TaskState.QUEUED


def test_a_used_up_budget_puts_the_ticket_back(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    class UsedUp:
        def take(self, name: str, per_minute: int | None) -> bool:
            assert name == "fal-submit"
            assert per_minute is None or per_minute > 0
            return False

    world.budgets = UsedUp()

    assert submitted(world, ordered, tmp_path) is Submission.DEFERRED
    assert provider.orders == []
    ((ticket, delay),) = world.queue.tickets
    assert ticket == ticket_of(ordered)
    assert 20 <= delay <= 40
    assert now_of(world, ordered) == ordered


def test_a_cancel_before_the_answer_wins(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.before_submit = lambda: intake.cancel(world, ref_of(ordered))

    submitted(world, ordered, tmp_path)

    assert now_of(world, ordered).state is TaskState.CANCELED
    assert world.store.balance("alice") == Balance(available=20)


def test_an_early_ticket_waits(
    world: World, ordered: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.submitted = NotSent(cause="unreachable")
    submitted(world, ordered, tmp_path)
    retry = now_of(world, ordered)
    assert retry.not_before is not None

    world.clock.at = retry.not_before - timedelta(minutes=1)

    assert submit(world, replace(ticket_of(retry)), tmp_path) is Submission.SKIPPED
