from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.domain.errors import OutcomeUnknown, Unavailable
from functions.domain.results import Created
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Step, Task
from functions.domain.windows import Sample, Sketch, added
from functions.pipeline import intake
from functions.pipeline.advance import advance
from functions.pipeline.measure import measure, paces
from functions.pipeline.sweep import sweep
from tests.doubles.provider import RUNNING, ScriptedProvider
from tests.doubles.world import START, MemoryDurations, World
from tests.factories import task
from tests.pipeline.conftest import now_of
from tests.pipeline.remote import asked, make_remote, provider, submitted

__all__ = ["provider"]

KIND = "image_to_video"


def delivered(seconds: float, by: str = "fal", number: int = 1) -> Task:
    steps = (("rendering", 5.0), ("verifying", 5 + seconds), ("delivered", 9 + seconds))
    return replace(
        task(number),
        state=TaskState.DELIVERED,
        provider=by,
        history=tuple(
            Step(
                state=TaskState(state),
                at=START + timedelta(seconds=after),
                attempt=1,
                reason="",
            )
            for state, after in steps
        ),
    )


def learnt(world: World, seconds: float, by: str = "fal") -> None:
    sketch = added(Sketch(since=START), [Sample(seconds=seconds, at=START)] * 200)
    assert world.durations.write(KIND, by, sketch)


@pytest.fixture
def paid(world: World, provider: ScriptedProvider, order: dict[str, Any]) -> Task:
    make_remote(world, provider)
    made = intake.order(world, "alice", "key-0000000000001", KIND, order)
    assert isinstance(made, Created)
    return made.task


class Rivals(MemoryDurations):
    """Somebody else writes first, so many times."""

    times = 0

    def read(self, kind: str, provider: str) -> Sketch | None:
        found = super().read(kind, provider)
        if self.times:
            self.times -= 1
            assert super().write(kind, provider, found or Sketch(since=START))
        return found


class Broken(MemoryDurations):
    """Nothing can be read."""

    def read(self, kind: str, provider: str) -> Sketch | None:
        raise Unavailable(f"{kind} {provider}")


class Forgetful(MemoryDurations):
    """The answer to a write never comes."""

    def write(self, kind: str, provider: str, sketch: Sketch) -> bool:
        super().write(kind, provider, sketch)
        raise OutcomeUnknown


def samples(world: World, by: str = "fal") -> float:
    found = world.durations.read(KIND, by)
    return found.samples(START) if found else 0


def test_many_deliveries_cost_one_write_per_kind_and_provider(world: World) -> None:
    done = measure(world, [*(delivered(40) for _ in range(9)), delivered(70, "veo")])

    assert done == {"counted": 10, "unknown": 0, "lost": 0}
    fal, veo = (world.durations.read(KIND, by) for by in ("fal", "veo"))
    assert fal is not None
    assert veo is not None
    assert (fal.version, veo.version) == (1, 1)
    assert fal.samples(START) == pytest.approx(9, rel=0.01)


def test_what_tells_no_duration_is_left_out(world: World) -> None:
    running = replace(delivered(40), state=TaskState.VERIFYING)

    assert measure(world, [running, replace(delivered(40), history=())]) == {
        "counted": 0,
        "unknown": 2,
        "lost": 0,
    }
    assert world.durations.read(KIND, "fal") is None


@pytest.mark.parametrize(("times", "outcome"), [(2, "counted"), (3, "lost")])
def test_rivals_are_read_again_a_few_times(world: World, times: int, outcome: str) -> None:
    world.durations = rivals = Rivals()
    rivals.times = times

    assert measure(world, [delivered(40)])[outcome] == 1


def test_trouble_loses_samples_and_nothing_else(world: World) -> None:
    world.durations = Broken()

    assert measure(world, [delivered(40), delivered(50, "veo")])["lost"] == 2


def test_samples_whose_write_had_no_answer_are_not_written_twice(world: World) -> None:
    world.durations = Forgetful()

    assert measure(world, [delivered(40)])["lost"] == 1
    assert samples(world) == pytest.approx(1, rel=0.01)


def test_operators_see_what_was_measured_of_whom(world: World, provider: ScriptedProvider) -> None:
    make_remote(world, provider)
    learnt(world, 40)

    (pace,) = paces(world)

    assert (pace.kind, pace.provider, pace.samples) == (KIND, "fal", 200)
    assert pace.p50 == pytest.approx(40, rel=0.03)
    assert pace.p99 == pytest.approx(40, rel=0.03)
    assert pace.window == pytest.approx(60, rel=0.05)


def patience(world: World, of: Task) -> float:
    found = now_of(world, of)
    assert found.state is TaskState.RENDERING
    assert found.due_at is not None
    return (found.due_at - world.clock.now()).total_seconds()


def test_an_accepted_job_is_given_the_time_that_its_provider_takes(
    world: World, paid: Task, tmp_path: Path
) -> None:
    learnt(world, 200)
    learnt(world, 20, "kling")

    submitted(world, paid, tmp_path)

    assert patience(world, paid) == pytest.approx(300, rel=0.05)


@pytest.mark.parametrize("durations", [MemoryDurations(), Broken()], ids=["empty", "broken"])
def test_without_measurements_the_default_holds(
    world: World, paid: Task, tmp_path: Path, durations: MemoryDurations
) -> None:
    world.durations = durations

    submitted(world, paid, tmp_path)

    assert patience(world, paid) == world.kinds[KIND].limits.window_seconds


def test_a_job_that_still_runs_gets_another_measured_window(
    world: World, paid: Task, provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.observation = RUNNING
    learnt(world, 200)
    submitted(world, paid, tmp_path)

    world.clock.forward(minutes=6)
    sweep(world, world.clock.now() + timedelta(seconds=50))
    assert now_of(world, paid).state is TaskState.CHECKING
    asked(world, paid)

    assert patience(world, paid) == pytest.approx(300, rel=0.05)


def test_a_worker_of_our_own_keeps_its_lease_whatever_was_measured(
    world: World, ordered: Task
) -> None:
    learnt(world, 2000, ordered.provider)

    advance(world, ordered, Happening(event=Event.CLAIMED, lease="worker"))

    assert patience(world, ordered) == world.kinds[KIND].limits.lease_seconds
