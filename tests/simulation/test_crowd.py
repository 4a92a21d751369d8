"""Sixteen clients at once: what was acknowledged exists, once per key, and credits add up."""

import pytest

from local.instance import Emulator
from tests.doubles.world import World
from tests.simulation import crowd, crowd_emulated


@pytest.mark.parametrize("seed", [1, 1000, 2000])
def test_acknowledged_orders_exist_once_and_balances_are_exact(seed: int) -> None:
    world = World(store=crowd.RoughStore(seed))

    told = crowd.gathered(world, seed)

    assert crowd.wrongs(told, world.store, world.auditing) == []
    made = {key for one in told for key in one.ids}
    asked = sum(one.refused for one in told) + len(made)
    assert 0 < asked <= crowd.CLIENTS * crowd.ORDERS_EACH


@pytest.mark.emulator
def test_so_they_do_on_the_real_adapters_over_the_emulator(bare_emulator: Emulator) -> None:
    found, trouble = crowd_emulated.let_loose(bare_emulator, 1)

    assert found == []
    assert trouble.conflicts
    assert trouble.lost
