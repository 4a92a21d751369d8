"""What operators may do with calls that were authentic and not understood."""

import json
from http import HTTPStatus
from typing import Any

from functions.bootstrap import ports
from functions.domain.errors import TallyreelError
from functions.entrypoints.http.caller import operator_of
from functions.entrypoints.http.problems import Refusal, answer, rendered
from functions.entrypoints.log import done, trouble
from functions.pipeline.hooks import parked, replay

PAGE = 100


def operated(event: dict[str, Any]) -> dict[str, Any]:
    """List parked calls, or judge them again."""
    context = event["requestContext"]
    try:
        operator_of(event)
        if context["http"]["method"] == "GET":
            found = parked(ports(), limit=PAGE)
            return _told({"parked": [{"name": name} for name in found]})
        outcome = replay(ports(), limit=PAGE)
    except Refusal as refusal:
        shown = rendered(refusal.problem, context["requestId"])
    except TallyreelError as error:
        trouble("hooks", error)
        shown = answer(error, context["requestId"])
    else:
        done("hooks", outcome=outcome)
        return _told(outcome)
    return {
        "statusCode": shown.status_code,
        "headers": {"Content-Type": str(shown.content_type)},
        "body": shown.body,
    }


def _told(view: dict[str, Any]) -> dict[str, Any]:
    return {
        "statusCode": int(HTTPStatus.OK),
        "headers": {"Content-Type": "application/json", "Cache-Control": "no-store"},
        "body": json.dumps(view),
    }
