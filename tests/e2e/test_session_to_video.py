"""A recorded session's whole way, with a worker that is killed, told to end, and called off."""

import json
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.media.chromium import find
from functions.media.replay_plan import CREDITS_PER_MINUTE
from local import worker
from local.customer import Customer
from local.session_recording import record_console
from local.stack import Stack
from tests.e2e.backstage import Backstage
from tests.e2e.clients import funded, ordered, until
from tests.e2e.conftest import opened
from tests.media.sessions import Session, box
from tests.tiny_disk import no_tiny_disks, tiny_disk
from tests.workers import shared_folder

KIND = "session_to_video"
PRICE = CREDITS_PER_MINUTE
LONG_SECONDS, SHORT_SECONDS = 90, 12

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.emulator,
    pytest.mark.slow,
    pytest.mark.skipif(
        find() is None and os.environ.get("CI") != "true", reason="Chromium is missing"
    ),
]


def busy(path: Path, seconds: int) -> Path:
    """A session in which something changes all the time; each call makes another one."""
    field = box(0, 0, 600, "rgb(20,20,20)")
    session = Session(field, size=(1280, 720))
    for frame in range(seconds * 25):
        session.recolour(frame * 40, field, f"rgb({frame % 200},{frame * 7 % 200},90)")
    session.add(0, 5, tag=secrets.token_hex(8), payload={})
    return session.end(seconds * 1000).write(path)


@dataclass(slots=True)
class Desk:
    """A customer with a stack and its worker."""

    live: Stack
    backstage: Backstage
    customer: Customer
    folder: Path

    def order(self, seconds: int, **more: Any) -> None:
        self.order_film(busy(self.folder / "session.json", seconds), **more)

    def order_film(self, file: Path, **more: Any) -> None:
        source = self.customer.upload(file, "application/json", KIND)
        wanted = {"source": source, "minutes": 2, **more}
        ordered(self.customer, {"kind": KIND, "input": wanted})

    def task(self) -> Task:
        return self.backstage.task(self.customer.account)

    def shown(self) -> Any:
        return self.customer.get(f"/v1/tasks/{self.task().id}").json()

    def worker(self) -> int:
        pid = worker.running(self.live.instance)
        assert pid is not None
        return pid

    def children(self) -> list[int]:
        """What renders for the worker: its children, their children, and so on."""
        told = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True
        ).stdout
        mine = str(worker.scratch(self.live))
        lines = [line.split(maxsplit=1) for line in told.splitlines()]
        return [int(pid) for pid, command in lines if mine in command] + [
            int(pid) for pid, command in lines if "workshop_child" in command and _of(pid, mine)
        ]

    def filming(self) -> bool:
        return len(self.children()) > 2

    def left(self) -> list[str]:
        folder = worker.scratch(self.live)
        return [path.name for path in folder.iterdir()] if folder.is_dir() else []

    def through(self, patience: float = 25) -> Task:
        """Wait until the task has ended; deadlines come early, so that it takes no minutes."""

        def hurried() -> bool:
            self.backstage.hurry(self.customer.account, patience=patience)
            return self.task().state.done

        until(hurried, 180)
        return self.task()

    def until_filming(self) -> None:
        """Also where the ticket went to a worker that was stopped while it asked for one."""

        def filming() -> bool:
            self.backstage.hurry(self.customer.account, patience=20)
            return self.filming()

        until(filming)

    def restart(self, *, disk_mb: int) -> Path:
        """Start the worker anew where its disk is that small; return that disk, seen from here."""
        worker.stop(self.live.instance)
        folder = worker.scratch(self.live)
        worker.start(self.live, within=tiny_disk(folder, disk_mb << 10))
        disk = Path(f"/proc/{self.worker()}/root") / folder.relative_to("/")
        until(lambda: shutil.disk_usage(disk).total == disk_mb << 20)
        return disk

    def ledger(self) -> list[str]:
        entries = self.customer.get("/v1/credits/ledger").json()["entries"]
        return sorted(entry["kind"] for entry in entries)


def _of(pid: str, mine: str) -> bool:
    try:
        return mine in Path(f"/proc/{pid}/environ").read_text("utf-8", "replace")
    except OSError:
        return False


