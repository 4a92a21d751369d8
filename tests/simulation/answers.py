"""What AWS says when it refuses, byte for byte as the SDK reads it; and what it was asked."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import MockRawResponse


def json_of(body: Any) -> Mapping[str, Any]:
    if isinstance(body, bytes | str) and body[:1] in (b"{", "{"):
        parsed: Mapping[str, Any] = json.loads(body)
        return parsed
    return {}


def written(body: Any) -> bytes:
    return json.dumps(json_of(body).get("TransactItems"), sort_keys=True).encode()


def _answer(url: str, status: int, body: bytes, content_type: str) -> AWSResponse:
    headers = {"content-type": content_type, "x-amzn-requestid": "made-up"}
    return AWSResponse(url, status, headers, MockRawResponse(body))  # type: ignore[arg-type]


def _refusal(url: str, code: str, **more: Any) -> AWSResponse:
    body = json.dumps({"__type": f"com.amazonaws#{code}", "message": code} | more).encode()
    return _answer(url, 400, body, "application/x-amz-json-1.0")


def throttled(url: str, event_name: str) -> AWSResponse:
    if ".s3." in event_name:
        body = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
        return _answer(url, 503, body, "application/xml")
    return _refusal(url, "ThrottlingException")


def conflict(url: str, operation: str, request: Any) -> AWSResponse:
    if operation != "TransactWriteItems":
        return _refusal(url, "TransactionConflictException")
    actions = json_of(request.body)["TransactItems"]
    first = next(place for place, action in enumerate(actions) if "Update" in action)
    reasons = [
        {"Code": "TransactionConflict" if place == first else "None"}
        for place in range(len(actions))
    ]
    return _refusal(url, "TransactionCanceledException", CancellationReasons=reasons)
