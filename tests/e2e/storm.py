"""Customers order while calls fail, tickets come twice and workers die; and everything ends."""

import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from functions.domain.states import TaskState
from functions.domain.tasks import Task
from local.customer import Customer
from local.faults import FaultProxy, Rule, reset
from local.stack import Stack
from tests.e2e.backstage import Backstage
from tests.e2e.clients import clip_of, funded, ordered, uploaded
from tests.e2e.conftest import opened

PRICE = 2
CLIENTS = 6
LOOK_SECONDS = 0.5

Wave = list[Rule]


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What is done to the stack, spread over the run."""

    rules: Iterable[Wave]
    outages: int = 0  # moments at which every call fails
    outage_seconds: float = 8.0  # more than a call's own retries outlast
    power_cuts: int = 0  # moments at which all renderers die
    patience: float = 10.0  # how long a task may stand still before its deadline is moved
    most_seconds: float = 600.0


@dataclass(kw_only=True)
class Outcome:
    """How it went."""

    tasks: list[Task]
    acknowledged: dict[str, set[str]]  # paths by account
    balances: dict[str, dict[str, int]]
    killed: int = 0
    twice: int = 0
    calls: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def states(self) -> Counter[str]:
        return Counter(task.state.value for task in self.tasks)

    def figures(self) -> str:
        attempts = Counter(task.attempt for task in self.tasks)
        return (
            f"{len(self.tasks)} tasks from {len(self.balances)} accounts: {dict(self.states)}; "
            f"attempts {dict(sorted(attempts.items()))}; {self.calls} AWS calls, "
            f"{sum(self.faults.values())} faults {dict(self.faults)}; "
            f"{self.killed} render processes killed, {self.twice} tickets sent twice"
        )


class Storm:
    """One run against one stack."""

    def __init__(self, live: Stack, proxy: FaultProxy, photo: bytes, weather: Weather) -> None:
        self.live, self.proxy, self.photo, self.weather = live, proxy, photo, weather
        self.killed = self.power_cuts = self.outages = self.expected = 0
        self.twice: set[str] = set()

    def run(self, *, accounts: int, each: int) -> Outcome:
        self.expected = accounts * each
        before, calls = self.proxy.injected(), self.proxy.passed()
        with opened(self.live) as (backstage, operator), ExitStack() as stack:
            customers = [
                stack.enter_context(closing(funded(self.live, operator, PRICE * each)))
                for _ in range(accounts)
            ]
            self.proxy.play(*self.weather.rules)
            paths = self._order(backstage, customers, each)
            self._until_all_end(backstage, [one.account for one in customers])
            self.proxy.calm()
            return Outcome(
                tasks=backstage.tasks(*(one.account for one in customers)),
                acknowledged=paths,
                balances={one.account: one.get("/v1/credits").json() for one in customers},
                killed=self.killed,
                twice=len(self.twice),
                calls=self.proxy.passed() - calls,
                faults=self.proxy.injected() - before,
            )

    def _order(
        self, backstage: Backstage, customers: list[Customer], each: int
    ) -> dict[str, set[str]]:
        """Let clients order, and the rest of the storm go on meanwhile."""
        paths: dict[str, set[str]] = {one.account: set() for one in customers}

        def one_order(customer: Customer, number: int) -> None:
            source = uploaded(customer, self.photo + b"%06d" % number)
            paths[customer.account].add(ordered(customer, clip_of(source)))

        with ThreadPoolExecutor(CLIENTS) as clients:
            asked = [
                clients.submit(one_order, customer, number)
                for number in range(each)
                for customer in customers
            ]
            while not all(one.done() for one in asked):
                self._blow(backstage, [one.account for one in customers])
            for one in asked:
                one.result()
        return paths

    def _until_all_end(self, backstage: Backstage, accounts: list[str]) -> None:
        end = time.monotonic() + self.weather.most_seconds
        while not all(task.state.done for task in backstage.tasks(*accounts)):
            assert time.monotonic() < end, Counter(t.state for t in backstage.tasks(*accounts))
            self._blow(backstage, accounts)

    def _blow(self, backstage: Backstage, accounts: list[str]) -> None:
        tasks = backstage.tasks(*accounts)
        for task in tasks:
            if task.state is TaskState.QUEUED and task.id not in self.twice:
                backstage.send_again(task)
                self.twice.add(task.id)
        over = sum(task.state.done for task in tasks) / self.expected
        if self.outages < self.weather.outages * over:
            self.outages += 1
            self._outage()
        rendering = any(task.state is TaskState.RENDERING for task in tasks)
        if rendering and self.power_cuts <= (self.weather.power_cuts - 1) * over:
            self.power_cuts += 1
            self.killed += backstage.kill("render")
        backstage.hurry(*accounts, patience=self.weather.patience)
        time.sleep(LOOK_SECONDS)

    def _outage(self) -> None:
        self.proxy.play(reset(1.0))
        time.sleep(self.weather.outage_seconds)
        self.proxy.play(*self.weather.rules)
