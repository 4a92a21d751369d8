"""The other entrypoints: each decodes its trigger's event, and reports partial failure its way."""

import json
from dataclasses import replace
from typing import Any

import pytest

from functions.adapters.dynamodb_items import task_item, task_key
from functions.adapters.dynamodb_keys import wire
from functions.domain.errors import InspectionFailed, Unavailable
from functions.domain.results import Created
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.verdicts import NotVerified
from functions.entrypoints import measure, relay, render, settle, sweep, verify
from functions.pipeline import intake
from functions.pipeline.relay import ticket_of
from tests.doubles.world import MemoryQueue, World
from tests.factories import ulid
from tests.pipeline.conftest import Renderer, now_of


@pytest.fixture
def ordered(world: World) -> Task:
    given = {"source": ulid(1), "seconds": 4}
    made = intake.order(world, "alice", "key-0000000000001", "image_to_video", given)
    assert isinstance(made, Created)
    return made.task


def stream(*tasks: Task) -> dict[str, Any]:
    return {
        "Records": [
            {
                "eventName": "INSERT",
                "dynamodb": {
                    "SequenceNumber": str(number),
                    "NewImage": wire(task_key(task) | task_item(task, 4)),
                },
            }
            for number, task in enumerate(tasks)
        ]
    }


def message(ticket: Ticket, number: int = 1) -> dict[str, Any]:
    body = {
        "account": ticket.account,
        "id": ticket.id,
        "kind": ticket.kind,
        "attempt": ticket.attempt,
        "lane": ticket.lane,
    }
    return {"messageId": f"message-{number}", "body": json.dumps(body)}


class Context:
    """What a handler may ask about its own run."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


class RefusesSecond(MemoryQueue):
    """Takes one ticket."""

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        if self.tickets:
            raise Unavailable
        self.tickets.append((ticket, delay_seconds))


def test_relay_reports_the_first_record_that_failed(world: World, ordered: Task) -> None:
    world.queue = RefusesSecond()
    other = replace(ordered, id=ulid(2))

    answer = relay.handler(stream(ordered, other, replace(ordered, id=ulid(3))), None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert world.queue.tickets == [(ticket_of(ordered), 0)]


def test_relay_reports_nothing_when_all_was_sent(world: World, ordered: Task) -> None:
    assert relay.handler(stream(ordered), None) == {"batchItemFailures": []}
    assert len(world.queue.tickets) == 1


def test_render_works_its_messages_off(world: World, ordered: Task) -> None:
    answer = render.handler({"Records": [message(ticket_of(ordered))]}, None)

    assert answer == {"batchItemFailures": []}
    assert now_of(world, ordered).state is TaskState.VERIFYING


def test_render_hands_back_what_trouble_kept_from_ending(
    world: World, ordered: Task, renderer: Renderer
) -> None:
    def unplugged() -> None:
        raise Unavailable

    renderer.before = unplugged

    answer = render.handler({"Records": [message(ticket_of(ordered), 7)]}, None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-7"}]}
    assert now_of(world, ordered).state is TaskState.RENDERING


def test_the_workflow_carries_the_finding_from_verify_to_settle(
    world: World, ordered: Task
) -> None:
    render.handler({"Records": [message(ticket_of(ordered))]}, None)
    run = {"account": "alice", "id": ordered.id, "attempt": 1}

    passed = json.loads(json.dumps(verify.handler(run, None)))
    assert settle.handler(passed, None) == {"outcome": "delivered"}
    assert settle.handler(passed, None) == {"outcome": "skipped"}

    found = now_of(world, ordered)
    assert found.state is TaskState.DELIVERED
    assert found.output is not None
    assert found.output.expires_at is not None
    late = json.loads(json.dumps(verify.handler(run, None)))
    assert late["finding"] is None
    assert settle.handler(late, None) == {"outcome": "skipped"}


def test_an_inspection_that_died_fails_the_workflow(world: World, ordered: Task) -> None:
    render.handler({"Records": [message(ticket_of(ordered))]}, None)
    world.inspector.verdict = NotVerified(reason="killed")

    with pytest.raises(InspectionFailed):
        verify.handler({"account": "alice", "id": ordered.id, "attempt": 1}, None)


def test_sweep_says_what_it_did(world: World, ordered: Task) -> None:
    world.clock.forward(minutes=3)

    assert sweep.handler({}, Context()) == {"queued": 1}
    found = world.store.get(TaskRef(account="alice", id=ordered.id))
    assert found is not None
    assert found.tries == 1


def test_measure_counts_what_was_delivered_and_asks_for_nothing_again(
    world: World, ordered: Task
) -> None:
    render.handler({"Records": [message(ticket_of(ordered))]}, None)
    run = {"account": "alice", "id": ordered.id, "attempt": 1}
    settle.handler(verify.handler(run, None), None)

    answer = measure.handler(stream(now_of(world, ordered)), None)

    assert answer == {"counted": 1, "unknown": 0, "lost": 0}
    assert world.durations.read("image_to_video", "motion") is not None
