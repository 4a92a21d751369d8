"""Faults of which the search found that they cost a customer the clip that was bought."""

import pytest

from functions.domain.states import TaskState
from tests.simulation.endings import delivered
from tests.simulation.faults import Fault
from tests.simulation.scenarios import RENDER, SILENT, buy_from
from tests.simulation.story import Story


def test_a_claim_whose_answer_is_lost_is_looked_for_and_sent(story: Story) -> None:
    market = buy_from(story, "fal", SILENT)
    story.want(story.order)
    story.town.cloud.breaker.by_operation["TransactWriteItems"] = [Fault.ANSWER_LOST]

    task = delivered(story)

    assert (task.attempt, len(market.submits)) == (1, 1)


def test_trouble_of_our_own_before_the_order_left_is_not_an_unknown_outcome(story: Story) -> None:
    market = buy_from(story, "fal", SILENT)
    story.town.cloud.breaker.by_operation["HeadObject"] = [Fault.THROTTLED]
    story.town.cloud.breaker.by_operation["GetSecretValue"] = [Fault.NO_CONNECTION]
    story.want(story.order)

    task = delivered(story)

    assert (task.attempt, len(market.submits)) == (3, 1)
    assert TaskState.CHECKING not in [step.state for step in task.history if step.attempt < 3]


def test_what_a_provider_answered_is_written_down_at_the_next_try(story: Story) -> None:
    market = buy_from(story, "fal", SILENT)
    broken = story.town.cloud.breaker.by_operation
    market.meanwhile = [lambda: broken.update(UpdateItem=[Fault.NEVER_ARRIVED, Fault.THROTTLED])]
    story.want(story.order)

    task = delivered(story)

    assert (task.attempt, len(market.submits), market.vendor.bill()["billed"]) == (1, 1, 1)


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.DIED_AFTER])
def test_a_job_that_only_a_call_has_named_is_kept(story: Story, fault: Fault) -> None:
    market = buy_from(story, "fal", RENDER)
    story.town.cloud.breaker.by_operation["Submit"] = [fault]
    story.town.cloud.breaker.by_operation["Question"] = [Fault.NEVER_ARRIVED]
    story.want(story.order)

    task = delivered(story)

    assert (task.attempt, market.vendor.bill()["billed"]) == (1, 1)


def test_a_call_is_heard_again_if_what_was_learned_could_not_be_written(story: Story) -> None:
    market = buy_from(story, "fal", RENDER)
    breaker = story.town.cloud.breaker
    breaker.by_operation["Submit"] = [Fault.ANSWER_LOST]
    breaker.first["Question"] = lambda: breaker.by_operation.update(
        TransactWriteItems=[Fault.CONTENDED]
    )
    story.want(story.order)

    task = delivered(story)

    assert (task.attempt, market.vendor.bill()["billed"]) == (1, 1)
