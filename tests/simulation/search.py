"""Breaks every AWS call of a scenario in every way, and then every call of what follows."""

import gc
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from functions.adapters.dynamodb_items import balance_of, entry_of, task_of
from functions.adapters.dynamodb_keys import BALANCE_SK, Item, entry_sk, lock_sk, moment, task_sk
from functions.domain.audit import Books, Lock
from functions.domain.states import TaskState
from functions.domain.tickets import Ticket
from functions.pipeline.ask import TRUNCATED
from functions.pipeline.check import begun_at
from tests.simulation.cloud import Cloud
from tests.simulation.faults import Plan, Taped, faults_of
from tests.simulation.invariants import violations
from tests.simulation.provider import attempts_of, lost
from tests.simulation.scenarios import Scenario, play, town
from tests.simulation.story import ACCOUNT, Story, plan_text

# What no stage acts on: equal futures must not look different because of it.
_DEAF = frozenset({"v", "created_at", "history", "code", "reason", "ttl", "at", "keep_until"})
_MOMENTS = frozenset({"due_at", "not_before", "queued_at"})
_NAMES = re.compile(
    r"\b(?:01[0-9A-HJKMNP-TV-Z]{24}|(?:[0-9a-f]{16}){1,2}|[0-9a-f]{24}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
_AT_PROVIDER = frozenset({TaskState.RENDERING, TaskState.CHECKING})


RUNS_PER_COLLECTION = 100


class Merged(BaseException):
    """This run has come to where an earlier one has been."""


@dataclass(slots=True)
class Figures:
    """What a search did. `wrongs` is empty, or somebody has to read it."""

    calls: int = 0  # of the undisturbed run
    runs: int = 0
    merged: int = 0
    states: int = 0  # told apart, between processes
    wrongs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Search:
    """All runs of one scenario with up to `depth` faults.

    The stages keep nothing between processes, so a run that comes to a state in which another
    run with as many faults left has been will go on like that one, and is left there.
    """

    cloud: Cloud
    scenario: Scenario
    workdir: Path
    depth: int
    every: int = 1  # of the places where a fault can be, for a shorter search
    first_only: bool = False  # end at the first thing that is wrong
    progress: Callable[[Figures, float], None] = lambda _figures, _share: None
    figures: Figures = field(default_factory=Figures)
    _seen: dict[tuple[int, bytes], int] = field(default_factory=dict)  # and in which run
    _passed: set[tuple[int, bytes]] = field(default_factory=set)  # in this run

    def run(self) -> Figures:
        """Search."""
        gc.disable()  # every call makes cycles; between runs is soon enough
        try:
            self._explore({}, (), 0.0, 1.0)
        finally:
            gc.enable()
        return self.figures

    def _explore(self, plan: Plan, base: Sequence[Taped], share: float, width: float) -> None:
        left = self.depth - len(plan)
        tape = self._lived(plan, base, left)
        calls = self.cloud.breaker.calls
        if not plan:
            self.figures.calls = len(calls)
        if not left or (self.first_only and self.figures.wrongs):
            return
        first = max(plan, default=0) + 1
        places = [
            (number, fault)
            for number in range(first, len(calls) + 1)
            for fault in faults_of(calls[number - 1])
        ][:: self.every]
        for count, (number, fault) in enumerate(places):
            if self.first_only and self.figures.wrongs:
                return
            start = share + width * count / len(places)
            self._explore({**plan, number: fault}, tape, start, width / len(places))
            self.progress(self.figures, start)

    def _lived(self, plan: Plan, base: Sequence[Taped], left: int) -> Sequence[Taped]:
        breaker = self.cloud.breaker
        self.cloud.reset(plan, base, taping=left > 0)
        story = Story(town=town(self.cloud, self.workdir))
        story.town.boundary = lambda: self._arrived(story, left)
        self.figures.runs += 1
        self._passed.clear()
        if self.figures.runs % RUNS_PER_COLLECTION == 0:
            gc.collect()
        wrongs: list[str] = []
        try:
            wrongs = play(self.scenario, story)
        except Merged:
            self.figures.merged += 1
        except AssertionError as error:
            wrongs = [str(error)]
        if set(breaker.hit) != set(plan):
            wrongs.append("a planned fault was not met")
        if wrongs:
            told = [self.scenario.name, plan_text(plan, story), *wrongs, "after:", *story.town.log]
            self.figures.wrongs.append("\n  ".join(told))
        return breaker.tape

    def _arrived(self, story: Story, left: int) -> None:
        if not self.cloud.breaker.live:
            return
        items = self.cloud.items()
        state = (left, blake2b(state_text(story, items).encode(), digest_size=16).digest())
        first = self._seen.setdefault(state, self.figures.runs)
        if first != self.figures.runs:
            raise Merged
        assert state not in self._passed, "it goes in circles"
        self._passed.add(state)
        self.figures.states += 1
        books = books_of(items, ACCOUNT)
        now, purged = story.town.ports.clock.now(), story.purged
        wrongs = violations(books, self.cloud.files(), ended=False, now=now, purged=purged)
        market, model = story.town.ports.market, story.town.ports.model
        if market:
            wrongs += market.violations(attempts_of(items))
        if model:
            wrongs += model.violations(attempts_of(items))
        known = purged | {task.id for task in books.tasks}
        if set(story.acknowledged) - known or len(books.tasks) > 1:
            wrongs.append(f"answered with {story.acknowledged}")
        assert not wrongs, "\n  ".join(wrongs)


def books_of(items: Sequence[Item], account: str) -> Books:
    """Read an account from the whole table."""
    balance: Item = next((item for item in items if item["sk"] == BALANCE_SK), {})
    return Books(
        account=account,
        balance=balance_of(balance),
        entries=tuple(entry_of(item) for item in _below(items, entry_sk(""))),
        tasks=tuple(task_of(item) for item in _below(items, task_sk(""))),
        locks=tuple(
            Lock(kind=kind, resource=resource, task=item["task"])
            for item in _below(items, lock_sk("", "").removesuffix("#"))
            for kind, resource in [str(item["sk"]).split("#", 2)[1:]]
        ),
    )


def _below(items: Sequence[Item], prefix: str) -> list[Item]:
    return [item for item in items if item["sk"].startswith(prefix)]


def state_text(story: Story, items: Sequence[Item]) -> str:
    """Write down all that the future depends on, with names and times made relative."""
    machine, ports = story.town, story.town.ports
    now = ports.clock.now()
    claims = sum(" rendering " in f" {line}" for item in items for line in item.get("history", ()))
    state = [
        story.state(),
        [
            _heard(item, now)
            for item in sorted(items, key=lambda item: str(item["sk"]))
            if not item["sk"].startswith("RATE#")  # budgets are never used up here
        ],
        [_record(record, now) for record in machine.records],
        [
            [*_asked(message.ticket), _seconds(message.visible_at, now), message.receives]
            for message in machine.messages
        ],
        [
            [run.attempt, run.to_fetch, run.finding and run.finding["output"]]
            for run in machine.runs
        ],
        [[hook.job, hook.phase, _seconds(hook.at, now), hook.tries] for hook in machine.hooks],
        ports.market and [ports.market.state(), lost(machine.log)],
        ports.model and [ports.model.state(), ports.model.excuses(machine.log)],
        [machine.habits.runs_lost, ports.renderer.calls - claims],
        [len(ports.renderer.script), str(ports.renderer.always), len(ports.renderer.meanwhile)],
        [len(ports.judge.script), sorted(machine.cloud.breaker.by_operation.items())],
        sorted(machine.cloud.files()),
    ]
    names: dict[str, str] = {}
    text = json.dumps(state, default=str)
    return _NAMES.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), text)


