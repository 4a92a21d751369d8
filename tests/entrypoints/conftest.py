"""The entrypoints over a world in memory, called with events as AWS sends them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from functions import bootstrap
from functions.domain.media import source_key
from functions.domain.providers import BuiltIn
from functions.entrypoints import intake
from functions.pipeline import operate
from tests.doubles.store import MemoryStore
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO, Renderer, renderer

__all__ = ["renderer"]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, renderer: Renderer) -> Iterator[World]:
    world = World(providers={"motion": BuiltIn(name="motion", render=renderer)})
    operate.grant(world, "alice", "grant-0000000001", 20, None)
    world.media.files[source_key("alice", ulid(1))] = (PHOTO, "image/png")
    monkeypatch.setenv("TALLYREEL_TOKEN_CLIENTS", "app-client")
    monkeypatch.setenv("TALLYREEL_OPERATOR_GROUP", "operators")
    monkeypatch.setenv("TALLYREEL_ISSUER", "https://cognito-idp.eu-west-1.amazonaws.com/pool")
    monkeypatch.setenv("TALLYREEL_SIGN_IN", "password")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    with bootstrap.replaced(world):
        yield world


@dataclass(slots=True)
class Answer:
    """An answer of the API."""

    status: int
    headers: dict[str, str]
    body: Any


def event(
    method: str,
    path: str,
    *,
    body: Any = None,
    headers: dict[str, str] | None = None,
    claims: dict[str, Any] | None = None,
    query: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A request in the HTTP API's payload format 2.0."""
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "rawQueryString": "&".join(f"{name}={value}" for name, value in (query or {}).items()),
        "headers": {"content-type": "application/json"} | (headers or {}),
        "requestContext": {
            "requestId": "request-1",
            "stage": "$default",
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
        },
        "isBase64Encoded": False,
    }
    if query:
        made["queryStringParameters"] = query
    if body is not None:
        made["body"] = body if isinstance(body, str) else json.dumps(body)
    if claims is not None:
        made["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    return made


ALICE = {"sub": "alice", "token_use": "access", "client_id": "app-client"}
OPERATOR = ALICE | {"sub": "olga", "cognito:groups": "[operators staff]"}

Call = Callable[..., Answer]


@pytest.fixture
def call(world: World) -> Call:
    assert isinstance(world.store, MemoryStore)

    def send(method: str, path: str, **more: Any) -> Answer:
        answer = intake.handler(event(method, path, **({"claims": ALICE} | more)), None)
        headers = dict(answer.get("headers", {}))
        headers |= {name: values[0] for name, values in answer.get("multiValueHeaders", {}).items()}
        text = answer.get("body") or ""
        kind = headers.get("Content-Type", "")
        body = json.loads(text) if "json" in kind and text else text
        return Answer(status=answer["statusCode"], headers=headers, body=body)

    return send
