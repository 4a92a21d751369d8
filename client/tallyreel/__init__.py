"""Client of the Tallyreel API."""

from tallyreel.aio import AsyncClient
from tallyreel.client import Client
from tallyreel.errors import (
    AccountFull,
    Busy,
    Damaged,
    Expired,
    Forbidden,
    InvalidInput,
    KeyReused,
    NoCredit,
    NoResult,
    NotFound,
    NotSignedIn,
    Problem,
    Purged,
    SourceRefused,
    StateConflict,
    TallyreelError,
    TaskEnded,
    Unreachable,
)
from tallyreel.login import Login
from tallyreel.models import Balance, Entry, Page, Quote, Result, Task

__all__ = [
    "AccountFull",
    "AsyncClient",
    "Balance",
    "Busy",
    "Client",
    "Damaged",
    "Entry",
    "Expired",
    "Forbidden",
    "InvalidInput",
    "KeyReused",
    "Login",
    "NoCredit",
    "NoResult",
    "NotFound",
    "NotSignedIn",
    "Page",
    "Problem",
    "Purged",
    "Quote",
    "Result",
    "SourceRefused",
    "StateConflict",
    "TallyreelError",
    "Task",
    "TaskEnded",
    "Unreachable",
]
