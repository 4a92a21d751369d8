"""When a failed attempt is tried again: a pure decision."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff, half of it random so that a crowd of retries spreads out."""

    first_seconds: float = 4.0
    growth: float = 4.0
    seconds_max: float = 1800.0

    def delay(self, attempt: int, jitter: float) -> timedelta:
        """Wait between the end of `attempt` (from 1) and the next. `jitter` is in [0, 1)."""
        exponent = min(max(attempt - 1, 0), 16)  # keeps absurd counts finite
        full = min(self.first_seconds * self.growth**exponent, self.seconds_max)
        return timedelta(seconds=full / 2 + full / 2 * jitter)
