"""Names of tasks, and the messages about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from functions.domain.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRef:
    """A task's name. The account is part of it: that is the isolation."""

    account: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """The message that asks for one attempt."""

    account: str
    id: str
    kind: str
    attempt: int
    lane: str  # the queue
    lease: str | None = None  # from a call's token: it must fit
    hint: str | None = None  # a job's name, from a call that was proved to be its provider's


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """Everything that the creation transaction writes."""

    task: Task
    input: Mapping[str, Any]
    key_hash: str  # of the idempotency key
    fingerprint: str  # of the request
    open_max: int
    keep_until: datetime  # how long the key is remembered
    input_until: datetime  # how long the input is, longer than any task of it
