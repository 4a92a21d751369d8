"""Tasks and lists in every state that a page can meet, in the API's own shapes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from functions.analysis.result import DEAF
from functions.analysis.schema import (
    MadeBy,
    Point,
    Result,
    Shot,
    Sound,
    Span,
    Utterance,
    Video,
)
from functions.domain.labels import EXPIRED, SENTENCES
from functions.domain.states import TaskState
from functions.entrypoints.http.models import (
    AuditView,
    ChargeView,
    CheckView,
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

# What a model could say to harm whoever reads it.
HOSTILE = (
    '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'
    "</p><a href='javascript:window.harmed=1'>here</a> {count} **bold** &lt;b&gt;"
)
ANALYSIS = Result(
    version=1,
    video=Video(seconds=125.5, width=1280, height=720, frames_per_second=29.97, codec="h264"),
    sound=Sound(loudness=-18.4, silences=[Span(start=118.0, end=125.5)], heard_seconds=118.0),
    language="en",
    summary="A lamp for the tent is unpacked, lit and hung up. It folds into a pocket.",
    transcript=[
        Utterance(start=0.5, end=4.2, text="This is Ember, the lamp that fits into your pocket."),
        Utterance(start=62.0, end=66.5, text="One charge lasts for forty hours."),
    ],
    shots=[
        Shot(
            number=1,
            start=0.0,
            end=61.4,
            description="A hand takes a small orange lamp out of a jacket and unfolds it.",
            on_screen_text="EMBER 2: the pocket lamp",
            key_frame=1,
        ),
        Shot(
            number=2,
            start=61.4,
            end=118.0,
            description="The lamp hangs in a tent at night and lights all of it.",
            on_screen_text=None,
            key_frame=2,
        ),
        Shot(
            number=3,
            start=118.0,
            end=125.5,
            description="The maker's name on a dark ground.",
            on_screen_text=None,
            key_frame=None,
        ),
    ],
    selling_points=[
        Point(text="It fits into a pocket.", evidence=[Span(start=0.5, end=4.2)]),
        Point(
            text="It shines for forty hours.",
            evidence=[Span(start=62.0, end=66.5), Span(start=119.0, end=121.0)],
        ),
    ],
    absent={},
    made_by=MadeBy(
        provider="gemini",
        model="gemini-3.8-flash",
        questions=1,
        input_tokens=36_120,
        output_tokens=912,
        dollars="0.013116",
    ),
)
DEAF_ANALYSIS = ANALYSIS.model_copy(
    update={"language": None, "transcript": None, "absent": dict.fromkeys(["transcript"], DEAF)}
)


def harmful(found: Result) -> Result:
    """Say something harmful wherever somebody else has the word."""

    def poisoned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: poisoned(each) for name, each in value.items()}
        if isinstance(value, list):
            return [poisoned(each) for each in value]
        return HOSTILE if isinstance(value, str) else value

    said = found.model_dump() | {"sound": None, "absent": {"sound": ""}}
    return Result.model_validate(poisoned(said) | {"language": HOSTILE[:35]})


def analysed(*pictures: str) -> TaskView:
    """A delivered analysis with these key frames."""
    made = task(TaskState.DELIVERED, (TaskState.DELIVERED, 1, "ok"))
    result = ResultView(
        url="about:blank",
        content_type="application/json",
        bytes=2_400,
        sha256="0" * 64,
        seconds=125.5,
        width=1280,
        height=720,
        codec="json",
        expires_at=BEGUN,
        notice=None,
        thumbnails=list(pictures),
        checks=[CheckView(name="shots", value="3", limit="without gaps", verdict="pass")],
    )
    return made.model_copy(update={"kind": "video_analysis", "result": result})
