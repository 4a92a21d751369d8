from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from functions.domain.credits import Balance
from functions.domain.media import source_key
from functions.domain.outcomes import Failed, Refused
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline import intake
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import Rendering, render
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import Renderer, now_of, ref_of


def test_puts_the_output_under_its_lease(world: World, ordered: Task, tmp_path: Path) -> None:
    assert render(world, ticket_of(ordered), tmp_path) is Rendering.RENDERED

    found = now_of(world, ordered)
    assert found.state is TaskState.VERIFYING
    assert found.output_key == f"out/alice/{ordered.id}/1-{found.lease}.mp4"
    assert world.media.files[found.output_key] == (b"video", "video/mp4")


def test_a_second_delivery_does_nothing(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    render(world, ticket_of(ordered), tmp_path)

    assert render(world, ticket_of(ordered), tmp_path) is Rendering.SKIPPED
    assert renderer.calls == 1


def test_a_ticket_of_another_attempt_or_of_nothing_is_skipped(
    world: World, ordered: Task, tmp_path: Path
) -> None:
    other = replace(ticket_of(ordered), attempt=2)
    nothing = replace(ticket_of(ordered), id=ulid(99))

    assert render(world, other, tmp_path) is Rendering.SKIPPED
    assert render(world, nothing, tmp_path) is Rendering.SKIPPED


def test_a_failure_is_tried_again_not_before_its_time(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    renderer.outcome = Failed(code="encoder-failed", reason="The encoder failed.")
    assert render(world, ticket_of(ordered), tmp_path) is Rendering.FAILED
    retry = now_of(world, ordered)
    assert (retry.state, retry.attempt, retry.code) == (TaskState.QUEUED, 2, "encoder-failed")
    assert retry.not_before is not None

    world.clock.at = retry.not_before - timedelta(seconds=60)
    assert render(world, ticket_of(retry), tmp_path) is Rendering.SKIPPED
    world.clock.at = retry.not_before
    renderer.outcome = None
    assert render(world, ticket_of(retry), tmp_path) is Rendering.RENDERED


def test_attempts_end(world: World, ordered: Task, tmp_path: Path, renderer: Renderer) -> None:
    renderer.outcome = Failed(code="encoder-failed", reason="The encoder failed.")
    for _ in range(4):
        render(world, ticket_of(now_of(world, ordered)), tmp_path)
        world.clock.forward(hours=1)

    found = now_of(world, ordered)
    assert found.state is TaskState.DEAD
    assert renderer.calls == 4
    assert world.store.balance("alice") == Balance(available=20)


def test_a_refusal_ends_at_once_with_the_customers_reason(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    renderer.outcome = Refused(code="photo-truncated", reason="The photo is cut off.")

    assert render(world, ticket_of(ordered), tmp_path) is Rendering.REFUSED

    found = now_of(world, ordered)
    assert (found.state, found.code) == (TaskState.FAILED, "photo-truncated")
    assert found.reason == "The photo is cut off."
    assert world.store.balance("alice") == Balance(available=20)


def test_a_source_that_was_swapped_after_the_order_is_refused(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    world.media.files[source_key("alice", ulid(1))] = (b"another", "image/png")

    assert render(world, ticket_of(ordered), tmp_path) is Rendering.REFUSED
    assert now_of(world, ordered).code == "source-changed"
    assert renderer.calls == 0


def test_a_cancel_during_the_render_wins(
    world: World, ordered: Task, tmp_path: Path, renderer: Renderer
) -> None:
    renderer.before = lambda: intake.cancel(world, ref_of(ordered))

    assert render(world, ticket_of(ordered), tmp_path) is Rendering.SUPERSEDED

    assert now_of(world, ordered).state is TaskState.CANCELED
    assert world.store.balance("alice") == Balance(available=20)
    assert world.metrics.counts["LateResult"] == 1
