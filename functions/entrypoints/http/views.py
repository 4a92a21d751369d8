"""Tasks as their owners see them."""

from datetime import datetime, timedelta

from functions.domain.kinds import Runs
from functions.domain.labels import EXPIRED, SENTENCES
from functions.domain.media import thumbnail_key
from functions.domain.ports import Ports
from functions.domain.states import TaskState
from functions.domain.tasks import Output, Task
from functions.domain.tickets import TaskRef
from functions.entrypoints.http.models import (
    ChargeView,
    CheckView,
    ErrorView,
    OrderAgain,
    ProgressView,
    ResultView,
    StepView,
    TaskView,
)

_CHARGES = {TaskState.DELIVERED: "settled"}
_FAILURES = (TaskState.FAILED, TaskState.DEAD, TaskState.CANCELED)
LINK_STEP = timedelta(minutes=5)  # a cached answer's link still has this long to live, or more


def task_view(
    task: Task,
    *,
    now: datetime,
    progress: ProgressView | None = None,
    result: ResultView | None = None,
    again: OrderAgain | None = None,
) -> TaskView:
    """Show a task. Only internal fields stay behind."""
    expired = task.output is not None and is_expired(task.output, now)
    charge = _CHARGES.get(task.state, "released" if task.state.done else "held")
    return TaskView(
        id=task.id,
        kind=task.kind,
        state=task.state,
        done=task.state.done,
        message=EXPIRED if expired else SENTENCES[task.state],
        attempt=task.attempt,
        created_at=task.created_at,
        credits=ChargeView(amount=task.price, state=charge),
        timeline=[
            StepView(state=step.state, at=step.at, attempt=step.attempt, reason=step.reason)
            for step in task.history
        ],
        progress=progress,
        result=result,
        error=_error(task),
        order_again=again,
    )


def order_again(ports: Ports, task: Task, *, now: datetime) -> OrderAgain | None:
    """Say how to order an ended task once more, if there is nothing left of its result."""
    if not task.state.done or (task.output is not None and not is_expired(task.output, now)):
        return None
    ordered = ports.store.input(TaskRef(account=task.account, id=task.id))
    if not ordered:
        return None
    asked = ports.kinds[task.kind].schema()["properties"]  # not what was found out since
    given = {name: value for name, value in ordered["order"].items() if name in asked}
    return OrderAgain(kind=task.kind, provider=ordered.get("provider"), input=given)


def result_view(ports: Ports, task: Task, *, now: datetime) -> ResultView | None:
    """Sign a link to a delivered file and show how it was checked."""
    output = task.output
    if output is None or task.state is not TaskState.DELIVERED:
        return None
    report = ports.store.report(task)
    return ResultView(
        url=None
        if is_expired(output, now)
        else link_to(ports, output.key, filename_of(ports, task)),
        content_type=output.content_type,
        bytes=output.size_bytes,
        sha256=output.sha256,
        seconds=output.seconds,
        width=output.width,
        height=output.height,
        codec=output.codec,
        expires_at=output.expires_at,
        notice=task.reason,
        thumbnails=[] if is_expired(output, now) else pictures_of(ports, task, output),
        checks=[
            CheckView(name=check.name, value=check.value, limit=check.limit, verdict=check.verdict)
            for check in (report.checks if report else ())
        ],
    )


def filename_of(ports: Ports, task: Task) -> str:
    """Name a result as a download."""
    return f"{task.kind}-{task.id}.{ports.kinds[task.kind].makes.extension}"


def pictures_of(ports: Ports, task: Task, output: Output) -> list[str]:
    """Sign links to the pictures beside a result."""
    names = ports.kinds[task.kind].makes.pictures[: output.thumbnails]
    return [link_to(ports, thumbnail_key(output.key, name), name) for name in names]


def link_to(ports: Ports, key: str, filename: str) -> str:
    """Sign a link to a file of a task."""
    return ports.media.link(key, filename=filename, seconds=ports.rules.link_seconds)


def progress_view(ports: Ports, task: Task) -> ProgressView | None:
    """Say how far a worker is; a function is done too soon to be asked."""
    if task.state is not TaskState.RENDERING or ports.kinds[task.kind].runs is not Runs.WORKER:
        return None
    seen = ports.progress.read(task)
    return ProgressView(done=seen.done, total=seen.total) if seen else None


def etag_of(task: Task, now: datetime, progress: ProgressView | None = None) -> str:
    """Name what a client would see: the version, and for a result which link it would get."""
    if progress is not None:
        return f'"{task.version}-{progress.done}"'
    if task.output is None or task.state is not TaskState.DELIVERED:
        return f'"{task.version}"'
    if is_expired(task.output, now):
        return f'"{task.version}-expired"'
    return f'"{task.version}-{int(now.timestamp() // LINK_STEP.total_seconds())}"'


def is_expired(output: Output, now: datetime) -> bool:
    """Say whether a result has had its time."""
    return output.expires_at is not None and output.expires_at <= now


def _error(task: Task) -> ErrorView | None:
    if task.state not in _FAILURES:
        return None
    return ErrorView(code=task.code or str(task.state), reason=task.reason or SENTENCES[task.state])
