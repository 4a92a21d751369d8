"""Ways in which a story may end, and that it did."""

from functions.domain.credits import Balance
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.pipeline.sweep import sweep
from tests.simulation.faults import ProcessDied
from tests.simulation.story import ACCOUNT, Story

PAID = Balance(available=12, spent=8)
FREE = Balance(available=20)


def ended(story: Story, how: TaskState, balance: Balance) -> Task:
    """Let it end; the invariants hold then."""
    story.recover()
    story.settle_down()
    assert story.wrongs(frozenset({how})) == []
    assert story.town.ports.store.balance(ACCOUNT) == balance
    return story.task()


def delivered(story: Story) -> Task:
    """Let it end: delivered, and charged once."""
    return ended(story, TaskState.DELIVERED, PAID)


def power_cut() -> None:
    """Take a worker away in the middle of its work."""
    raise ProcessDied


def swept(story: Story, seconds: float) -> None:
    """Let time pass and one sweep run, wherever the story stands."""
    story.town.ports.at.forward(seconds=seconds)
    sweep(story.town.ports, story.town.ports.at.at.replace(year=2099))
