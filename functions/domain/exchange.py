"""Requests and replies as values, and careful reading of what strangers send."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Final
from urllib.parse import urlsplit

TEXT_CHARACTERS_MAX = 200
URL_CHARACTERS_MAX = 4096
RETRY_AFTER_SECONDS_MAX = 24 * 3600  # beyond that a header is a mistake, not advice

_ID: Final = re.compile(r"[A-Za-z0-9._:=-]{1,200}")
_URL: Final = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_WHOLE: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, complete. It hides what it carries: keys, tokens and signed links are in it."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    signed_for: str = ""  # an AWS service that wants our own role's signature
    signed_in: str = ""  # its region, put for `{region}` in the address; none named: our own


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """One answer, read to its end. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return self.status // 100 == 2  # noqa: PLR2004 - the class of an HTTP status

    def json(self) -> Any:
        """Parse the body; None where it is not JSON, which no provider sends as an answer."""
        return parsed(self.body)


def parsed(body: bytes) -> Any:
    """Parse JSON from a stranger; None if it is none, or nested beyond reason."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def posting(
    url: str, headers: Mapping[str, str], content: Any, *, method: str = "POST"
) -> HttpRequest:
    """Build a request with a JSON body."""
    return HttpRequest(
        method=method,
        url=url,
        headers={"content-type": "application/json", "accept": "application/json", **headers},
        body=json.dumps(content, separators=(",", ":")).encode(),
    )


def getting(url: str, headers: Mapping[str, str], *, method: str = "GET") -> HttpRequest:
    """Build a request without a body."""
    return HttpRequest(method=method, url=url, headers={"accept": "application/json", **headers})


def at(value: Any, *path: str | int) -> Any:
    """Follow a path into parsed JSON; None where it does not lead anywhere."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text(value: Any) -> str:
    """Read a short text or a number as text; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode("utf-8", "replace").decode()[:TEXT_CHARACTERS_MAX]


def identifier(value: Any) -> str:
    """Read an id that may be put into a path, whether sent as text or as number; else empty."""
    written = text(value)
    return written if _ID.fullmatch(written) and set(written) != {"."} else ""


def link(value: Any) -> str:
    """Read a web address; empty if it is none. Where it may lead is for the download to judge."""
    if not isinstance(value, str) or len(value) > URL_CHARACTERS_MAX:
        return ""
    return value if _URL.fullmatch(value) else ""


def same_place(url: str, *origins: str) -> bool:
    """Whether an address that a provider returned leads to where we would have called anyway."""
    place = _origin(url)
    return place is not None and any(place == _origin(origin) for origin in origins)


def _origin(url: str) -> tuple[str, str, int | None] | None:
    if not _URL.fullmatch(url) or "\\" in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    except ValueError:
        return None
    if parts.username is not None or parts.password is not None or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port


def retry_after_seconds(reply: HttpReply, now: datetime) -> int | None:
    """Read how long we are asked to wait: Retry-After as seconds or as date, or a reset time."""
    for name in ("retry-after", "ratelimit-reset"):
        written = reply.headers.get(name, "").strip()
        if _WHOLE.fullmatch(written):
            return min(ceil(float(written)), RETRY_AFTER_SECONDS_MAX)
        try:
            moment = parsedate_to_datetime(written)
        except (ValueError, TypeError, IndexError):
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = ceil((moment - now).total_seconds())
        return min(max(seconds, 0), RETRY_AFTER_SECONDS_MAX)
    return None
