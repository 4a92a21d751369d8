"""Without the fast path: the sweeper alone ends every task."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from functions.domain.states import TaskState
from functions.domain.tasks import Task
from local import emulator, stack
from local.faults import FaultProxy
from local.instance import Instance
from local.stack import Stack
from tests.e2e.backstage import Backstage
from tests.e2e.clients import clip_of, funded, ordered, until, uploaded
from tests.e2e.conftest import opened
from tests.workers import run_pid

STAGES_SECONDS = 15 * 60  # a lost message is sent again after 120 s, a lost workflow after 360 s

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


PATIENCE_SECONDS = 180.0
RESEND_SECONDS = 20.0  # a message that no worker took by then is sent again
NEXT = {TaskState.QUEUED: TaskState.VERIFYING, TaskState.VERIFYING: TaskState.DELIVERED}


def path_of(task: Task) -> list[str]:
    return [step.state for step in task.history]


def swept_on(backstage: Backstage, account: str, state: TaskState) -> int:
    """Let the sweeper come as often as it takes until a task is past a state; count its visits."""
    until(lambda: backstage.task(account).state in (state, TaskState.DELIVERED))
    visits, sent_at = 0, -RESEND_SECONDS
    end = time.monotonic() + PATIENCE_SECONDS
    following = NEXT[state]
    while backstage.task(account).state is not following:
        assert time.monotonic() < end, backstage.task(account).history
        waits = backstage.task(account).state is state
        if waits and time.monotonic() - sent_at > RESEND_SECONDS:
            backstage.sweep([backstage.task(account)])
            visits, sent_at = visits + 1, time.monotonic()
        time.sleep(0.2)
    return visits


def test_with_the_relay_off_the_sweeper_delivers(
    rough: tuple[Stack, FaultProxy], photo: bytes
) -> None:
    """Its deadlines are moved to now; everything else takes its course."""
    live, _ = rough
    with opened(live) as (backstage, operator), closing(funded(live, operator, 2)) as customer:
        backstage.switch("relay", on=False)
        try:
            ordered(customer, clip_of(uploaded(customer, photo)))
            assert backstage.task(customer.account).state is TaskState.QUEUED
            sent = swept_on(backstage, customer.account, TaskState.QUEUED)
            started = swept_on(backstage, customer.account, TaskState.VERIFYING)
        finally:
            backstage.switch("relay", on=True)
        task = backstage.task(customer.account)
        balance = customer.get("/v1/credits").json()

    assert sent >= 1
    assert started >= 1
    assert path_of(task) == ["queued", "rendering", "verifying", "delivered"]
    assert balance == {"available": 0, "held": 0, "spent": 2}


@pytest.fixture
def own_stack(tmp_path: Path) -> Iterator[Stack]:
    instance = Instance(folder=tmp_path, port=0)
    yield stack.up(instance, guardian=run_pid())
    emulator.stop(instance)


@pytest.mark.slow
def test_with_the_relay_off_the_schedule_alone_delivers(own_stack: Stack, photo: bytes) -> None:
    """Nothing is moved and nobody is called: the deployed schedule does it all."""
    with (
        opened(own_stack) as (backstage, operator),
        closing(funded(own_stack, operator, 2)) as customer,
    ):
        backstage.switch("relay", on=False)
        ordered(customer, clip_of(uploaded(customer, photo)))
        until(lambda: backstage.task(customer.account).state.done, STAGES_SECONDS)
        task = backstage.task(customer.account)

    assert path_of(task) == ["queued", "rendering", "verifying", "delivered"]
