"""A lease renewed from its own thread while work goes on."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from functions.domain.errors import TallyreelError

logger = logging.getLogger(__name__)


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
