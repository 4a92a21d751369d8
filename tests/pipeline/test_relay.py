from dataclasses import replace
from datetime import timedelta

from functions.domain.states import Effect
from functions.domain.tasks import Task
from functions.pipeline.relay import relay, ticket_of
from tests.doubles.world import World
from tests.pipeline.conftest import ref_of


def test_sends_an_order_to_its_queue(world: World, ordered: Task) -> None:
    assert relay(world, ordered) is Effect.SEND
    assert world.queue.tickets == [(ticket_of(ordered), 0)]


def test_sends_a_retry_with_its_pause(world: World, ordered: Task) -> None:
    later = world.clock.now() + timedelta(seconds=61.2)

    relay(world, replace(ordered, not_before=later))

    assert world.queue.tickets == [(ticket_of(ordered), 62)]


def test_leaves_a_long_pause_to_the_sweeper(world: World, ordered: Task) -> None:
    later = world.clock.now() + timedelta(minutes=16)

    assert relay(world, replace(ordered, not_before=later)) is None
    assert world.queue.tickets == []


def test_starts_the_workflow_of_an_output(world: World, ordered: Task) -> None:
    relay(world, replace(ordered, effect=Effect.VERIFY, attempt=2))

    assert world.workflow.runs == [(ref_of(ordered), 2)]


def test_buries_the_dead_with_their_history(world: World, ordered: Task) -> None:
    relay(world, replace(ordered, effect=Effect.BURY))

    assert world.queue.buried[0].history == ordered.history


def test_does_nothing_about_images_without_an_effect(world: World, ordered: Task) -> None:
    assert relay(world, replace(ordered, effect=None)) is None
    assert (world.queue.tickets, world.workflow.runs) == ([], [])
