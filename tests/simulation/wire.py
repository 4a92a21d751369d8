"""The way to a paid API in a simulated run: the real HTTP client, without sockets below it."""

from collections.abc import Callable

import httpx

from local.fakes.vendor import Answer, Request, request_of
from tests.simulation.faults import Reply, Unanswered, Unreachable

TOO_MANY = 429


class Wire(httpx.BaseTransport):
    """Hands requests over to `passed`. What it raises breaks a connection as the network does."""

    def __init__(self, passed: Callable[[Request], Reply]) -> None:
        self._passed = passed

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = request_of(request.method, str(request.url), dict(request.headers), request.read())
        written = request.extensions["trace"]
        try:
            status, headers, body = self._passed(asked)
        except Unreachable as error:
            raise httpx.ConnectError("unreachable") from error
        except Unanswered as error:
            written("http11.send_request_headers.started", {})
            raise httpx.ReadTimeout("unanswered") from error
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))


def client(passed: Callable[[Request], Reply]) -> httpx.Client:
    """Open a client whose requests all go there."""
    return httpx.Client(transport=Wire(passed), trust_env=False)


def reply_of(answer: Answer) -> Reply:
    """Word a stand-in's answer as it goes over the wire."""
    raw = answer.raw
    if raw is None:
        raw = httpx.Response(answer.status, json=answer.content).content
    return answer.status, {**answer.headers, "content-length": str(len(raw))}, raw
