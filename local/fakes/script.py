"""What a stand-in does with one job."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class Lost(StrEnum):
    """Where the connection of a submit breaks."""

    NOWHERE = "nowhere"
    BEFORE = "before"  # no job was made
    AFTER = "after"  # the job was made, and its answer is lost


class Hooks(StrEnum):
    """What becomes of the calls about a job."""

    ONCE = "once"
    NEVER = "never"
    TWICE = "twice"
    EARLY = "early"  # before the submit is answered
    REVERSED = "reversed"  # the end first, the beginning after it


class Forgery(StrEnum):
    """What is wrong with the signature of a call."""

    NONE = "none"
    FLIPPED = "flipped"  # one bit of the body
    STALE = "stale"
    FUTURE = "future"
    FOREIGN = "foreign"  # signed well, for somebody else


class End(StrEnum):
    """How a job ends, in our words; each vendor has its own for them."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    FILTERED = "filtered"  # refused for its content
    BAD_INPUT = "bad-input"
    CANCELED = "canceled"
    EMPTY = "empty"  # a success with nothing to show
    ODD_WORD = "odd-word"  # a status that nobody has heard of
    ODD_SHAPE = "odd-shape"  # a success whose file is where nobody looks
    STUCK = "stuck"  # works for ever


class File(StrEnum):
    """What is found under the address of a finished film."""

    WHOLE = "whole"
    TRUNCATED = "truncated"  # the connection breaks
    DAMAGED = "damaged"  # half a film, sent as if it were a whole one
    GONE = "gone"
    BUSY = "busy"
    MOVED = "moved"  # by one redirect
    ASTRAY = "astray"  # by a redirect into the network that it runs in


# A render that fails or is refused is not billed; whatever else was accepted is.
FREE = frozenset({End.FAILED, End.FILTERED, End.BAD_INPUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One job's course. Times are seconds of the stand-in's own clock, which can be advanced."""

    queue_seconds: float = 0.0
    run_seconds: float = 0.0
    refuse: int = 0  # the HTTP status of a submit that makes no job
    retry_after_seconds: int = 0
    lost: Lost = Lost.NOWHERE
    hooks: Hooks = Hooks.ONCE
    hook_delay_seconds: float = 0.0
    thin: bool = False  # calls that carry no output
    forgery: Forgery = Forgery.NONE
    end: End = End.SUCCEEDED
    file: File = File.WHOLE
    queries: tuple[int, ...] = ()  # statuses that the first questions about it get
    unlisted: int = 0  # so many pages of listings do not know it yet

    @property
    def billed(self) -> bool:
        """Whether its render is paid for."""
        return self.end not in FREE


_WORDS: dict[str, type[StrEnum]] = {
    "lost": Lost,
    "hooks": Hooks,
    "forgery": Forgery,
    "end": End,
    "file": File,
}


def script_of(given: Mapping[str, Any]) -> Script:
    """Read a script from JSON; what is not in it stays at its default."""
    known = {one.name for one in fields(Script)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"a script has no {', '.join(unknown)}")
    read: dict[str, Any] = dict(given)
    for name, kind in _WORDS.items():
        if name in read:
            read[name] = kind(read[name])
    if "queries" in read:
        read["queries"] = tuple(read["queries"])
    return Script(**read)
