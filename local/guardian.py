"""Helpers that serve a run of tests end with it, however it ends."""

import os
import signal
import threading
import time

WATCH_SECONDS = 1.0


def end_with(pid: int) -> None:
    """Have this process told to stop when that one is gone."""
    threading.Thread(target=_watch, args=(pid,), daemon=True).start()


def _watch(pid: int) -> None:
    while _lives(pid):
        time.sleep(WATCH_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
