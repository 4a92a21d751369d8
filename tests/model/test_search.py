"""Every state that the transition table can be brought into: none is wrong, and all can end."""

import pytest

from tests.model.machine import Mutant, Setting
from tests.model.search import dead_ends, search
from tests.model.settings import CALM, MUTANTS, SMALL, mutated


@pytest.mark.parametrize("name", SMALL)
def test_every_state_is_right_and_the_sweeper_alone_can_end_it(name: str) -> None:
    verdict = search(SMALL[name])

    assert verdict.wrong is None, f"{verdict.wrong} after {verdict.trail}"
    assert verdict.states > 10_000


@pytest.mark.parametrize("name", CALM)
def test_when_nothing_goes_wrong_no_sweeper_is_needed(name: str) -> None:
    verdict = dead_ends(CALM[name])

    assert verdict.wrong is None, f"stuck after {verdict.trail}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.value)
def test_a_mistake_is_caught(mutant: Mutant) -> None:
    setting = mutated(mutant)
    verdict = dead_ends(setting) if setting.calm else search(setting)

    assert verdict.wrong is not None


def test_a_calm_world_without_its_workflow_gets_stuck() -> None:
    """The check for dead ends can see one."""
    assert dead_ends(Setting(keys=1, workers=0, cancels=0, calm=True)).wrong == "stuck"
