"""A world in memory with a customer, credits and an uploaded photo."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from functions.domain.media import source_key
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from functions.domain.results import Created
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.pipeline import intake, operate
from tests.doubles.world import World
from tests.factories import ulid

PHOTO = b"\x89PNG\r\n\x1a\n" + bytes.fromhex("0000000d49484452000004000000030008020000004e5e5c1f")


class Renderer:
    """A provider that does what it was told, and counts."""

    def __init__(self) -> None:
        self.outcome: Refused | Failed | None = None
        self.before: Callable[[], object] | None = None
        self.calls = 0

    def __call__(
        self,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Callable[[int, int], None],
    ) -> Rendered | Refused | Failed:
        assert source.read_bytes() == PHOTO
        assert order["seconds"] == 4
        self.calls += 1
        if self.before:
            self.before()
        on_progress(1, 2)
        if self.outcome:
            return self.outcome
        out.write_bytes(b"video")
        return Rendered(path=out)


@pytest.fixture
def renderer() -> Renderer:
    return Renderer()


@pytest.fixture
def world(renderer: Renderer) -> World:
    world = World(providers={"motion": BuiltIn(name="motion", render=renderer)})
    operate.grant(world, "alice", "grant-0000000001", 20, None)
    world.media.files[source_key("alice", ulid(1))] = (PHOTO, "image/png")
    return world


@pytest.fixture
def order() -> dict[str, Any]:
    return {"source": ulid(1), "motion": "zoom-in", "seconds": 4}


@pytest.fixture
def ordered(world: World, order: dict[str, Any]) -> Task:
    made = intake.order(world, "alice", "key-0000000000001", "image_to_video", order)
    assert isinstance(made, Created)
    return made.task


def ref_of(task: Task) -> TaskRef:
    return TaskRef(account=task.account, id=task.id)


def now_of(world: World, task: Task) -> Task:
    found = world.store.get(ref_of(task))
    assert found is not None
    return found
