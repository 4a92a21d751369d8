"""A provider's whole way on the deployed template, over a stand-in that counts what it bills."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import httpx
import pytest

from functions.domain.attempts import token_of
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from local.customer import Customer
from local.fakes.fal import USER, signed
from local.stack import Stack
from local.standin import StandIn
from tests.e2e.backstage import Backstage
from tests.e2e.clients import clip_of, funded, ordered, until, uploaded
from tests.e2e.conftest import FAL_SECONDS, opened

PRICE = 2 * FAL_SECONDS
CHARGED = {"available": 0, "held": 0, "spent": PRICE}

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


@dataclass(frozen=True)
class Order:
    live: Stack
    backstage: Backstage
    customer: Customer
    path: str

    @property
    def task(self) -> Task:
        return self.backstage.task(self.customer.account)

    @property
    def accepted(self) -> bool:
        return self.task.job is not None

    @property
    def delivered(self) -> bool:
        return self.task.state is TaskState.DELIVERED

    def called(self, attempt: Task, body: bytes, headers: dict[str, str]) -> int:
        """Call an attempt's hook as fal does."""
        url = f"{self.live.api_url}/v1/hooks/fal/{token_of(attempt)}"
        sent = httpx.post(url, content=body, headers=headers, trust_env=False, timeout=30)
        return sent.status_code

    def ledger(self) -> list[str]:
        return [
            entry["kind"] for entry in self.customer.get("/v1/credits/ledger").json()["entries"]
        ]

    def balance(self) -> dict[str, int]:
        found: dict[str, int] = self.customer.get("/v1/credits").json()
        return found


@contextmanager
def order_from_fal(live: Stack, photo: bytes) -> Iterator[Order]:
    with opened(live) as (backstage, operator), closing(funded(live, operator, PRICE)) as customer:
        body = clip_of(uploaded(customer, photo), provider="fal")
        body["input"]["seconds"] = FAL_SECONDS
        yield Order(live, backstage, customer, ordered(customer, body))


def test_a_clip_comes_by_webhook_and_is_billed_and_charged_once(
    local_stack: Stack, fal: StandIn, photo: bytes
) -> None:
    billed = fal.billed()
    with order_from_fal(local_stack, photo) as order:
        until(lambda: order.delivered)
        task = order.customer.get(order.path).json()

        assert [step["state"] for step in task["timeline"]] == [
            "queued",
            "rendering",
            "verifying",
            "delivered",
        ]
        assert fal.billed() - billed == 1
        assert order.ledger() == ["settle", "hold", "grant"]
        assert order.balance() == CHARGED


def test_a_lost_webhook_is_made_good_by_the_sweeper(
    local_stack: Stack, fal: StandIn, photo: bytes
) -> None:
    billed = fal.billed()
    fal.script({"hooks": "never"})
    with order_from_fal(local_stack, photo) as order:
        until(lambda: order.accepted)
        silent = order.backstage.sweep([order.task])
        until(lambda: order.task.state is not TaskState.RENDERING)
        order.backstage.sweep([order.task])
        until(lambda: order.delivered)

        assert silent["checking"] >= 1
        assert "checking" in [step.state for step in order.task.history]
        assert fal.billed() - billed == 1
        assert order.ledger() == ["settle", "hold", "grant"]
        assert order.balance() == CHARGED


def test_a_forged_call_is_refused_and_the_genuine_one_counts(
    local_stack: Stack, fal: StandIn, photo: bytes
) -> None:
    fal.script({"hooks": "never", "run_seconds": 0})
    with order_from_fal(local_stack, photo) as order:
        until(lambda: order.accepted)
        before = order.task
        assert before.job is not None
        body = json.dumps({"request_id": before.job.id, "status": "OK", "payload": None}).encode()
        headers = signed(before.job.id, USER, str(int(before.created_at.timestamp())), body)

        assert order.called(before, bytes([body[0] ^ 1]) + body[1:], headers) == 401
        assert order.called(before, body, headers | {"x-fal-webhook-user-id": "user_other"}) == 401
        assert order.task == before
        assert order.called(before, body, headers) == 200
        until(lambda: order.delivered)
        assert order.called(before, body, headers) == 200  # once more, and late
        assert order.balance() == CHARGED
