"""What a kind of task is, and what it promises the customer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from functions.domain.deadlines import Limits
from functions.domain.media import MediaHead
from functions.domain.models import Answered, Listener, Model, Transcript
from functions.domain.outcomes import Failed, Refused
from functions.domain.verdicts import Verdict

ReadAt: TypeAlias = Callable[[int, int], bytes]  # so many bytes of a source, from an offset


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
    source: str  # upload id of the source, unless it has a url
    url: str = ""
    units: int  # what is paid for: seconds, or minutes
    unit_price: int  # whole credits, unless the deployment has a price of its own
    promise: Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What a customer may upload as this kind's source."""

    content_types: tuple[str, ...]
    bytes_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What a kind delivers: one file, and so many of these pictures beside it."""

    content_type: str = "video/mp4"
    extension: str = "mp4"
    pictures: tuple[str, ...] = ("poster.jpg", "strip.jpg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a kind's models are asked about a video, and what is made of their answers.

    `viewing` is what the viewer wrote: measured facts of the video, and its parts.
    """

    viewer: str  # the built-in provider that looks at the video first, whoever is asked then
    question: Callable[[Mapping[str, Any], int, Mapping[str, Any]], str]  # viewing, part, order
    schema: Callable[[], dict[str, Any]]  # of an answer
    doubt: Callable[[str, Mapping[str, Any], int], Failed | None]  # answer, viewing, part
    heard: Callable[[str, Transcript], str]  # an answer with what somebody else heard
    result: Callable[
        [Mapping[str, Any], Sequence[Answered], Mapping[str, Any], Model | None, Listener | None],
        bytes,
    ]  # viewing, one good answer for each part, order, who was asked, who listened


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
    # Where the price depends on the source: the order with what its source comes to.
    sized: Callable[[Order, MediaHead, ReadAt], Order | Refused] | None = None
    makes: Format = field(default_factory=Format)
    asking: Asking | None = None  # for kinds that may ask a model
    judge: Callable[[Path, Promise], Verdict] | None = None  # of results that are no film
    review: Review = Review.DELIVER
    limits: Limits = field(default_factory=Limits)
