"""Many clients at once on few accounts: what was acknowledged is there, once, and paid for once."""

import random
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from threading import Lock

import pytest

from functions.domain.states import TaskState
from local import faults
from local.customer import Customer, RefusedByApi
from local.faults import FaultProxy
from local.stack import Stack
from tests.e2e.backstage import Backstage
from tests.e2e.clients import clip_of, funded, insisted, uploaded
from tests.e2e.conftest import opened
from tests.e2e.storm import PRICE

THREADS = 16
ACCOUNTS = 3
REFUSALS = {"resource-busy", "insufficient-credit", "account-full"}

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


@dataclass
class Account:
    """An account whose owner has several devices, which share keys but not what they know."""

    customer: Customer
    sources: list[str]
    keys: list[str]
    granted: int
    acknowledged: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: list[str] = field(default_factory=list)
    canceled: int = 0
    lock: Lock = field(default_factory=Lock)

    def order(self, number: int) -> None:
        """Order under one of the keys. A key always comes with the same body."""
        key, source = self.keys[number], self.sources[number % len(self.sources)]
        try:
            made = insisted(lambda: self.customer.post("/v1/tasks", clip_of(source), key=key))
        except RefusedByApi as refusal:
            with self.lock:
                self.refused.append(refusal.code)
        else:
            with self.lock:
                self.acknowledged[key].add(made.json()["id"])

    def cancel(self, choice: random.Random) -> None:
        with self.lock:
            known = sorted(task for tasks in self.acknowledged.values() for task in tasks)
        if known:
            path = f"/v1/tasks/{choice.choice(known)}/cancel"
            if insisted(lambda: self.customer.post(path)).json()["state"] == "canceled":
                with self.lock:
                    self.canceled += 1


def accounts(
    live: Stack, operator: Customer, photo: bytes, *, keys: int, afforded: int
) -> Iterable[Account]:
    for _ in range(ACCOUNTS):
        customer = funded(live, operator, afforded * PRICE)
        sources = [uploaded(customer, photo + b"%04d" % one) for one in range(keys // 2)]
        named = [secrets.token_urlsafe(24) for _ in range(keys)]
        yield Account(customer, sources, named, afforded * PRICE)


def rush(crowd: list[Account], *, moves: int, cancels: float) -> None:
    """Let all threads go at the accounts at once."""

    def client(seed: int) -> None:
        choice = random.Random(seed)
        for _ in range(moves):
            account = choice.choice(crowd)
            if choice.random() < cancels:
                account.cancel(choice)
            else:
                account.order(choice.randrange(len(account.keys)))

    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(client, seed) for seed in range(THREADS)]:
            done.result()


def check(account: Account, backstage: Backstage) -> dict[str, int]:
    """Compare what the clients were told with what the stack has."""
    owner = account.customer
    tasks = {task.id: task for task in backstage.tasks(owner.account)}
    acknowledged = [task for ids in account.acknowledged.values() for task in ids]
    assert all(len(ids) == 1 for ids in account.acknowledged.values())
    assert sorted(acknowledged) == sorted(tasks)
    for task in acknowledged:
        assert owner.get(f"/v1/tasks/{task}").json()["id"] == task
    open_sources = [task.resource for task in tasks.values() if not task.state.done]
    assert len(open_sources) == len(set(open_sources))
    held = PRICE * len(open_sources)
    spent = PRICE * sum(task.state is TaskState.DELIVERED for task in tasks.values())
    balance: dict[str, int] = owner.get("/v1/credits").json()
    assert balance == {
        "available": account.granted - held - spent,
        "held": held,
        "spent": spent,
    }
    assert set(account.refused) <= REFUSALS
    return balance


def withdraw(account: Account, backstage: Backstage) -> None:
    for task in backstage.tasks(account.customer.account):
        if not task.state.done:
            account.customer.post(f"/v1/tasks/{task.id}/cancel")


def crowded(
    rough: tuple[Stack, FaultProxy],
    photo: bytes,
    *,
    moves: int,
    keys: int,
    afforded: int,
    cancels: float,
    render: bool,
) -> dict[str, int]:
    """Rush, check, and then end every task: by delivery, or by withdrawing it."""
    live, proxy = rough
    with opened(live) as (backstage, operator), ExitStack() as stack:
        crowd = list(accounts(live, operator, photo, keys=keys, afforded=afforded))
        names = [account.customer.account for account in crowd]
        for account in crowd:
            stack.enter_context(closing(account.customer))
        backstage.switch("relay", on=render)
        stack.callback(backstage.switch, "relay", on=True)
        proxy.play(faults.conflict(0.2), faults.lost_answer(0.02))
        before = proxy.injected()
        rush(crowd, moves=moves, cancels=cancels)
        proxy.calm()
        while render and not all(task.state.done for task in backstage.tasks(*names)):
            backstage.hurry(*names, patience=10.0)
        for account in crowd:
            check(account, backstage)
            withdraw(account, backstage)
            assert check(account, backstage)["held"] == 0
        injected, tasks = proxy.injected() - before, backstage.tasks(*names)
        return {
            "tasks": len(tasks),
            "delivered": sum(task.state is TaskState.DELIVERED for task in tasks),
            "orders": sum(len(each.acknowledged) + len(each.refused) for each in crowd),
            "refused": sum(len(each.refused) for each in crowd),
            "canceled": sum(each.canceled for each in crowd),
            "conflicts": injected["error:TransactionCanceledException"],
            "answers lost": injected["response:abort"],
        }


def test_sixteen_clients_on_three_accounts(
    rough: tuple[Stack, FaultProxy], photo: bytes, record_property: Callable[[str, object], None]
) -> None:
    """Nobody works on the tasks meanwhile, so all the writing is the clients'."""
    figures = crowded(rough, photo, moves=4, keys=8, afforded=3, cancels=0.25, render=False)

    record_property("concurrency", figures)
    print(figures)  # noqa: T201 - `make prove` shows it
    assert figures["conflicts"]
    assert figures["tasks"]


@pytest.mark.slow
def test_sixteen_clients_while_everything_is_rendered(
    rough: tuple[Stack, FaultProxy], photo: bytes, record_property: Callable[[str, object], None]
) -> None:
    figures = crowded(rough, photo, moves=60, keys=60, afforded=20, cancels=0.05, render=True)

    record_property("concurrency", figures)
    print(figures)  # noqa: T201 - `make prove` shows it
    assert figures["conflicts"]
    assert figures["tasks"]
