"""A whole local stack of these tests' own: started on a free port, deployed, stopped."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from local import emulator, stack
from local.instance import Instance
from local.stack import Stack


@pytest.fixture(scope="session")
def local_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One deployment per test process. It ends with this process, however that ends."""
    instance = Instance(folder=tmp_path_factory.mktemp("stack"), port=0)
    try:
        yield stack.up(instance, guardian=os.getpid())
    finally:
        emulator.stop(instance)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all tests on one worker: starting a second stack costs more than it saves."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("e2e"))
