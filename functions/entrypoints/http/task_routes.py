"""Uploads and tasks."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from functions.bootstrap import ports
from functions.domain.credits import EntryKind, entry_id
from functions.domain.kinds import InvalidInput
from functions.domain.polling import retry_after_seconds
from functions.domain.results import Created, Replayed
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.entrypoints.http.caller import caller_of
from functions.entrypoints.http.documented import problems, view
from functions.entrypoints.http.models import (
    OrderBody,
    TaskList,
    TaskView,
    UploadBody,
    UploadView,
)
from functions.entrypoints.http.problems import NOT_FOUND, PURGED, Refusal, answer
from functions.entrypoints.http.request import ULID, idempotency_key, reply, request_id
from functions.entrypoints.http.results import result_documented, result_of
from functions.entrypoints.http.views import (
    etag_of,
    order_again,
    progress_view,
    result_view,
    task_view,
)
from functions.pipeline import intake

FORM_SECONDS = 600

router = APIGatewayHttpRouter()

TaskId = Annotated[str, Path(pattern=ULID, description="the task's id")]


@router.post(
    "/v1/uploads",
    summary="Get a form to upload a source with",
    responses=view(201, UploadView) | problems(400, 403),
)
def upload(body: UploadBody) -> Response[Any]:
    """Sign a form POST for one file of the given type, up to the kind's size."""
    caller = caller_of(router.current_event)
    slot = intake.upload(ports(), caller.account, body.kind, body.content_type)
    if isinstance(slot, InvalidInput):
        return answer(slot, request_id(router.current_event))
    shown = UploadView(
        upload=slot.id,
        url=slot.form.url,
        fields=slot.form.fields,
        bytes_max=ports().kinds[body.kind].upload.bytes_max,
        expires_in=FORM_SECONDS,
    )
    return reply(shown, HTTPStatus.CREATED)


@router.post(
    "/v1/tasks",
    summary="Order a task",
    responses=view(202, TaskView) | problems(400, 402, 403, 409, 422, 429, 503),
)
def order(body: OrderBody) -> Response[Any]:
    """Hold the price and record the task, once per Idempotency-Key."""
    caller = caller_of(router.current_event)
    key = idempotency_key(router.current_event)
    made = intake.order(ports(), caller.account, key, body.kind, body.input, provider=body.provider)
    match made:
        case Created():
            return _accepted(made.task)
        case Replayed():
            task = _known(TaskRef(account=caller.account, id=made.id))
            return _accepted(task, Idempotency_Replayed="true")
        case _:
            return answer(made, request_id(router.current_event))


@router.get(
    "/v1/tasks",
    summary="List your tasks, newest first",
    responses=view(200, TaskList) | problems(400, 403),
)
def listed(
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response[Any]:
    """List tasks without their result links; ask for one task to get its link."""
    caller = caller_of(router.current_event)
    page = ports().store.tasks(caller.account, limit=limit, cursor=cursor)
    now = ports().clock.now()
    return reply(
        TaskList(
            tasks=[task_view(task, now=now) for task in page.items if _is_kept(task, now)],
            cursor=page.cursor,
        )
    )


@router.get(
    "/v1/tasks/<id>",
    summary="See how a task is doing",
    responses=view(200, TaskView) | problems(400, 403, 404, 410),
)
def seen(id: TaskId) -> Response[Any]:  # noqa: A002 - the path's own word
    """Show a task; 304 if the client's ETag still describes it."""
    caller = caller_of(router.current_event)
    task = _known(TaskRef(account=caller.account, id=id), fresh=False)
    now = ports().clock.now()
    progress = progress_view(ports(), task)
    etag = etag_of(task, now, progress)
    headers: dict[str, Any] = {"ETag": etag, "Cache_Control": "private, no-cache"}
    if not task.state.done:
        headers["Retry_After"] = _retry_after(task)
    if router.current_event.headers.get("if-none-match") == etag:
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        return Response(status_code=int(HTTPStatus.NOT_MODIFIED), body="", headers=dict(shown))
    result = result_view(ports(), task, now=now)
    again = order_again(ports(), task, now=now)
    return reply(task_view(task, now=now, progress=progress, result=result, again=again), **headers)


@router.get(
    "/v1/tasks/<id>/result",
    summary="Get what was made",
    responses=result_documented() | problems(400, 403, 404, 409, 410),
)
def result(id: TaskId) -> Response[Any]:  # noqa: A002 - the path's own word
    """Lead to a delivered file; a document is shown, as JSON or as `text/markdown`."""
    caller = caller_of(router.current_event)
    task = _known(TaskRef(account=caller.account, id=id), fresh=False)
    return result_of(ports(), task, accept=router.current_event.headers.get("accept") or "")


@router.post(
    "/v1/tasks/<id>/cancel",
    summary="Withdraw a task",
    responses=view(200, TaskView) | view(202, TaskView) | problems(400, 403, 404, 503),
)
def cancel(id: TaskId) -> Response[Any]:  # noqa: A002 - the path's own word
    """Cancel a task if it can still be; the answer shows what it has come to."""
    caller = caller_of(router.current_event)
    ref = TaskRef(account=caller.account, id=id)
    task = intake.cancel(ports(), ref) or _known(ref)
    status = HTTPStatus.OK if task.state.done else HTTPStatus.ACCEPTED
    return reply(task_view(task, now=ports().clock.now()), status)


def _accepted(task: Task, **headers: str) -> Response[Any]:
    return reply(
        task_view(task, now=ports().clock.now()),
        HTTPStatus.ACCEPTED,
        Location=f"/v1/tasks/{task.id}",
        Retry_After=_retry_after(task),
        **headers,
    )


def _retry_after(task: Task) -> str:
    age = ports().clock.now() - task.created_at
    return str(retry_after_seconds(age.total_seconds()))


def _known(ref: TaskRef, *, fresh: bool = True) -> Task:
    task = ports().store.get(ref, fresh=fresh)
    if task is not None and _is_kept(task, ports().clock.now()):
        return task
    hold = entry_id(EntryKind.HOLD, subject=ref.id)
    purged = ports().store.entry(ref.account, hold) is not None
    raise Refusal(PURGED if purged else NOT_FOUND)


def _is_kept(task: Task, now: datetime) -> bool:
    """Say whether to show it: the table may take days to remove what has had its time."""
    return task.keep_until is None or task.keep_until > now
