"""API Gateway → hooks: calls from providers, and what operators do with parked ones."""

import base64
from http import HTTPStatus
from typing import Any

from functions.bootstrap import ports
from functions.domain.errors import TallyreelError
from functions.domain.hooks import delivery
from functions.entrypoints.http.parked_calls import operated
from functions.entrypoints.log import done, trouble
from functions.pipeline.hooks import Reception, receive

STATUSES = {
    Reception.TAKEN: HTTPStatus.OK,
    Reception.PARKED: HTTPStatus.OK,
    Reception.CHALLENGED: HTTPStatus.OK,
    Reception.FORGED: HTTPStatus.UNAUTHORIZED,
    Reception.UNVERIFIABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    Reception.UNKNOWN: HTTPStatus.NOT_FOUND,
}
BODY_CHARACTERS_MAX = 700_000  # with base64 some 512 KB, far more than any provider sends


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Take a call in, or list or replay parked ones."""
    if "/admin/" in event["rawPath"]:
        return operated(event)
    path, body = event["pathParameters"], event.get("body") or ""
    call = delivery(path["token"], event["headers"], body, is_base64=event["isBase64Encoded"])
    if call is None or len(body) > BODY_CHARACTERS_MAX:
        return _reply(HTTPStatus.BAD_REQUEST, b"{}")
    try:
        received = receive(ports(), path["provider"], call)
    except TallyreelError as error:  # whatever goes wrong here makes the provider call again
        trouble("hooks", error)
        return _reply(HTTPStatus.SERVICE_UNAVAILABLE, b"{}")
    done("hooks", provider=path["provider"], outcome=received.reception)
    return _reply(STATUSES[received.reception], received.body or b"{}")


def _reply(status: HTTPStatus, body: bytes) -> dict[str, Any]:
    return {
        "statusCode": int(status),
        "headers": {"Content-Type": "application/json", "Cache-Control": "no-store"},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
