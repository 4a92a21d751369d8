"""What every route needs from its request."""

import re
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from pydantic import BaseModel

from functions.entrypoints.http.problems import KEY_MALFORMED, KEY_MISSING, Refusal

_KEY = re.compile(r'"?([A-Za-z0-9._:-]{16,128})"?')
ULID = r"^[0-9A-HJKMNP-TV-Z]{26}$"


def idempotency_key(event: APIGatewayProxyEventV2) -> str:
    """Read the required key, bare or quoted."""
    given = event.headers.get("idempotency-key")
    if not given:
        raise Refusal(KEY_MISSING)
    key = _KEY.fullmatch(given)
    if key is None:
        raise Refusal(KEY_MALFORMED)
    return key[1]


def request_id(event: APIGatewayProxyEventV2) -> str:
    """Name the request, as the access log does."""
    return event.request_context.request_id


def reply(view: BaseModel, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> Response[Any]:
    """Answer with a view. Header names are given with underscores."""
    named: dict[str, str | list[str]] = {"Cache-Control": "no-store"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(
        status_code=int(status),
        content_type="application/json",
        body=view.model_dump_json(),
        headers=named,
    )
