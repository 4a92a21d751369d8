"""Reported troubles with money, by their number in our collection: none can happen here."""

from functions.domain.results import Stale
from functions.domain.states import TaskState
from functions.pipeline import operate
from functions.pipeline.relay import relay
from functions.pipeline.settle import settle
from functions.pipeline.verify import verify
from tests.simulation.actors import BROKEN, CUT_OFF
from tests.simulation.endings import FREE, delivered, ended
from tests.simulation.faults import Fault
from tests.simulation.story import ACCOUNT, Story


def test_w43_an_old_image_relayed_late_takes_nothing_back(story: Story) -> None:
    story.want(story.order)
    first = story.task()
    task = delivered(story)

    relay(story.town.ports, first)
    story.town.process("nothing", lambda: None)
    story.town.pump()

    assert story.task() == task


def test_w46_w50_credits_come_back_once_however_often_it_fails(story: Story) -> None:
    story.town.habits.deliveries = 2
    story.town.ports.renderer.always = CUT_OFF

    story.want(story.order)

    ended(story, TaskState.FAILED, FREE)


def test_w48_a_cancel_that_races_with_completion_ends_the_hold_once(story: Story) -> None:
    story.want(story.order)
    story.town.cloud.breaker.first["TransactWriteItems"] = story.cancel

    delivered(story)


def test_w49_w57_an_order_of_unknown_outcome_keeps_its_hold_and_is_asked_for(
    story: Story,
) -> None:
    story.town.cloud.breaker.by_operation["TransactWriteItems"] = [Fault.ANSWER_LOST]

    assert story.order()

    assert story.town.ports.store.balance(ACCOUNT).held == 8
    delivered(story)


def test_w52_a_retry_stacks_no_holds(story: Story) -> None:
    story.town.ports.renderer.script = [BROKEN, BROKEN]
    story.want(story.order)
    held = []

    def look() -> None:
        held.append(story.town.ports.store.balance(ACCOUNT).held)

    story.town.ports.renderer.meanwhile = [look, look, look]

    delivered(story)
    assert held == [8, 8, 8]


def test_w53_two_settles_at_once_charge_once(story: Story) -> None:
    town = story.town
    town.habits.runs_lost = 1
    story.want(story.order)
    town.pump()
    task = story.task()
    finding = verify(town.ports, story.ref(), 1, town.workdir)
    assert finding is not None
    outcomes: list[str] = []

    def settled() -> None:
        outcomes.append(settle(town.ports, story.ref(), task.attempt, finding))

    town.cloud.breaker.first["TransactWriteItems"] = settled
    settled()

    assert sorted(outcomes) == ["delivered", "skipped"]
    delivered(story)


def test_w66_w67_a_redrive_runs_and_a_delivered_task_is_left_alone(story: Story) -> None:
    story.town.ports.renderer.script = [BROKEN] * 4
    story.want(story.order)
    story.recover()
    assert story.task().state is TaskState.DEAD

    story.want(story.redrive)
    task = delivered(story)
    assert (task.cycle, story.town.ports.renderer.calls) == (1, 5)

    assert story.redrive()
    assert story.task() == task


def test_two_redrives_at_once_hold_once(story: Story) -> None:
    story.town.ports.renderer.script = [BROKEN] * 4
    story.want(story.order)
    story.recover()
    outcomes: list[object] = []

    def redriven() -> None:
        outcomes.append(operate.redrive(story.town.ports, story.ref()))

    story.town.cloud.breaker.first["TransactWriteItems"] = redriven
    redriven()

    assert [type(outcome).__name__ for outcome in outcomes] == ["Applied", Stale.__name__]
    delivered(story)
