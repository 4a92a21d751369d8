"""Published public keys, kept for at most a day."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, Protocol

from functions.domain.ports import Clock

KEEP: Final = timedelta(hours=24)
RENEW_AFTER: Final = timedelta(minutes=5)  # so often may a signature that fits no key make us ask
RETRY_AFTER: Final = timedelta(seconds=10)  # after a question that failed


class Load(Protocol):
    """Fetches a key set."""

    def __call__(self, url: str) -> bytes | None:
        """Ask once; None if there was no good answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    keys: bytes | None
    at: datetime


class KeySets:
    """Key sets by address. Where one cannot be had, the answer is None, never an old one."""

    def __init__(self, load: Load, clock: Clock) -> None:
        self._load = load
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()

    def current(self, url: str) -> bytes | None:
        """Get a key set, from memory where that will do."""
        return self._get(url, at_least=None)

    def renewed(self, url: str) -> bytes | None:
        """Get it anew because a signature fits no key; None if that was asked for just now."""
        return self._get(url, at_least=RENEW_AFTER)

    def _get(self, url: str, at_least: timedelta | None) -> bytes | None:
        now = self._clock.now()
        with self._lock:
            kept = self._kept.get(url)
            if kept:
                age = now - kept.at
                if at_least is not None and age < at_least:
                    return None
                if at_least is None and age < (KEEP if kept.keys else RETRY_AFTER):
                    return kept.keys
            keys = self._load(url)
            self._kept[url] = _Kept(keys=keys, at=now)
            return keys
