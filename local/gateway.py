"""Serves the emulator. Runs in the emulator's own environment, as a script.

It differs from starting ministack itself in four things:

- Requests count as if they had come over TLS, as all do on AWS: the template's policies deny
  those that did not, and a certificate would have to be trusted by every client here.
- Schedules are looked at each second, not each ten, so `rate(1 minute)` is a minute.
- Processes of functions share what is unpacked for them, and with it Python's compiled files:
  each would unpack and compile the same hundred megabytes for itself.
- With a second argument it ends when that process does, so that a killed test run leaves
  nothing behind.
"""

import asyncio
import hashlib
import importlib
import os
import signal
import sys
import tempfile
import threading
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Scope = dict[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

WATCH_SECONDS = 1.0


def as_if_over_tls(app: App) -> App:
    """Mark plain requests from this machine as secure."""

    async def secured(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "scheme": "https"}
        await app(scope, receive, send)

    return secured


class SharedArchive(zipfile.ZipFile):
    """Unpacks each content once, and then only points to it."""

    _one_at_a_time = threading.Lock()

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:
        """Put a link in the place of the folder, and remove the archive, which is a copy."""
        if members or pwd or path is None or not self.filename or any(Path(path).iterdir()):
            super().extractall(path, members, pwd)
            return
        listed = [(one.filename, one.CRC, one.file_size) for one in self.infolist()]
        name = hashlib.sha256(repr(listed).encode()).hexdigest()[:32]
        shared = Path(tempfile.gettempdir(), "unpacked", name)
        with self._one_at_a_time:
            if not shared.is_dir():
                partial = shared.with_suffix(".partial")
                super().extractall(partial)
                partial.rename(shared)
        Path(path).rmdir()
        Path(path).symlink_to(shared, target_is_directory=True)
        Path(self.filename).unlink()


async def serve(port: int, guardian: int | None) -> None:
    """Serve until told to stop, or until the guardian is gone."""
    ministack: Any = importlib.import_module("ministack.app")
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    scheduler: Any = importlib.import_module("ministack.services.scheduler")
    hypercorn: Any = importlib.import_module("hypercorn.asyncio")
    settings: Any = importlib.import_module("hypercorn.config").Config()
    scheduler._SCHEDULE_TICK_INTERVAL = 1  # noqa: SLF001 - it has no setting
    runtime.zipfile = SimpleNamespace(**(vars(zipfile) | {"ZipFile": SharedArchive}))
    settings.bind = [f"127.0.0.1:{port}"]
    settings.keep_alive_timeout = 75
    settings.graceful_timeout = 1
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop.set)
    watch = asyncio.create_task(_watch(guardian, stop)) if guardian else None
    await hypercorn.serve(as_if_over_tls(ministack.app), settings, shutdown_trigger=stop.wait)
    if watch:
        watch.cancel()


async def _watch(guardian: int, stop: asyncio.Event) -> None:
    while _lives(guardian):  # noqa: ASYNC110 - a process that is no child sends no event
        await asyncio.sleep(WATCH_SECONDS)
    stop.set()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    """`gateway.py PORT [GUARDIAN]`."""
    port, *guardian = (int(word) for word in sys.argv[1:3])
    try:
        asyncio.run(serve(port, guardian[0] if guardian else None))
    finally:
        # Functions run as children in this group; none may outlive the emulator.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    main()
