"""A whole local stack of this test run's own: started on a free port, deployed, stopped."""

from collections.abc import Iterator

import pytest

from local import emulator, stack
from local.instance import Instance
from local.stack import Stack
from tests.workers import IS_WORKER, run_pid, shared_folder


@pytest.fixture(scope="session")
def local_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One deployment for all workers. It ends with the run, however that ends."""
    with shared_folder(tmp_path_factory, "stack") as folder:
        instance = Instance(folder=folder, port=0)
        up_already = emulator.running(instance) is not None
        found = stack.running(instance) if up_already else stack.up(instance, guardian=run_pid())
    yield found
    if not IS_WORKER:
        emulator.stop(instance)
