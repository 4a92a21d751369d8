"""Made-up tasks and orders."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from functions.domain.deadlines import Limits
from functions.domain.states import TaskState
from functions.domain.tasks import Output, Task, opened
from functions.domain.tickets import NewTask
from tests.doubles.world import START

LIMITS = Limits()


def ulid(number: int) -> str:
    """A well-formed id, in the order of its numbers."""
    return f"01J{number:023d}"


def task(number: int = 1, *, now: datetime = START, **fields: Any) -> Task:
    """A task just ordered."""
    first = Task(
        account="alice",
        id=ulid(number),
        kind="image_to_video",
        provider="motion",
        lane="image_to_video",
        resource=f"photo-{number}",
        price=8,
        state=TaskState.QUEUED,
        created_at=now,
    )
    return opened(replace(first, **fields), now=now, limits=LIMITS)


def new_task(number: int = 1, **fields: Any) -> NewTask:
    """What creating it writes. `key` and `print` stand for key and request."""
    key = fields.pop("key", f"key-{number}")
    print_ = fields.pop("fingerprint", f"print-{number}")
    open_max = fields.pop("open_max", 50)
    made = task(number, **fields)
    return NewTask(
        task=made,
        input={"order": {"seconds": 4}, "source": "in/alice/x", "etag": '"e"'},
        key_hash=key,
        fingerprint=print_,
        open_max=open_max,
        keep_until=made.created_at + timedelta(days=7),
        input_until=made.created_at + timedelta(days=180),
    )


OUTPUT = Output(
    key="out/alice/1.mp4",
    content_type="video/mp4",
    size_bytes=1234,
    sha256="ab" * 32,
    seconds=4.04,
    width=1280,
    height=720,
    codec="h264",
    expires_at=START + timedelta(days=1),
)
