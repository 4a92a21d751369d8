"""API Gateway → intake."""

from typing import Any

from functions.entrypoints.http.api import api
from functions.entrypoints.http.problems import TOO_LARGE, rendered
from functions.entrypoints.log import done

BODY_CHARACTERS_MAX = 64 * 1024


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one request."""
    request = event["requestContext"]
    if len(event.get("body") or "") > BODY_CHARACTERS_MAX:
        refused = rendered(TOO_LARGE, request["requestId"])
        return {
            "statusCode": refused.status_code,
            "headers": {"Content-Type": refused.content_type},
            "body": refused.body,
        }
    answer = api().resolve(event, context)
    done("intake", route=event["routeKey"], status=answer["statusCode"])
    return answer
