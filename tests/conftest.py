"""What every test may count on: no traffic but to this machine, and one bare emulator if asked."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from local import emulator, tools
from local.instance import Emulator, Instance

_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def _only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def bare_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An emulator with nothing deployed. It ends with this process, however that ends."""
    instance = Instance(folder=tmp_path_factory.mktemp("emulator"), port=0)
    instance.folder.mkdir(exist_ok=True)
    try:
        yield emulator.start(instance, tools.emulator_python(), guardian=os.getpid())
    finally:
        emulator.stop(instance)
