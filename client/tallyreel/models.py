"""Answers as plain typed dictionaries, the way the API sends them."""

from typing import Any, NotRequired, TypedDict


class Step(TypedDict):
    """One line of a task's history."""

    state: str
    at: str
    attempt: int
    reason: str


class Charge(TypedDict):
    """What happened to the credits: held, settled or released."""

    amount: int
    state: str


class Result(TypedDict):
    """A delivered file. `url` is short-lived, and null once the file has expired."""

    url: str | None
    content_type: str
    bytes: int
    sha256: str
    seconds: float
    width: int
    height: int
    codec: str
    expires_at: str | None
    notice: str | None
    thumbnails: list[str]
    checks: list[dict[str, str]]


class Failure(TypedDict):
    """Why a task ended without a result."""

    code: str
    reason: str


class Task(TypedDict):
    """A task. When `done`, exactly one of `result` and `error` is there."""

    id: str
    kind: str
    state: str
    done: bool
    message: str
    attempt: int
    created_at: str
    credits: Charge
    timeline: list[Step]
    result: Result | None
    error: Failure | None
    order_again: dict[str, Any] | None


class Page(TypedDict):
    """Tasks, newest first; `cursor` leads to older ones."""

    tasks: list[Task]
    cursor: str | None


class Balance(TypedDict):
    """Whole credits."""

    available: int
    held: int
    spent: int


class Quote(TypedDict):
    """What an order would hold."""

    price: int
    unit_price: int
    units: int


class Entry(TypedDict):
    """One line of the ledger."""

    id: str
    kind: str
    amount: int
    at: str
    task: NotRequired[str | None]
    note: NotRequired[str | None]
