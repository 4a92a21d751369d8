"""The API as a whole: routes together, and what happens to anything that goes wrong."""

import json
from functools import cache
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer

from functions.domain.errors import TallyreelError
from functions.domain.kinds import invalid
from functions.entrypoints import log
from functions.entrypoints.http import console, credit_routes, operator_routes, task_routes
from functions.entrypoints.http.description import completed
from functions.entrypoints.http.problems import (
    INTERNAL,
    NOT_FOUND,
    TABLE,
    UNSUPPORTED,
    Refusal,
    answer,
    rendered,
)
from functions.entrypoints.http.request import request_id

VERSION = "1.0.0"
_PLACES = {"body", "query", "path", "header"}  # where validation found it, not part of a pointer


@cache
def api() -> APIGatewayHttpResolver:
    """Put the routes together."""
    app = APIGatewayHttpResolver(enable_validation=True)
    for routes in (task_routes, credit_routes, operator_routes, console):
        app.include_router(routes.router)
    _handle_trouble(app)
    _serve_documents(app)
    return app


def _handle_trouble(app: APIGatewayHttpResolver) -> None:
    @app.exception_handler(RequestValidationError)
    def malformed(error: RequestValidationError) -> Response[Any]:
        found = [{**fault, "loc": _within(fault["loc"])} for fault in error.errors()]
        return answer(invalid(found), request_id(app.current_event))

    @app.exception_handler(RequestUnsupportedContentType)
    def unsupported(_: RequestUnsupportedContentType) -> Response[Any]:
        return rendered(UNSUPPORTED, request_id(app.current_event))

    @app.exception_handler(Refusal)
    def refused(error: Refusal) -> Response[Any]:
        return rendered(error.problem, request_id(app.current_event))

    @app.exception_handler(TallyreelError)
    def trouble(error: TallyreelError) -> Response[Any]:
        log.trouble("intake", error)
        if type(error) not in TABLE:
            return rendered(INTERNAL, request_id(app.current_event))
        return answer(error, request_id(app.current_event))

    @app.exception_handler(Exception)
    def bug(error: Exception) -> Response[Any]:
        log.bug("intake", error)
        return rendered(INTERNAL, request_id(app.current_event))

    @app.not_found
    def unknown(_: NotFoundError) -> Response[Any]:
        return rendered(NOT_FOUND, request_id(app.current_event))


def _within(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return place[1:] if place and place[0] in _PLACES else place


def _serve_documents(app: APIGatewayHttpResolver) -> None:
    @app.get("/v1/openapi.json", include_in_schema=False)
    def openapi() -> Response[Any]:
        return Response(
            status_code=int(HTTPStatus.OK),
            content_type="application/json",
            body=openapi_document(),
            headers={"Cache-Control": "public, max-age=300"},
        )


@cache
def openapi_document() -> str:
    """Write the API down as OpenAPI."""
    described = api().get_openapi_json_schema(
        title="Tallyreel",
        version=VERSION,
        description="Paid media tasks that always end: delivered, verified and charged once, "
        "or failed with the held credits returned.",
        security_schemes={"token": HTTPBearer(bearerFormat="JWT")},
        security=[{"token": []}],
    )
    return json.dumps(completed(json.loads(described)))