@pytest.fixture
def desk(
    local_stack: Stack, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """The stack's worker, for one test at a time. It is there again afterwards."""
    with (
        shared_folder(tmp_path_factory, "worker-turn"),
        opened(local_stack) as (backstage, operator),
        closing(funded(local_stack, operator, 2 * PRICE)) as customer,
    ):
        worker.start(local_stack)
        yield Desk(local_stack, backstage, customer, tmp_path)
        worker.start(local_stack)


@pytest.fixture
def small_desk(desk: Desk) -> Iterator[Desk]:
    """A desk whose worker may be given a disk of its own; afterwards there is the usual one."""
    if no_tiny_disks():
        pytest.skip(str(no_tiny_disks()))
    yield desk
    worker.stop(desk.live.instance)


def test_a_worker_that_is_killed_costs_an_attempt_and_one_charge(desk: Desk) -> None:
    desk.order(SHORT_SECONDS)
    until(desk.filming)

    os.kill(desk.worker(), signal.SIGKILL)

    until(lambda: not desk.children(), 10)
    assert desk.left() != []
    worker.start(desk.live)
    until(lambda: desk.left() == [])
    desk.backstage.sweep([desk.task()])
    task = desk.through()
    assert (task.state, task.attempt) == (TaskState.DELIVERED, 2)
    assert "worker-lost" in [step.reason for step in task.history]
    assert desk.ledger() == ["grant", "hold", "settle"]
    until(lambda: desk.left() == [])


def test_a_worker_that_is_told_to_end_gives_back_and_no_attempt_is_spent(desk: Desk) -> None:
    desk.order(LONG_SECONDS, speed=3)
    until(desk.filming)

    os.kill(desk.worker(), signal.SIGTERM)

    until(lambda: worker.running(desk.live.instance) is None, 20)
    assert (desk.task().state, desk.task().attempt) == (TaskState.QUEUED, 1)
    assert (desk.children(), desk.left()) == ([], [])
    worker.start(desk.live)
    task = desk.through()
    assert (task.state, task.attempt) == (TaskState.DELIVERED, 1)
    assert "worker-stopped" in [step.reason for step in task.history]
    assert desk.ledger() == ["grant", "hold", "settle"]


def test_a_cancel_ends_the_render_and_gives_the_credits_back(desk: Desk) -> None:
    desk.order(LONG_SECONDS)
    until(lambda: desk.shown()["progress"] is not None)
    told = desk.shown()["progress"]
    assert 0 < told["done"] < told["total"] == LONG_SECONDS * 25 + 1

    desk.customer.post(f"/v1/tasks/{desk.task().id}/cancel")

    until(lambda: not desk.children(), 10)  # far less than the render would still take
    assert desk.task().state is TaskState.CANCELED
    assert desk.ledger() == ["grant", "hold", "release"]
    until(lambda: desk.left() == [])
    assert desk.worker()


def test_a_recording_that_gives_more_than_was_ordered_is_refused(desk: Desk) -> None:
    desk.order(LONG_SECONDS, minutes=1)

    task = desk.through()

    assert (task.state, task.code) == (TaskState.FAILED, "longer-than-ordered")
    assert task.reason is not None
    assert "Order 2" in task.reason
    assert desk.ledger() == ["grant", "hold", "release"]


def test_a_disk_that_fills_up_costs_an_attempt_and_the_next_one_delivers(small_desk: Desk) -> None:
    desk = small_desk
    disk = desk.restart(disk_mb=320)
    desk.order(LONG_SECONDS, speed=3)
    desk.until_filming()

    filler = disk / "filler"
    filler.write_bytes(bytes(96 << 20))
    until(lambda: desk.task().attempt == 2)
    filler.unlink()

    until(lambda: not any(disk.iterdir()), 10)
    desk.backstage.sweep([desk.task()])
    task = desk.through()
    assert (task.state, task.attempt) == (TaskState.DELIVERED, 2)
    assert "disk-full" in [step.reason for step in task.history]
    assert desk.ledger() == ["grant", "hold", "settle"]
    until(lambda: not any(disk.iterdir()), 10)


def test_a_disk_that_stays_full_ends_the_task_and_the_credits_come_back(small_desk: Desk) -> None:
    desk = small_desk
    disk = desk.restart(disk_mb=64)
    pid = desk.worker()
    desk.order(SHORT_SECONDS)

    task = desk.through(patience=1)

    assert (task.state, task.code) == (TaskState.DEAD, "disk-full")
    assert {step.reason for step in task.history} >= {"ordered", "claimed", "disk-full"}
    assert desk.ledger() == ["grant", "hold", "release"]
    assert list(disk.iterdir()) == []
    assert desk.worker() == pid  # it is as good as before


def test_the_console_in_use_is_recorded_and_filmed(desk: Desk, photo: bytes) -> None:
    file = desk.folder / "photo.jpg"
    file.write_bytes(photo)
    email = f"seen-{secrets.token_hex(4)}@example.com"

    recorded = record_console(desk.live, email, file, desk.folder / "console.json")

    text = recorded.path.read_text("utf-8")
    events = json.loads(text)
    assert recorded.events == len(events)
    typed = [event["data"]["text"] for event in events if event["data"].get("source") == 5]
    assert email in typed
    assert "*" * 10 in typed
    assert "Local-" not in text  # how its password begins
    assert "eyJ" not in text  # how every token begins
    assert "--accent" in text  # the style sheet came along
    pictures = [address for event in events for address in _pictures(event)]
    assert len(pictures) >= 3  # mark, photo, poster
    assert [each[:60] for each in pictures if not each.startswith("data:image/")] == []

    desk.order_film(recorded.path)
    task = desk.through()
    assert (task.state, task.code) == (TaskState.DELIVERED, "ok")
    seconds = (events[-1]["timestamp"] - events[0]["timestamp"]) / 1000
    assert desk.shown()["result"]["seconds"] == pytest.approx(seconds, abs=0.5)
    assert desk.shown()["result"]["notice"] is None


def _pictures(value: Any) -> Iterator[str]:
    """Addresses of pictures in an event, as nodes and as attributes that change."""
    if isinstance(value, list):
        for each in value:
            yield from _pictures(each)
    elif isinstance(value, dict):
        named = value.get("attributes")
        if isinstance(named, dict):
            names = ("poster", "src") if value.get("tagName") == "img" else ("poster",)
            yield from (named[name] for name in names if named.get(name))
        for each in value.values():
            yield from _pictures(each)
