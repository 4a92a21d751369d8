"""What parallel test workers share: a folder each of them sees, and turns to build in it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def run_pid() -> int:
    """The process that lives as long as the whole run."""
    return os.getppid() if IS_WORKER else os.getpid()


@contextmanager
def shared_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """Open a folder of the run for one worker at a time; the first finds it empty."""
    base = factory.getbasetemp()
    folder = (base.parent if IS_WORKER else base) / name
    folder.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
