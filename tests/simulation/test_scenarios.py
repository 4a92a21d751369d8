"""The cases that this product was born from: each is delivered and charged once."""

from functions.domain.credits import Balance
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening
from functions.pipeline.advance import report
from tests.simulation.actors import BROKEN
from tests.simulation.endings import delivered, power_cut, swept
from tests.simulation.faults import Fault
from tests.simulation.story import Story


def test_process_dies_between_the_record_and_the_queue(story: Story) -> None:
    story.town.cloud.breaker.by_operation["SendMessage"] = [Fault.DIED_BEFORE] * 3

    story.want(story.order)
    story.town.pump()
    assert story.task().state is TaskState.QUEUED
    assert story.town.messages == []

    delivered(story)
    assert story.town.ports.renderer.calls == 1


def test_gateway_drops_the_answer_and_the_client_retries(story: Story) -> None:
    story.order()
    lost = story.acknowledged.pop()  # it was written, and nobody heard of it

    story.want(story.order)

    assert story.acknowledged == [lost]
    assert story.town.ports.store.balance("alice") == Balance(available=12, held=8, open=1)
    delivered(story)


def test_worker_loses_power_mid_render(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [power_cut]

    story.want(story.order)

    task = delivered(story)
    assert story.town.ports.renderer.calls == 2
    assert task.attempt == 2
    assert "worker-lost" in {step.reason for step in task.history}


def test_sweeper_takes_the_lease_at_the_moment_the_worker_reports(story: Story) -> None:
    town = story.town

    def lapse_at_the_report() -> None:
        town.cloud.breaker.first["UpdateItem"] = lapsed

    def lapsed() -> None:
        swept(story, 91)

    town.ports.renderer.meanwhile = [lapse_at_the_report]
    story.want(story.order)
    town.pump()

    task = delivered(story)
    assert [step.state for step in task.history].count(TaskState.CHECKING) == 1
    assert (task.attempt, town.ports.renderer.calls) == (1, 1)


def test_worker_reports_at_the_moment_the_sweeper_takes_the_lease(story: Story) -> None:
    town = story.town
    town.ports.renderer.meanwhile = [power_cut]
    story.want(story.order)
    town.pump()
    mine = story.task()
    key = f"out/alice/{mine.id}/1-{mine.lease}.mp4"
    town.cloud.clients["s3"].put_object(Bucket="media", Key=key, Body=b"video")
    happened = Happening(event=Event.RENDERED, output_key=key)

    town.ports.at.forward(seconds=91)
    town.cloud.breaker.first["UpdateItem"] = lambda: report(town.ports, mine, happened)
    town.sweep()

    task = delivered(story)
    assert TaskState.CHECKING not in {step.state for step in task.history}
    assert task.output is not None
    assert task.output.key == key


def test_relay_off_the_photo_is_delivered_by_the_sweeper_alone(story: Story) -> None:
    story.town.habits.relay = False

    story.want(story.order)

    delivered(story)
    assert story.town.ports.renderer.calls == 1
    assert not any(line.startswith("relay") for line in story.town.log)


def test_everything_arrives_twice_and_is_charged_once(story: Story) -> None:
    story.town.habits.deliveries = 2
    story.town.ports.renderer.script = [BROKEN]

    story.want(story.order)

    delivered(story)
    assert story.town.ports.renderer.calls == 2
