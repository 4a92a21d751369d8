"""What the signatures of routes do not say: headers, the gateway, another function's routes."""

from http import HTTPStatus
from typing import Any

from functions.entrypoints.http.problems import (
    EXPIRED,
    FORBIDDEN,
    INTERNAL,
    KEY_MALFORMED,
    KEY_MISSING,
    NO_RESULT,
    NOT_FOUND,
    PURGED,
    TABLE,
    TOO_LARGE,
    UNSUPPORTED,
)

PROBLEM = {"$ref": "#/components/schemas/ProblemModel"}
KEYED = ("/v1/tasks", "/v1/admin/accounts/{id}/credits")
FOLLOWED = "/v1/tasks/{id}"
OPEN_TO_ALL = ("/v1/kinds", "/v1/config")
SECONDS = {"description": "seconds", "schema": {"type": "integer", "minimum": 0}}
TEXT = {"schema": {"type": "string"}}

KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "new for each order, the same for its repeats",
    "schema": {"type": "string", "pattern": '^"?[A-Za-z0-9._:-]{16,128}"?$'},
    "example": "0f0d8c1e-5a0b-4f7e-9d61-3f0a8f5d2c11",
}
TAG = {"name": "If-None-Match", "in": "header", "required": False, **TEXT}


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """Complete the description that was made from the routes."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path in OPEN_TO_ALL:
                operation["security"] = []
            _complete(operation, open_to_all=path in OPEN_TO_ALL)
            if method == "post":
                _answers(operation, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.BAD_REQUEST)
                if "requestBody" in operation:
                    _answers(operation, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            if method == "post" and path in KEYED:
                operation.setdefault("parameters", []).append(KEY)
    _follow(document["paths"][FOLLOWED]["get"])
    ordered = document["paths"]["/v1/tasks"]["post"]["responses"]["202"]
    replayed = {"description": "true if it had been ordered", "schema": {"const": "true"}}
    ordered["headers"] = {
        "Location": TEXT,
        "Retry-After": SECONDS,
        "Idempotency-Replayed": replayed,
    }
    document["paths"] |= _parked_calls()
    code = document["components"]["schemas"]["ProblemModel"]["properties"]["code"]
    code["examples"] = sorted(_codes())
    return document


def _complete(operation: dict[str, Any], *, open_to_all: bool) -> None:
    responses = operation["responses"]
    made_up = responses.get("422", {}).get("content", {})
    if "application/json" in made_up:  # the library's own; ours is a 400
        del responses["422"]
    _answers(operation, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
    if not open_to_all:
        responses["401"] = _by_the_gateway("no valid access token")
    responses.setdefault("429", _by_the_gateway("too many requests"))


def _by_the_gateway(description: str) -> dict[str, Any]:
    said = {"type": "object", "properties": {"message": {"type": "string"}}}
    return {"description": description, "content": {"application/json": {"schema": said}}}


def _answers(operation: dict[str, Any], *statuses: HTTPStatus) -> None:
    for status in statuses:
        answer = {
            "description": status.phrase,
            "content": {"application/problem+json": {"schema": PROBLEM}},
        }
        operation["responses"].setdefault(str(int(status)), answer)


def _follow(operation: dict[str, Any]) -> None:
    headers = {"ETag": TEXT, "Retry-After": SECONDS}
    operation.setdefault("parameters", []).append(TAG)
    operation["responses"]["200"]["headers"] = headers
    operation["responses"]["304"] = {"description": "nothing has changed", "headers": headers}


def _codes() -> set[str]:
    alone = (
        EXPIRED,
        FORBIDDEN,
        INTERNAL,
        KEY_MALFORMED,
        KEY_MISSING,
        NO_RESULT,
        NOT_FOUND,
        PURGED,
        TOO_LARGE,
        UNSUPPORTED,
    )
    return {problem.code for problem in (*alone, *TABLE.values())}


def _parked_calls() -> dict[str, Any]:
    """Describe the routes that the hooks function answers."""
    name = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    parked = {"type": "array", "items": name}
    count = {"type": "integer", "minimum": 0}
    return {
        "/v1/admin/hooks": {
            "get": _operation("List calls that were not understood", {"parked": parked})
        },
        "/v1/admin/hooks/replay": {
            "post": _operation("Judge parked calls again", {"replayed": count, "parked": count})
        },
    }


def _operation(summary: str, properties: dict[str, Any]) -> dict[str, Any]:
    shown = {"type": "object", "required": sorted(properties), "properties": properties}
    content = {"application/json": {"schema": shown}}
    made: dict[str, Any] = {
        "summary": summary,
        "description": "For operators. A call of a provider is kept until it is understood.",
        "operationId": summary.lower().replace(" ", "_"),
        "responses": {"200": {"description": "OK", "content": content}},
    }
    _answers(made, HTTPStatus.FORBIDDEN)
    _complete(made, open_to_all=False)
    return made
