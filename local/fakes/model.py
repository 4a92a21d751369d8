"""What stand-ins for models share: questions answered at once, and the bill for the answers."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from local.fakes.saying import Saying, said, saying_of
from local.fakes.script import Lost
from local.fakes.vendor import Answer, HangUp, Played, Request

TOKENS_A_SECOND = 300
CHARACTERS_A_TOKEN = 4
HEARD_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as it was understood."""

    prompt: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a model says, before it is worded as its vendor does."""

    saying: Saying
    text: str
    read: int  # tokens
    written: int


class ModelVendor(Played):
    """One vendor's wire. Subclasses take clips and questions, and word answers and errors."""

    kind = "video_analysis"
    hears: ClassVar[bool]

    def __init__(
        self, saying: Saying | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock)
        self.saying = saying or Saying()
        self.sayings: list[Saying] = []
        self.asks = 0
        self.made = 0
        self.billed = 0
        self.looks = 0
        self.heard: list[Request] = []

    @classmethod
    def prepared(cls, clip: bytes, seconds: float) -> Self:  # noqa: ARG003 - it delivers no clip
        """Make one whose answers take so long."""
        return cls(Saying(seconds=seconds))

    def told(self, given: Mapping[str, Any]) -> int:
        """Take scripts for the next clips, or for all that have none of their own."""
        self.sayings += [saying_of(one) for one in given.get("next", [])]
        if "default" in given:
            self.saying = saying_of(given["default"])
        return len(self.sayings)

    def bill(self) -> dict[str, int]:
        """Count questions, answers that were made, those to be paid, and looks at clips."""
        return {
            "submits": self.asks,
            "accepted": self.made,
            "billed": self.billed,
            "questions": self.looks,
        }

    def answer(self, request: Request) -> Answer:
        """Remember what was asked, and answer."""
        self.heard = [*self.heard[-HEARD_MAX:], request]
        return self.answered(request)

    @abstractmethod
    def answered(self, request: Request) -> Answer:
        """Answer a request as the vendor does."""

    @abstractmethod
    def error(self, status: int, name: str) -> Answer:
        """Word an error; without a name it is the usual one of its status."""

    @abstractmethod
    def worded(self, told: Told) -> Answer:
        """Word what the model says."""

    def refusal(self, status: int) -> Answer:
        """Word an error as the vendor does."""
        return self.error(status, "")

    def next_saying(self) -> Saying:
        """Take the script of the next clip."""
        return self.sayings.pop(0) if self.sayings else self.saying

    def reply(self, asked: Asked, saying: Saying) -> Answer:
        """Play one question, which is paid for once there is an answer, heard or not."""
        self.asks += 1
        if saying.refuse:
            wait = saying.retry_after_seconds
            headers = {"retry-after": str(wait)} if wait else {}
            error = self.error(saying.refuse, saying.error)
            return replace(error, headers={**error.headers, **headers})
        if saying.lost is Lost.BEFORE:
            raise HangUp
        if not saying.edge or saying.lost is Lost.AFTER:
            self.made += 1
            self.billed += saying.billed
        if saying.edge:
            page = b"<html><h1>Bad Gateway</h1></html>"
            return Answer(status=saying.edge, raw=page, headers={"content-type": "text/html"})
        if saying.lost is Lost.AFTER:
            raise HangUp
        text = said(saying, asked.prompt, asked.schema, hears=self.hears)
        told = Told(
            saying=saying,
            text=text,
            read=TOKENS_A_SECOND + len(asked.prompt) // CHARACTERS_A_TOKEN,
            written=len(text) // CHARACTERS_A_TOKEN,
        )
        return replace(self.worded(told), after_seconds=saying.seconds)
