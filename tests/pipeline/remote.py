"""A world in which clips come from a remote provider."""

from dataclasses import replace
from pathlib import Path

import pytest

from functions import providers
from functions.domain.providers import Remote
from functions.domain.rules import Rules
from functions.domain.tasks import Route, Task
from functions.domain.tickets import Ticket
from functions.pipeline.check import answer
from functions.pipeline.fetch import fetch
from functions.pipeline.relay import relay, ticket_of
from functions.pipeline.settle import settle
from functions.pipeline.submit import Submission, submit
from functions.pipeline.verify import verify
from tests.doubles.provider import ScriptedProvider
from tests.doubles.world import World
from tests.pipeline.conftest import now_of

ROUTES = {
    "image_to_video": (
        Route(provider="fal", lane="submit"),
        Route(provider="kling", lane="submit"),
    )
}


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


def make_remote(world: World, provider: ScriptedProvider) -> None:
    found = {name: each for name, each in providers.load().items() if isinstance(each, Remote)}
    world.providers = {**world.providers, **found}
    world.rules = Rules(routes=ROUTES, hook_base="https://api.example")
    world.remote = provider


def submitted(world: World, task: Task, workdir: Path) -> Submission:
    return submit(world, ticket_of(now_of(world, task)), workdir)


def asked(world: World, task: Task, *, lease: str | None = None) -> None:
    answer(world, replace(ticket_of(now_of(world, task)), lane="check", lease=lease))


def finished(world: World, workdir: Path) -> None:
    """Run the workflows that were started."""
    for ref, attempt in world.workflow.runs:
        fetch(world, ref, attempt, workdir)
        finding = verify(world, ref, attempt, workdir)
        if finding:
            settle(world, ref, attempt, finding)
    world.workflow.runs.clear()


def relayed(world: World, task: Task) -> Task:
    found = now_of(world, task)
    relay(world, found)
    return found


def tickets(world: World, lane: str) -> list[Ticket]:
    return [ticket for ticket, _ in world.queue.tickets if ticket.lane == lane]
