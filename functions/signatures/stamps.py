"""Whether a signed time stamp is of now."""

import re
from datetime import datetime
from typing import Final

from functions.domain.hooks import TOLERANCE_SECONDS

_SECONDS: Final = re.compile(r"[1-9][0-9]{0,11}")


def seconds_of(stamp: str) -> int | None:
    """Read seconds since 1970 in their one canonical spelling, since the spelling is signed."""
    return int(stamp) if _SECONDS.fullmatch(stamp) else None


def is_current(seconds: int, now: datetime) -> bool:
    """Whether a stamp lies within the tolerance, which forgives clocks and limits replays."""
    return abs(now.timestamp() - seconds) <= TOLERANCE_SECONDS