def _heard(item: Item, now: datetime) -> list[Any]:
    if item["sk"].startswith(("REPORT#", "LATE#")):
        return [item["sk"]]
    told = {name: value for name, value in item.items() if name not in _DEAF | {"out", "pk"}}
    for name in _MOMENTS & told.keys():
        told[name] = _seconds(moment(told[name]), now)
    states = [line.split(" ")[0::2][:2] for line in item.get("history", ())]
    cut = any(line.endswith(TRUNCATED) for line in item.get("history", ()))
    return [sorted(told.items()), states, cut, _age(item, now)]


def _age(item: Item, now: datetime) -> float | None:
    """How long ago a provider was ordered from: its patience is counted from there."""
    if item.get("lane") != "submit" or item.get("state") not in _AT_PROVIDER:
        return None
    return _seconds(begun_at(task_of(item)), now)


def _asked(ticket: Ticket) -> list[Any]:
    return [ticket.lane, ticket.attempt, ticket.lease, ticket.hint]


def _record(record: Any, now: datetime) -> list[Any]:
    task = record.task
    early = task.not_before and _seconds(task.not_before, now)
    return [task.effect, task.attempt, task.lease, early, record.deliveries, record.tries]


def _seconds(at: datetime, now: datetime) -> float:
    return (at - now).total_seconds()
