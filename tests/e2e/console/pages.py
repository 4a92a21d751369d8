"""Tasks and lists in every state that a page can meet, in the API's own shapes."""

from datetime import UTC, datetime, timedelta

from functions.domain.labels import EXPIRED, SENTENCES
from functions.domain.states import TaskState
from functions.entrypoints.http.models import (
    AuditView,
    ChargeView,
    DeadList,
    DeadTask,
    DifferenceView,
    ErrorView,
    HealthView,
    OrderAgain,
    PaceView,
    ResultView,
    SpendList,
    SpendView,
    StepView,
    TaskView,
)

BEGUN = datetime(2026, 11, 30, 10, tzinfo=UTC)
TASK_ID = "01J9ZQ3V7Y4M2K8N6P5R3T1W0X"
AGAIN = OrderAgain(kind="image_to_video", input={"source": TASK_ID, "seconds": 4})


def task(state: TaskState, *steps: tuple[TaskState, int, str], id: str = TASK_ID) -> TaskView:  # noqa: A002 - the view's own word
    ended = state in (TaskState.FAILED, TaskState.DEAD, TaskState.CANCELED)
    charge = "released" if ended else "settled" if state.done else "held"
    timeline = [
        StepView(state=each, at=BEGUN + timedelta(seconds=7 * at), attempt=attempt, reason=reason)
        for at, (each, attempt, reason) in enumerate(steps)
    ]
    return TaskView(
        id=id,
        kind="image_to_video",
        state=state,
        done=state.done,
        message=SENTENCES[state],
        attempt=timeline[-1].attempt if timeline else 1,
        created_at=BEGUN,
        credits=ChargeView(amount=8, state=charge),
        timeline=timeline,
        error=ErrorView(code="worker-lost", reason="The worker was lost.") if ended else None,
        order_again=AGAIN if ended else None,
    )


RENDERING = task(
    TaskState.RENDERING,
    (TaskState.QUEUED, 1, "ordered"),
    (TaskState.RENDERING, 1, "claimed"),
)
CHECKING = task(
    TaskState.CHECKING,
    (TaskState.QUEUED, 1, "ordered"),
    (TaskState.RENDERING, 1, "claimed"),
    (TaskState.QUEUED, 2, "worker-lost"),
    (TaskState.RENDERING, 2, "claimed"),
    (TaskState.CHECKING, 2, "overdue"),
)
DEAD = task(
    TaskState.DEAD,
    (TaskState.QUEUED, 1, "ordered"),
    (TaskState.RENDERING, 1, "claimed"),
    (TaskState.QUEUED, 2, "worker-lost"),
    (TaskState.RENDERING, 2, "claimed"),
    (TaskState.DEAD, 2, "worker-lost"),
)
EXPIRED_TASK = task(TaskState.DELIVERED, (TaskState.DELIVERED, 1, "ok")).model_copy(
    update={
        "message": EXPIRED,
        "order_again": AGAIN,
        "result": ResultView(
            url=None,
            content_type="video/mp4",
            bytes=317_000,
            sha256="0" * 64,
            seconds=4,
            width=1280,
            height=720,
            codec="h264",
            expires_at=BEGUN,
            notice=None,
            thumbnails=[],
        ),
    }
)
DEAD_LIST = DeadList(
    tasks=[
        DeadTask(account="alice", task=DEAD),
        DeadTask(account="bob", task=DEAD.model_copy(update={"id": TASK_ID[:-1] + "Y"})),
    ]
)
HEALTH = HealthView(
    overdue=0,
    dead=2,
    capped_at=1000,
    paces=[
        PaceView(kind="image_to_video", provider="fal", samples=180, p50=41.2, p99=97.5, window=195)
    ],
)
AUDIT = AuditView(
    started_at=BEGUN,
    finished_at=BEGUN,
    accounts=3,
    tasks=14,
    entries=40,
    skipped=1,
    found=1,
    differences=[
        DifferenceView(
            account="alice", code="balance-differs", subject="available", detail="10, not 12"
        )
    ],
)
SPEND = SpendList(
    as_of=BEGUN,
    lines=[
        SpendView(
            provider="fal",
            day="2026-11-30",
            attempts=4,
            charged=3,
            free=0,
            possible=1,
            units=20,
            settled=30,
        )
    ],
)
