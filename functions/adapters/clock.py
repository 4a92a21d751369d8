"""Time and randomness from the machine."""

import secrets
from datetime import UTC, datetime

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_ULID_CHARACTERS = 26
_CHARACTER_BITS = 5


class SystemClock:
    """Provides `Clock`."""

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


class SystemIds:
    """Provides `Ids`. A ULID is 48 bits of milliseconds and 80 random bits."""

    def ulid(self, now: datetime) -> str:
        milliseconds = int(now.timestamp() * 1000)
        number = milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        shifts = range((_ULID_CHARACTERS - 1) * _CHARACTER_BITS, -1, -_CHARACTER_BITS)
        return "".join(_CROCKFORD[number >> shift & 31] for shift in shifts)

    def lease(self) -> str:
        return secrets.token_hex(16)

    def jitter(self) -> float:
        return secrets.randbelow(1 << 24) / (1 << 24)
