"""What operators may do."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from functions.bootstrap import ports
from functions.domain.results import Applied, Granted, Replayed, Stale
from functions.domain.tasks import Ignored
from functions.domain.tickets import TaskRef
from functions.entrypoints.http.caller import operator_of
from functions.entrypoints.http.documented import problems, view
from functions.entrypoints.http.models import (
    AuditView,
    DeadList,
    DeadTask,
    GrantBody,
    GrantView,
    HealthView,
    PaceView,
    RedriveBody,
    RedriveList,
    RedriveView,
    ReviewBody,
    SpendList,
    SpendView,
    TaskView,
)
from functions.entrypoints.http.problems import (
    CONFLICT,
    NOT_FOUND,
    Refusal,
    answer,
)
from functions.entrypoints.http.request import ULID, idempotency_key, reply, request_id
from functions.entrypoints.http.views import task_view
from functions.pipeline import operate
from functions.pipeline.measure import paces
from functions.pipeline.settle import reviewed

router = APIGatewayHttpRouter()

Account = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="the account")]


@router.post(
    "/v1/admin/accounts/<id>/credits",
    summary="Give an account credits",
    responses=view(200, GrantView) | view(201, GrantView) | problems(400, 403, 409, 422, 503),
)
def grant(id: Account, body: GrantBody) -> Response[Any]:  # noqa: A002 - the path's own word
    """Write a grant, once per Idempotency-Key."""
    operator_of(router.current_event)
    key = idempotency_key(router.current_event)
    given = operate.grant(ports(), id, key, body.amount, body.note)
    match given:
        case Granted():
            return reply(GrantView(id=given.id, replayed=False), HTTPStatus.CREATED)
        case Replayed():
            return reply(GrantView(id=given.id, replayed=True))
        case _:
            return answer(given, request_id(router.current_event))


@router.get(
    "/v1/admin/tasks",
    summary="List dead tasks, longest dead first",
    responses=view(200, DeadList) | problems(400, 403),
)
def dead(
    state: Annotated[Literal["dead"], Query()] = "dead",  # noqa: ARG001 - the only list so far
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=400)] = None,
) -> Response[Any]:
    """List tasks that used up their attempts and wait for an operator."""
    operator_of(router.current_event)
    page = operate.dead(ports(), limit=limit, cursor=cursor)
    now = ports().clock.now()
    return reply(
        DeadList(
            tasks=[DeadTask(account=t.account, task=task_view(t, now=now)) for t in page.items],
            cursor=page.cursor,
        )
    )


@router.post(
    "/v1/admin/tasks/<account>/<id>/redrive",
    summary="Start a dead task anew",
    responses=view(202, TaskView) | problems(400, 402, 403, 404, 409, 429, 503),
)
def redrive(
    account: Account,
    id: Annotated[str, Path(pattern=ULID)],  # noqa: A002 - the path's own word
) -> Response[Any]:
    """Hold the price again and queue the task with fresh attempts."""
    operator_of(router.current_event)
    done = operate.redrive(ports(), TaskRef(account=account, id=id))
    match done:
        case None:
            raise Refusal(NOT_FOUND)
        case Applied():
            shown = task_view(done.task, now=ports().clock.now())
            return reply(shown, HTTPStatus.ACCEPTED)
        case Ignored() | Stale():
            raise Refusal(CONFLICT)
        case _:
            return answer(done, request_id(router.current_event))


@router.post(
    "/v1/admin/tasks/<account>/<id>/review",
    summary="Say yes or no to a doubted result",
    responses=view(200, TaskView) | problems(400, 403, 404, 409, 503),
)
def review(
    account: Account,
    id: Annotated[str, Path(pattern=ULID)],  # noqa: A002 - the path's own word
    body: ReviewBody,
) -> Response[Any]:
    """Deliver a result that the inspection left to a person, or give the credits back."""
    operator_of(router.current_event)
    done = reviewed(ports(), TaskRef(account=account, id=id), accept=body.accept)
    if done is None:
        raise Refusal(NOT_FOUND)
    if isinstance(done, Applied):
        return reply(task_view(done.task, now=ports().clock.now()))
    raise Refusal(CONFLICT)


@router.post(
    "/v1/admin/redrive",
    summary="Start dead tasks anew, many at once",
    responses=view(200, RedriveList) | problems(400, 403),
)
def redrive_many(body: RedriveBody) -> Response[Any]:
    """Redrive the longest dead first; a task that cannot be is named with what was in the way."""
    operator_of(router.current_event)
    done = operate.redrive_many(ports(), limit=body.limit, kind=body.kind, code=body.code)
    return reply(
        RedriveList(
            tasks=[
                RedriveView(account=one.task.account, id=one.task.id, outcome=one.outcome)
                for one in done
            ]
        )
    )


@router.get(
    "/v1/admin/audit",
    summary="See what the auditor found",
    responses=view(200, AuditView) | problems(403, 404),
)
def audited() -> Response[Any]:
    """Show the newest audit, finished or not."""
    operator_of(router.current_event)
    report = ports().auditing.report()
    if report is None:
        raise Refusal(NOT_FOUND)
    return reply(AuditView.model_validate(asdict(report)))


@router.get(
    "/v1/admin/spend",
    summary="See what providers were paid",
    responses=view(200, SpendList) | problems(403, 404),
)
def spend() -> Response[Any]:
    """Sum attempts by provider and day, against the credits settled for their results."""
    operator_of(router.current_event)
    report = ports().auditing.report()
    if report is None:
        raise Refusal(NOT_FOUND)
    lines = [SpendView.model_validate(asdict(line)) for line in report.spend]
    return reply(SpendList(as_of=report.finished_at, lines=lines))


@router.get(
    "/v1/admin/health",
    summary="See whether anything is stuck",
    responses=view(200, HealthView) | problems(403),
)
def health() -> Response[Any]:
    """Count overdue and dead tasks; tell how long providers take."""
    operator_of(router.current_event)
    found = operate.health(ports())
    shown = HealthView(
        overdue=found.overdue,
        dead=found.dead,
        capped_at=found.capped_at,
        paces=[PaceView.model_validate(asdict(pace)) for pace in paces(ports())],
    )
    return reply(shown)
