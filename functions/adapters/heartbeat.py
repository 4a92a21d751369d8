"""Threads beside the work: one that renews its lease, and one that waits in its place."""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from typing import TypeVar

from functions.domain.errors import TallyreelError

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
T = TypeVar("T")


@contextmanager
def thread_heartbeat(beat: Callable[[], bool], seconds: float) -> Iterator[None]:
    """Provide `Heartbeat`. A beat that fails is tried again at the next; a lost lease ends it."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(seconds):
            try:
                if not beat():
                    return
            except TallyreelError as error:
                logger.warning("heartbeat missed", extra={"cause": type(error).__name__})

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def attended(work: Callable[[], T], look: Callable[[], None]) -> T:
    """Provide `Attended`. What is left behind ends with its own time, or with the process."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=run, name="attended", daemon=True).start()
    while True:
        try:
            return done.result(LOOK_SECONDS)
        except NotYet:
            if done.done():
                raise  # the work's own
            look()
