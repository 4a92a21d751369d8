"""One request and its whole answer over HTTPS, within bounds.

Whether a request that failed had left is not guessed from the kind of the error: the connection
reports when it begins to write, and before that nothing was sent.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from functions.adapters.guard import trusted_tls
from functions.domain.exchange import HttpReply, HttpRequest

REPLY_BYTES_MAX: Final = 4 << 20
CONNECT_SECONDS: Final = 5.0
PIECE_BYTES: Final = 256 << 10  # of a long body, so that its sending has an end in time
_WRITING: Final = ".send_request_headers.started"


class NotSentError(Exception):
    """Nothing was written."""


class NoAnswerError(Exception):
    """Something was written, and no whole answer came."""


@dataclass(slots=True)
class _Trace:
    """Listens to a connection."""

    written: bool = field(default=False)

    def __call__(self, event: str, _info: Any) -> None:
        self.written = self.written or event.endswith(_WRITING)


def new_client() -> httpx.Client:
    """Open a client that follows nothing and repeats nothing."""
    return httpx.Client(
        verify=trusted_tls(),
        trust_env=False,
        follow_redirects=False,
        headers={"user-agent": "tallyreel", "accept-encoding": "identity"},
    )


def exchanged(client: httpx.Client, request: HttpRequest, seconds: float) -> HttpReply:
    """Send once and read the answer to its end, within bounds."""
    until = time.monotonic() + seconds
    headers, body = dict(request.headers), request.body
    if body:
        headers["content-length"] = str(len(body))
    with (
        _translated() as trace,
        client.stream(
            request.method,
            request.url,
            headers=headers,
            content=_pieces(body, until) if len(body) > PIECE_BYTES else body or None,
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            extensions={"trace": trace},
        ) as response,
    ):
        if response.headers.get("content-encoding", "identity") != "identity":
            raise NoAnswerError("encoded")
        answer = bytearray()
        for chunk in response.iter_raw():
            answer += chunk
            if len(answer) > REPLY_BYTES_MAX:
                raise NoAnswerError("too-long")
            if time.monotonic() > until:
                raise NoAnswerError("timed-out")
        read = {name.lower(): value for name, value in response.headers.items()}
        return HttpReply(status=response.status_code, headers=read, body=bytes(answer))


def _pieces(body: bytes, until: float) -> Iterator[bytes]:
    for start in range(0, len(body), PIECE_BYTES):
        if time.monotonic() > until:
            raise NoAnswerError("timed-out")
        yield body[start : start + PIECE_BYTES]


@contextmanager
def _translated() -> Iterator[_Trace]:
    trace = _Trace()
    try:
        yield trace
    except httpx.TransportError as error:
        cause = "timed-out" if isinstance(error, httpx.TimeoutException) else "no-answer"
        if trace.written:
            raise NoAnswerError(cause) from error
        raise NotSentError("unreachable") from error
    except httpx.InvalidURL as error:
        raise NotSentError("address-malformed") from error
