"""Reported troubles with work, by their number in our collection: none can happen here."""

import logging
from dataclasses import replace

import pytest

from functions.domain.media import source_key
from functions.domain.results import Created
from functions.domain.states import TaskState
from functions.pipeline import intake, operate
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import Rendering, render
from functions.pipeline.sweep import PAGE, sweep
from tests.doubles.store import MemoryStore
from tests.doubles.world import World
from tests.factories import new_task, ulid
from tests.simulation.actors import BROKEN, CUT_OFF
from tests.simulation.endings import FREE, delivered, ended, power_cut, swept
from tests.simulation.faults import Fault
from tests.simulation.story import ACCOUNT, KIND, ORDER, Story
from tests.simulation.town import Message


def test_w2_a_full_page_that_cannot_be_mended_hides_nothing_behind_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    world = World(store=MemoryStore(shards=1))
    broken = PAGE + 5
    world.rules = replace(world.rules, shards=1)
    operate.grant(world, ACCOUNT, "grant-0000000001", 10_000, None)
    for number in range(broken):  # of a kind that this deployment does not know any more
        world.store.create(new_task(number, kind="gone", open_max=1000))
    world.clock.forward(seconds=1)
    world.store.create(new_task(broken, open_max=1000, now=world.clock.now()))
    world.clock.forward(minutes=5)

    done = sweep(world, world.clock.now().replace(year=2099))

    assert done == {"error": broken, "queued": 1}


