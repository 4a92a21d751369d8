"""The served description: valid, complete, and kept to by every answer."""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis import Case
from schemathesis.checks import CHECKS

from functions.entrypoints import hooks, intake
from functions.entrypoints.http.api import openapi_document
from tests.doubles.world import World
from tests.entrypoints.conftest import OPERATOR, event

EXAMPLES = 10  # for each operation
WANTED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
)
DOCUMENT: dict[str, Any] = json.loads(openapi_document())
OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def test_the_description_is_valid() -> None:
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_every_operation_says_what_it_is_and_what_can_go_wrong(
    name: str, operation: dict[str, Any]
) -> None:
    assert operation["summary"]
    statuses = set(operation["responses"])
    assert statuses & {"200", "201", "202"}
    assert {"429", "500", "503"} <= statuses
    assert (operation.get("security") == []) == (not {"401", "403"} & statuses)
    for status in statuses - {"304", "401", "429"}:
        kind = "application/json" if int(status) < 400 else "application/problem+json"
        assert "schema" in operation["responses"][status]["content"][kind], (name, status)


Environ = dict[str, Any]


def gateway(environ: Environ, start: Callable[..., Any]) -> Iterable[bytes]:
    """Stand before the functions as API Gateway does."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        headers["content-type"] = environ["CONTENT_TYPE"]
    is_open = path in ("/v1/kinds", "/v1/config", "/v1/openapi.json")
    if not is_open and headers.get("authorization") != "Bearer right":
        start("401 Unauthorized", [("Content-Type", "application/json")])
        return [b'{"message":"Unauthorized"}']
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length).decode("utf-8", "replace") if length else None
    query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    asked = event(method, path, body=body, headers=headers, claims=OPERATOR, query=query)
    if "content-type" not in headers:
        del asked["headers"]["content-type"]
    handler = hooks.handler if path.startswith("/v1/admin/hooks") else intake.handler
    answer = handler(asked, None)
    told = dict(answer.get("headers", {}))
    told |= {name: values[0] for name, values in answer.get("multiValueHeaders", {}).items()}
    status = HTTPStatus(answer["statusCode"])
    start(f"{int(status)} {status.phrase}", list(told.items()))
    return [(answer.get("body") or "").encode()]


@pytest.mark.parametrize("name", [name for name, _ in OPERATIONS])
def test_every_answer_is_a_documented_one(name: str, world: World) -> None:
    method, path = name.split(" ")
    schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", gateway)
    checks: list[Any] = [CHECKS.get_one(each) for each in WANTED]
    asked = 0

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        derandomize=True,
        database=None,
    )
    def ask(case: Case[Any]) -> None:
        nonlocal asked
        asked += 1
        case.headers["Authorization"] = "Bearer right"
        case.call_and_validate(checks=checks)

    ask()
    assert asked > 0
    assert world.store.balance("nobody").available == 0
