"""What a model is: it is shown a video, asked one question over HTTPS, and paid for its answer.

Like any remote provider it is pure: it builds requests and reads replies. Showing may take
several requests, which cost nothing and can be repeated. Asking is exactly one, paid, and
answered in the same exchange: there is no job that could be asked for later. So an answer that
was lost on the way stays unknown, and the question is not asked again.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import Failure, NotSent, Rejected, Unknown
from functions.domain.providers import Called, Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class Diet:
    """How much of a video a model looks at. It is sent no more than that."""

    side_max: int  # pixels of the shorter side
    frames_per_second: float
    sound: bool  # whether it hears
    part_seconds: int  # a longer video is shown in parts, each a question of its own
    bytes_max: int  # of one part


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One part of a video as a model is to see it, with the place in our bucket where it lies."""

    data: bytes = field(repr=False)
    place: str  # such as s3://bucket/key
    seconds: float
    content_type: str = "video/mp4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A clip as the model can look at it. `name` is what it is removed by."""

    uri: str
    content_type: str = "video/mp4"
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The clip is not ready yet: the last request is made again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about a clip; the answer is JSON that fits the schema."""

    shown: Shown
    prompt: str = field(repr=False)
    schema: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a model says it counted. None: it does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A whole answer. What it says is not checked yet."""

    text: str = field(repr=False)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """The model took the question, may charge for it, and gave nothing that can be delivered."""

    failure: Failure
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was said in a clip is written down at this address."""

    url: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence, in seconds of the clip that it is said in."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that is said in a clip. `language` is BCP 47, where it is known."""

    language: str | None
    said: tuple[Said, ...]


Showing: TypeAlias = Shown | Rejected | NotSent
Listening: TypeAlias = Transcript | Rejected | NotSent
Asked: TypeAlias = Answered | Unusable | Rejected | NotSent | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Called, ABC):
    """A model over HTTPS. Its fields are its configuration, with defaults.

    `show` is given the replies to the requests that it asked for before. After a `Wait` the last
    of them is left out, so that it asks the same once more.
    """

    diet: Diet
    model: str  # the vendor's name for it
    action: str = ""  # what our own role must be allowed to do with it, where it takes no key
    listener: str = ""  # who writes down what is said, where the model does not hear
    answer_seconds: float = 240.0  # how long an answer is waited for
    input_price: str | None = None  # dollars per million tokens, for the result's own account
    output_price: str | None = None

    @abstractmethod
    def show(
        self, clip: Clip, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Wait | Shown | Rejected:
        """Bring a clip to where the model can look at it."""

    @abstractmethod
    def question(self, question: Question, secrets: Secrets) -> HttpRequest | Rejected:
        """Build the one request that is paid for."""

    @abstractmethod
    def answered(self, reply: HttpReply, now: datetime) -> Asked:
        """Read the answer. What is not clearly an answer or a refusal is Unknown."""

    def forget(self, shown: Shown, secrets: Secrets) -> HttpRequest | None:  # noqa: ARG002 - for those that keep what they are shown
        """Build the request that removes a clip again; None where nothing is kept."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener(Called, ABC):
    """A service that writes down what is said in a clip, beside a model that only sees.

    Its jobs have names of ours, and one name is one job: whatever is lost on the way, the same
    name is asked for again, and paid once. `listen` is given the replies so far.
    """

    actions: tuple[str, ...]  # what our own role must be allowed to do
    output_hosts: tuple[str, ...]  # where it writes to, with their subdomains
    minute_price: str | None = None  # dollars, for the result's own account

    @abstractmethod
    def listen(
        self, name: str, place: str, replies: Sequence[HttpReply]
    ) -> HttpRequest | Wait | Written | Rejected:
        """Have a clip that lies at a place listened to, under a name."""

    @abstractmethod
    def read(self, content: bytes) -> Transcript | None:
        """Read what was written down; None if it cannot be read."""


class ModelCalls(Protocol):
    """Models over HTTPS. Every ending is a value."""

    def show(self, model: Model, clip: Clip) -> Showing:
        """Bring a clip to where the model can look at it. That is free and can be repeated."""
        ...

    def ask(self, model: Model, question: Question) -> Asked:
        """Ask with exactly one request, which is paid, and wait for its answer."""
        ...

    def listen(self, listener: Listener, name: str, place: str) -> Listening:
        """Have what is said in a clip written down, once for each name, however often asked."""
        ...

    def forget(self, model: Model, shown: Shown) -> None:
        """Have the model's copy of a clip removed, as far as that goes."""
        ...
