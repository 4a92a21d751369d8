"""What was made: a film is led to, a document is shown."""

from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response

from functions.analysis.markdown import markdown
from functions.domain.ports import Ports
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.entrypoints.http.problems import EXPIRED, NO_RESULT, Refusal
from functions.entrypoints.http.views import filename_of, is_expired, link_to, pictures_of

JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
SHOWN_BYTES_MAX: Final = 5 << 20  # below what the gateway passes on; larger ones are led to
PRIVATE: Final = {"Cache-Control": "private, no-cache", "Vary": "Accept"}


def result_of(ports: Ports, task: Task, *, accept: str) -> Response[Any]:
    """Answer with a result, or with where it is."""
    output = task.output
    if output is None or task.state is not TaskState.DELIVERED:
        raise Refusal(NO_RESULT)
    if is_expired(output, ports.clock.now()):
        raise Refusal(EXPIRED)
    if output.content_type != JSON or output.size_bytes > SHOWN_BYTES_MAX:
        link = link_to(ports, output.key, filename_of(ports, task))
        return Response(
            status_code=int(HTTPStatus.SEE_OTHER), body="", headers={**PRIVATE, "Location": link}
        )
    document = ports.media.read(output.key, bytes_max=SHOWN_BYTES_MAX)
    if document is None:
        raise Refusal(EXPIRED)
    if MARKDOWN in accept.lower():
        text = markdown(document, pictures_of(ports, task, output))
        return _shown(text, f"{MARKDOWN}; charset=utf-8")
    return _shown(document.decode(), JSON)


def result_documented() -> dict[int, Any]:
    """Say how results look in the API's description."""
    return {
        200: {
            "description": "a document",
            "content": {
                JSON: {"schema": {"type": "object"}},
                MARKDOWN: {"schema": {"type": "string"}},
            },
        },
        303: {"description": "where the file is, for a few minutes"},
    }


def _shown(body: str, content_type: str) -> Response[Any]:
    return Response(
        status_code=int(HTTPStatus.OK), content_type=content_type, body=body, headers=dict(PRIVATE)
    )
