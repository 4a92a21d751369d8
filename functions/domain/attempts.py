"""Attempts at a provider that is paid: written down before anything is sent.

An attempt without an outcome is possible spend, and is shown to operators as that.
"""

import hmac
import re
from dataclasses import dataclass
from datetime import datetime

from functions.domain.tasks import Task

_TOKEN = re.compile(r"([A-Za-z0-9_-]{1,64})\.([0-9A-HJKMNP-TV-Z]{26})\.(\d{1,4})\.([0-9a-f]{32})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What is known of one submit. `charged` is None where the provider does not say."""

    cycle: int
    number: int
    provider: str
    at: datetime
    units: int
    outcome: str | None = None
    job: str | None = None
    charged: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookToken:
    """What an attempt's token names. The lease is what makes it unguessable."""

    account: str
    id: str
    attempt: int
    lease: str

    def fits(self, task: Task) -> bool:
        """Whether it is of this very attempt."""
        same = hmac.compare_digest(self.lease, task.lease or "")
        return same and self.attempt == task.attempt


def token_of(task: Task) -> str:
    """Write the token of a task's current attempt."""
    return f"{task.account}.{task.id}.{task.attempt}.{task.lease}"


def parsed_token(text: str) -> HookToken | None:
    """Read a token; None if it is none of ours."""
    found = _TOKEN.fullmatch(text)
    if found is None:
        return None
    account, task, attempt, lease = found.groups()
    return HookToken(account=account, id=task, attempt=int(attempt), lease=lease)
