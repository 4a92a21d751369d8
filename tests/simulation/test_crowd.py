"""Sixteen clients at once: what was acknowledged exists, once per key, and credits add up."""

import pytest

from functions.domain.media import source_key
from functions.domain.tickets import TaskRef
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO
from tests.simulation.crowd import (
    ACCOUNTS,
    CLIENTS,
    GRANTED,
    ORDERS_EACH,
    PHOTOS,
    RoughStore,
    granted,
    hammered,
)
from tests.simulation.invariants import violations


@pytest.mark.parametrize("seed", [1, 1000, 2000])
def test_acknowledged_orders_exist_once_and_balances_are_exact(seed: int) -> None:
    world = World(store=RoughStore(seed))
    for account in ACCOUNTS:
        for number in range(PHOTOS):
            photo = (PHOTO + bytes([number]), "image/png")
            world.media.files[source_key(account, ulid(1 + number))] = photo
    granted(world)

    told = hammered(world, seed)

    ids: dict[tuple[str, str], set[str]] = {}
    for one in told:
        for key, tasks in one.ids.items():
            ids.setdefault(key, set()).update(tasks)
    assert all(len(tasks) == 1 for tasks in ids.values())
    assert len({task for tasks in ids.values() for task in tasks}) == len(ids)
    for (account, _), (task,) in ids.items():
        assert world.store.get(TaskRef(account=account, id=task)) is not None
    for account in ACCOUNTS:
        assert violations(world.auditing.books(account), [], ended=False) == []
        assert world.store.balance(account).granted == GRANTED
    asked = sum(one.refused for one in told) + len(ids)
    assert 0 < asked <= CLIENTS * ORDERS_EACH
