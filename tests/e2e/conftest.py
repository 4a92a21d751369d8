"""A whole local stack of these tests' own: started on a free port, deployed, stopped."""

import os
from collections.abc import Iterator

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
