"""Calls from providers: what arrives, and what it turns out to be."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from functions.domain.jobs import Observation

TOLERANCE_SECONDS: Final = 300  # clocks differ; a replay within it changes nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One call as it arrived: raw bytes, header names in lower case, the token of its path."""

    token: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def delivery(
    token: str, headers: Mapping[str, str], body: str | None, *, is_base64: bool
) -> Delivery | None:
    """Read a gateway's event, whose body may be encoded; None if that encoding is broken."""
    try:
        raw = base64.b64decode(body or "", validate=True) if is_base64 else (body or "").encode()
    except (binascii.Error, ValueError):
        return None
    lowered = {name.lower(): value for name, value in headers.items()}
    return Delivery(token=token, headers=lowered, body=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSignature:
    """Not from whom it claims to be. Answered with 401; nothing of it is kept but a count.

    `keys_may_be_old`: with a newer key set it might be good.
    """

    code: str
    keys_may_be_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverifiable:
    """The keys to check it cannot be had now. Answered with 503, so that it comes again."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """The provider asks whether we are there. Answered with 200 and this body, at once."""

    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """Authentic, and not understood. Kept as it came, alarmed, replayable after a fix."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Something happened to a job. A reason to ask the provider, never to move money.

    `delivery_id` is the same when the provider repeats the call; empty if it has none.
    """

    observation: Observation
    delivery_id: str = ""


Judgement: TypeAlias = BadSignature | Unverifiable | Challenge | Parked | Hint
