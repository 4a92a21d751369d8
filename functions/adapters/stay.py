"""How long a worker is going to be there: until it is told to end, and a grace time more."""

import json
import logging
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

logger = logging.getLogger(__name__)

AGENT_SECONDS = 5.0  # the agent is on this very host
PROTECTED_MINUTES = 240  # as long as any work may take


class SignalledStay:
    """Provides `Stay` by SIGTERM. Idle, the process ends at once; at work, it has its grace time.

    `over` builds what is raised in the main thread, wherever it is, when that time has passed.
    """

    def __init__(
        self,
        *,
        grace_seconds: float,
        over: Callable[[], BaseException],
        agent: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._grace_seconds = grace_seconds
        self._over = over
        self._agent = agent
        self._clock = clock
        self._until: float | None = None
        self._busy = False

    def heed(self) -> None:
        """Take notice of signals from now on."""
        signal.signal(signal.SIGTERM, self._told)
        signal.signal(signal.SIGINT, self._told)
        signal.signal(signal.SIGALRM, self._alarmed)

    def seconds_left(self) -> float | None:
        return None if self._until is None else self._until - self._clock()

    @contextmanager
    def protected(self) -> Iterator[None]:
        self._busy = True
        self._protect(on=True)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._busy = False
            self._protect(on=False)

    def _told(self, number: int, _frame: object) -> None:
        logger.info("told to end", extra={"signal": number, "busy": self._busy})
        if self._until is None:
            self._until = self._clock() + self._grace_seconds
            if self._busy:
                signal.setitimer(signal.ITIMER_REAL, max(self._grace_seconds, 0.001))
        if not self._busy:
            raise SystemExit(0)

    def _alarmed(self, _number: int, _frame: object) -> NoReturn:
        raise self._over()

    def _protect(self, *, on: bool) -> None:
        """Ask the agent of the container service. Without its yes, work goes on all the same."""
        if self._agent is None:
            return
        wanted: dict[str, bool | int] = {"ProtectionEnabled": on}
        if on:
            wanted["ExpiresInMinutes"] = PROTECTED_MINUTES
        request = urllib.request.Request(  # noqa: S310 - the agent's own address
            f"{self._agent}/task-protection/v1/state",
            data=json.dumps(wanted).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        try:
            with urllib.request.urlopen(request, timeout=AGENT_SECONDS):  # noqa: S310
                pass
        except OSError as error:
            logger.warning("not protected", extra={"cause": type(error).__name__, "on": on})