def test_w3_every_claim_has_a_lease_of_its_own(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [power_cut]
    story.want(story.order)
    story.town.pump()
    first = story.task().lease

    task = delivered(story)

    assert first
    assert task.output is not None
    assert first not in task.output.key


def test_w6_w59_a_task_that_kills_each_of_its_workers_dies_and_lets_go(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [power_cut] * 9

    story.want(story.order)

    task = ended(story, TaskState.DEAD, FREE)
    assert task.attempt == story.town.ports.renderer.calls == 4
    assert story.town.graves == [task.id]


def test_w14_w15_a_killed_worker_keeps_no_place(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [power_cut]
    story.want(story.order)
    story.town.pump()
    story.want(story.cancel)

    again = story.town.process(
        "order", lambda: intake.order(story.town.ports, ACCOUNT, "key-0000000000002", KIND, ORDER)
    )

    assert isinstance(again, Created)
    story.town.pump()
    states = {task.id: task.state for task in story.town.tasks()}
    assert states[again.task.id] is TaskState.DELIVERED
    assert sorted(states.values()) == ["canceled", "delivered"]


def test_w17_a_cancel_during_the_rescue_wins_and_nothing_starts_again(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [power_cut]
    story.want(story.order)
    story.town.pump()
    swept(story, 91)
    story.town.cloud.breaker.first["UpdateItem"] = story.cancel

    swept(story, 20)

    ended(story, TaskState.CANCELED, FREE)
    assert story.town.ports.renderer.calls == 1


def test_w18_a_long_render_with_heartbeats_is_never_taken(story: Story) -> None:
    def half_an_hour() -> None:
        for _ in range(30):
            swept(story, 60)
            assert story.town.ports.beat()

    story.town.ports.renderer.meanwhile = [half_an_hour]
    story.want(story.order)

    task = delivered(story)
    assert (task.attempt, story.town.ports.renderer.calls) == (1, 1)


def test_w19_w23_a_late_finisher_changes_nothing(story: Story) -> None:
    town = story.town

    def overtaken() -> None:
        for seconds in (91, 20, 30):
            swept(story, seconds)
        town.pump()  # another worker takes the second attempt, and it is delivered

    town.ports.renderer.meanwhile = [overtaken]
    story.want(story.order)

    task = delivered(story)
    assert (task.attempt, town.ports.renderer.calls) == (2, 2)
    assert task.output is not None
    assert f"/{task.attempt}-" in task.output.key
    assert "render: superseded" in town.log


def test_w24_a_second_delivery_finds_a_live_lease_and_backs_off(story: Story) -> None:
    town = story.town
    answers: list[Rendering] = []

    def again() -> None:
        answers.append(render(town.ports, ticket_of(story.task()), town.workdir))

    town.ports.renderer.meanwhile = [again]
    story.want(story.order)

    assert delivered(story).attempt == 1
    assert answers == [Rendering.SKIPPED]


def test_w25_w27_a_message_that_was_not_deleted_does_nothing_again(story: Story) -> None:
    story.want(story.order)
    ticket = ticket_of(story.task())
    task = delivered(story)

    story.town.messages.append(Message(ticket=ticket, visible_at=story.town.ports.at.at))
    story.town.pump()

    assert story.task() == task
    assert story.town.ports.renderer.calls == 1


def test_w26_a_lease_starts_when_the_work_is_claimed(story: Story) -> None:
    story.want(story.order)
    story.town.ports.at.forward(seconds=100)  # the message waited in a batch
    now = story.town.ports.at.at
    leases: list[float] = []

    def look() -> None:
        due = story.task().due_at
        assert due is not None
        leases.append((due - now).total_seconds())

    story.town.ports.renderer.meanwhile = [look]

    delivered(story)
    assert leases == [90.0]


def test_w61_the_wait_before_a_retry_is_kept_to(story: Story) -> None:
    town = story.town
    town.ports.renderer.script = [BROKEN]
    story.want(story.order)
    town.pump()
    retry = story.task()

    town.messages.append(Message(ticket=ticket_of(retry), visible_at=town.ports.at.at))
    town.ports.at.at = retry.not_before.replace(year=2020) if retry.not_before else town.ports.at.at
    assert render(town.ports, ticket_of(retry), town.workdir) is Rendering.SKIPPED
    town.ports.at.at = retry.history[-1].at

    delivered(story)
    assert town.ports.renderer.calls == 2


def test_w62_what_will_never_work_is_tried_once(story: Story) -> None:
    story.town.ports.renderer.always = CUT_OFF

    story.want(story.order)

    task = ended(story, TaskState.FAILED, FREE)
    assert (task.attempt, story.town.ports.renderer.calls) == (1, 1)


def test_w71_a_result_whose_report_was_lost_is_found(story: Story) -> None:
    story.town.cloud.breaker.by_operation["PutObject"] = [Fault.DIED_AFTER]

    story.want(story.order)

    assert delivered(story).attempt == 1
    assert story.town.ports.renderer.calls == 1


def test_w79_a_sweeper_whose_clock_is_ahead_charges_once(story: Story) -> None:
    def ahead() -> None:
        swept(story, 300)
        swept(story, 30)
        story.town.ports.at.forward(seconds=-330)

    story.town.ports.renderer.meanwhile = [ahead]
    story.want(story.order)

    delivered(story)


def test_w85_an_order_whose_message_was_lost_is_found(story: Story) -> None:
    story.want(story.order)
    story.town.records.clear()

    delivered(story)
    assert story.town.ports.renderer.calls == 1


def test_w86_a_source_that_is_gone_is_not_looked_for_again_and_again(story: Story) -> None:
    story.want(story.order)
    key = source_key(ACCOUNT, ulid(1))
    story.town.cloud.clients["s3"].delete_object(Bucket="media", Key=key)

    task = ended(story, TaskState.FAILED, FREE)
    assert (task.code, task.attempt) == ("source-changed", 1)


def test_a_claim_that_the_sdk_repeated_costs_no_attempt(story: Story) -> None:
    story.town.cloud.breaker.by_operation["UpdateItem"] = [Fault.REPEATED]

    story.want(story.order)

    task = delivered(story)
    assert (task.attempt, story.town.ports.renderer.calls) == (1, 1)
    assert TaskState.CHECKING not in {step.state for step in task.history}
