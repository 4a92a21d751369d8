"""What a model's stand-in says about one clip, and what goes wrong with it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from local.fakes.script import Lost

BEYOND_SECONDS = 60.0
SHOTS = re.compile(r"^SHOTS: *(\[.*\]) *$", re.MULTILINE)
SECONDS = re.compile(r"^SECONDS: *([0-9.]+) *$", re.MULTILINE)
DEAF = "spoken is false"  # a question that says so gets no transcript


class Says(StrEnum):
    """What an answer is like, in our words; each vendor has its own for some."""

    GOOD = "good"
    BLOCKED = "blocked"  # the question is refused, before anything is said
    STOPPED = "stopped"  # by the vendor's own word for it
    TRUNCATED = "truncated"  # half an answer, and it is said to be half
    BROKEN = "broken"  # half an answer, and it is said to be whole
    ASTRAY = "astray"  # times that the clip does not have
    GAPS = "gaps"  # not every shot
    EMPTY = "empty"


class ClipEnd(StrEnum):
    """What becomes of a clip that is shown."""

    READY = "ready"
    STUCK = "stuck"  # for ever in preparation
    FAILED = "failed"
    DROPPED = "dropped"  # the connection breaks while it is sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """The course of one clip and the question about it."""

    says: Says = Says.GOOD
    stop: str = ""  # the vendor's word, with STOPPED
    refuse: int = 0  # the HTTP status of an error of the vendor's own
    error: str = ""  # the vendor's name for it, where it is not the usual one
    edge: int = 0  # the HTTP status of a page by something in front of the vendor
    retry_after_seconds: int = 0
    lost: Lost = Lost.NOWHERE
    seconds: float = 0.0  # of real time until it answers
    clip: ClipEnd = ClipEnd.READY
    looks: int = 0  # so often it is not ready yet

    @property
    def billed(self) -> bool:
        """Whether what it says is paid for."""
        return self.says is not Says.BLOCKED


_WORDS: dict[str, type[StrEnum]] = {"says": Says, "lost": Lost, "clip": ClipEnd}


def saying_of(given: Mapping[str, Any]) -> Saying:
    """Read a script from JSON; what is not in it stays at its default."""
    unknown = sorted(set(given) - {one.name for one in fields(Saying)})
    if unknown:
        raise ValueError(f"a saying has no {', '.join(unknown)}")
    read: dict[str, Any] = {k: _WORDS[k](v) if k in _WORDS else v for k, v in given.items()}
    return Saying(**read)


def said(saying: Saying, prompt: str, schema: Mapping[str, Any], *, hears: bool) -> str:
    """Word an answer from what the question tells of the clip."""
    shots, seconds = _told(prompt)
    heard = shots if hears and DEAF not in prompt else []
    if saying.says is Says.EMPTY:
        return ""
    if saying.says is Says.ASTRAY:
        seconds += BEYOND_SECONDS
    if saying.says is Says.GAPS:
        shots = shots[:-1]
    whole = {
        "language": "en" if heard else None,
        "spoken": bool(heard),
        "transcript": [
            {"start": shot["start"], "end": shot["end"], "text": f"Words about {shot['number']}."}
            for shot in heard
        ],
        "shots": [
            {
                "number": shot["number"],
                "description": f"What is seen in shot {shot['number']}.",
                "on_screen_text": f"TITLE {shot['number']}" if shot["number"] % 2 else None,
            }
            for shot in shots
        ],
        "selling_points": [
            {"text": "It is shown from close by.", "evidence": [{"start": 0.0, "end": seconds}]}
        ],
        "summary": f"A video of {seconds:g} seconds in {len(shots)} shots.",
    }
    wanted = schema.get("properties", whole)
    text = json.dumps({name: value for name, value in whole.items() if name in wanted})
    return text[: len(text) // 2] if saying.says in (Says.TRUNCATED, Says.BROKEN) else text


def _told(prompt: str) -> tuple[list[dict[str, Any]], float]:
    shots, seconds = SHOTS.search(prompt), SECONDS.search(prompt)
    return json.loads(shots[1]) if shots else [], float(seconds[1]) if seconds else 0.0
