"""What a kind of task is, and what it promises the customer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from functions.domain.deadlines import Limits
from functions.domain.media import MediaHead
from functions.domain.outcomes import Refused


class Runs(StrEnum):
    """Where a kind's work is done."""

    FUNCTION = "function"  # up to 15 minutes, on a queue of its own
    WORKER = "worker"  # a container that polls the kind's queue


class Review(StrEnum):
    """What happens to a result that the inspection doubts, but cannot reject."""

    DELIVER = "deliver"  # settled, with a notice that says what the doubt is
    HOLD = "hold"  # an operator says, within a deadline; silence gives the credits back
    REJECT = "reject"  # another attempt while attempts last


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with an input. `pointer` is a JSON pointer into the request."""

    pointer: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidInput:
    """The input does not fit the kind's model."""

    faults: tuple[Fault, ...]


def invalid(errors: Iterable[Mapping[str, Any]], under: str = "") -> InvalidInput:
    """Name what a model's validation found, each under its JSON pointer."""
    return InvalidInput(
        faults=tuple(
            Fault(
                pointer="/".join([under, *(str(part) for part in error["loc"])]),
                code=str(error["type"]).replace("_", "-"),
                detail=str(error["msg"]),
            )
            for error in errors
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What was ordered, as far as the delivered file can be held to it."""

    seconds: float
    width: int | None = None
    height: int | None = None
    sound: bool = False
    still_allowed: bool = False  # a picture that hardly moves can be what was ordered
    held_allowed: bool = False  # long stretches without any change can be


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A validated input of one kind, in plain values."""

    input: Mapping[str, Any]
    source: str  # upload id of the source
    units: int  # what is paid for: seconds, or minutes
    unit_price: int  # whole credits, unless the deployment has a price of its own
    promise: Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What a customer may upload as this kind's source."""

    content_types: tuple[str, ...]
    bytes_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One file in `functions/kinds/` declares one of these as `KIND`."""

    name: str
    title: str
    runs: Runs
    timeout_seconds: int
    providers: tuple[str, ...]  # the first is the default
    upload: Upload
    order: Callable[[Mapping[str, Any]], Order | InvalidInput]
    schema: Callable[[], dict[str, Any]]  # JSON schema of the input
    price: str  # how it is priced, as a sentence
    examine: Callable[[MediaHead], Refused | None]  # the cheap look before credits are held
    review: Review = Review.DELIVER
    limits: Limits = field(default_factory=Limits)
