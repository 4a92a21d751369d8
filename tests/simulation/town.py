"""The deployed product in simulated time: real stages on real adapters, each in its own process."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from functions.adapters.dynamodb_items import task_of
from functions.adapters.dynamodb_keys import Item
from functions.bootstrap import task_from_image
from functions.domain.errors import TallyreelError
from functions.domain.hooks import delivery
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef, Ticket
from functions.domain.work import Errand
from functions.entrypoints.findings import finding_json, finding_of
from functions.pipeline.check import answer
from functions.pipeline.fetch import fetch
from functions.pipeline.hooks import Reception, receive
from functions.pipeline.relay import relay
from functions.pipeline.render import render
from functions.pipeline.settle import settle
from functions.pipeline.submit import submit
from functions.pipeline.sweep import sweep
from functions.pipeline.tend import StayOver
from functions.pipeline.verify import verify
from local.fakes.vendor import Call as HookCall
from tests.simulation.cloud import Cloud, Image, Planned, Sent, Started
from tests.simulation.faults import ProcessDied
from tests.simulation.town_ports import TownPorts

T = TypeVar("T")

RECEIVES_MAX = 5  # as the queue's redrive policy
VISIBILITY = {  # six times the function's timeout
    "image_to_video": timedelta(minutes=30),
    "video_analysis": timedelta(seconds=90),  # as its worker asks for
    "submit": timedelta(minutes=12),
    "check": timedelta(minutes=6),
}
RELAY_TRIES = 3
SWEEP_SECONDS = 50


@dataclass(slots=True)
class Record:
    """A stream record that waits for the relay."""

    task: Task
    deliveries: int
    tries: int = RELAY_TRIES


@dataclass(slots=True)
class Message:
    """A ticket on its way."""

    ticket: Ticket
    visible_at: datetime
    receives: int = 0


@dataclass(slots=True)
class Run:
    """A workflow between its steps."""

    ref: TaskRef
    attempt: int
    to_fetch: bool  # from a provider, first
    finding: dict[str, Any] | None = None


@dataclass(slots=True)
class Hook:
    """A call that a provider will make, until it is taken."""

    job: str
    phase: str
    at: datetime
    tries: int = 0


@dataclass(slots=True)
class Habits:
    """How the machinery behaves in a scenario, faults apart."""

    relay: bool = True
    deliveries: int = 1  # of each record, message and workflow run
    workers: bool = True  # whether anybody takes messages
    runs_lost: int = 0  # workflow runs that vanish


@dataclass(slots=True)
class Town:
    """One run: the machinery, what is on its way, and what was done."""

    cloud: Cloud
    ports: TownPorts
    workdir: Path
    boundary: Callable[[], None] = lambda: None  # called whenever no process runs
    habits: Habits = field(default_factory=Habits)
    records: list[Record] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    graves: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    _depth: int = 0

    def process(self, name: str, work: Callable[[], T]) -> T | None:
        """Run one process; None if it died, or ended in trouble that was to be expected."""
        self._depth += 1
        self.ports.begin()
        done: T | None = None
        try:
            done = work()
        except ProcessDied:
            self.log.append(f"{name} died")
        except StayOver:
            self.log.append(f"{name} stopped")
        except TallyreelError as error:
            self.log.append(f"{name} ended in {type(error).__name__}")
        else:
            self.log.append(f"{name}: {done!s:.200}")
        finally:
            self._depth -= 1
            self.cloud.breaker.dead = False
        self._collect()
        return done

    def rest(self) -> None:
        """Note that no process runs; whatever is known of the run is in its fields now."""
        if not self._depth:
            self.cloud.breaker.calm()
            self.boundary()

    def pump(self) -> None:
        """Let everything happen that happens without time passing, one process after another."""
        while self._step():
            self.rest()

    def meanwhile(self) -> None:
        """Let all that happen while a process waits for its answer."""
        self._collect()
        self.pump()

    def sweep(self) -> None:
        """Run the sweeper once, then what follows from it."""
        until = self.ports.clock.now() + timedelta(seconds=SWEEP_SECONDS)
        self.process("sweep", lambda: dict(sweep(self.ports, until)))
        self.rest()
        self.pump()

    def wait(self) -> None:
        """Let time pass until something is due."""
        now = self.ports.clock.now()
        moments = [message.visible_at for message in self.messages if self.habits.workers]
        moments += [hook.at for hook in self.hooks]
        moments += [task.due_at for task in self.tasks() if task.due_at and not task.state.done]
        later = [moment for moment in moments if moment > now]
        self.ports.at.at = min(later, default=now + timedelta(minutes=1)) + timedelta(seconds=1)

    def items(self) -> list[Item]:
        """Read the whole table, without being seen."""
        found: list[Item] = self.cloud.breaker.observe(self.cloud.items)
        return found

    def tasks(self) -> list[Task]:
        """Read every task."""
        return [task_of(item) for item in self.items() if item["sk"].startswith("TASK#")]

    def _collect(self) -> None:
        """Take over what was sent, in the order in which it was."""
        habits = self.habits
        for effect in self.cloud.outbox:
            match effect:
                case Image():
                    task = task_from_image(effect.item)
                    if habits.relay:
                        self.records.append(Record(task=task, deliveries=habits.deliveries))
                case Sent():
                    self._send(effect)
                case Started():
                    self._start(effect)
                case Planned():
                    at = datetime.fromtimestamp(effect.at, UTC)
                    self.hooks.append(Hook(job=effect.job, phase=effect.phase, at=at))
        self.cloud.outbox.clear()

    def _send(self, sent: Sent) -> None:
        body = json.loads(sent.body)
        if sent.url in self.cloud.graves.values():
            self.graves.append(body["id"])
            return
        at = self.ports.clock.now() + timedelta(seconds=sent.delay_seconds)
        for _ in range(self.habits.deliveries):
            self.messages.append(Message(ticket=Ticket(**body), visible_at=at))

    def _start(self, started: Started) -> None:
        if self.habits.runs_lost:
            self.habits.runs_lost -= 1
            return
        run = json.loads(started.input)
        ref = TaskRef(account=run["account"], id=run["id"])
        for _ in range(self.habits.deliveries):
            self.runs.append(Run(ref=ref, attempt=run["attempt"], to_fetch=run["remote"]))

    def _step(self) -> bool:
        """Run the next process that has something to do."""
        if self.records:
            self._relay(self.records[0])
            return True
        now = self.ports.clock.now()
        ready = [message for message in self.messages if message.visible_at <= now]
        if ready and self.habits.workers:
            self._work(ready[0])
            return True
        if due := [hook for hook in self.hooks if hook.at <= now]:
            self._hear(due[0])
            return True
        if self.runs:
            self._go_on(self.runs[0])
            return True
        return False

    def _relay(self, record: Record) -> None:
        """A record comes again until it is done, a few times; then it is lost."""
        done = self.process("relay", lambda: (relay(self.ports, record.task), record.task.state))
        if done:
            record.deliveries -= 1
        else:
            record.tries -= 1
        if not record.deliveries or not record.tries:
            self.records.remove(record)

    def _work(self, message: Message) -> None:
        """A message that was not worked off comes again, then goes to the dead letters."""
        message.receives += 1
        message.visible_at = self.ports.clock.now() + VISIBILITY[message.ticket.lane]
        if self._worked(message.ticket):
            self.messages.remove(message)
        elif message.receives >= RECEIVES_MAX:
            self.messages.remove(message)
            self.graves.append(message.ticket.id)

    def _worked(self, ticket: Ticket) -> bool:
        match ticket.lane:
            case "submit":
                done = self.process("submit", lambda: submit(self.ports, ticket, self.workdir))
                return done is not None
            case "check":
                checked = self.process("check", lambda: (answer(self.ports, ticket),))
                return checked is not None
            case "video_analysis":
                return self._worked_on(ticket)
        rendered = self.process("render", lambda: render(self.ports, ticket, self.workdir))
        return rendered is not None

    def _worked_on(self, ticket: Ticket) -> bool:
        """Do as a worker does, which can be told to go at any time."""
        errand = Errand(extend=lambda: None, seconds_left=lambda: None)
        breaker = self.cloud.breaker
        breaker.by_worker = True
        try:
            rendered = self.process(
                "render", lambda: render(self.ports, ticket, self.workdir, errand)
            )
        finally:
            breaker.by_worker = False
        return rendered is not None

    def _hear(self, hook: Hook) -> None:
        """A call that was not taken comes again, as often as this provider calls."""
        market = self.ports.market
        assert market is not None
        vendor = market.vendor
        hook.tries += 1
        hook.at = self.ports.clock.now() + timedelta(seconds=vendor.call_again_seconds)
        call: HookCall = self.cloud.breaker.observe(
            lambda: vendor.call(vendor.jobs[hook.job], hook.phase)
        )
        token = call.url.rpartition("/")[2]
        heard = delivery(token, call.headers, call.body.decode(), is_base64=False)
        assert heard is not None
        name = market.provider.name
        taken = self.process("hook", lambda: receive(self.ports, name, heard).reception)
        if taken is Reception.TAKEN or hook.tries >= vendor.call_tries:
            self.hooks.remove(hook)

    def _go_on(self, run: Run) -> None:
        """Three functions, each a process; nothing but the sweeper tries them again."""
        self.runs.remove(run)
        if run.to_fetch:
            (self.workdir / "output.mp4").unlink(missing_ok=True)
            if self.process("fetch", lambda: fetch(self.ports, run.ref, run.attempt, self.workdir)):
                self.runs.insert(0, replace(run, to_fetch=False))
            return
        if run.finding is not None:
            finding = finding_of(run.finding)
            self.process("settle", lambda: settle(self.ports, run.ref, run.attempt, finding))
            return

        def inspected() -> dict[str, Any]:
            found = verify(self.ports, run.ref, run.attempt, self.workdir)
            return {"finding": finding_json(found) if found else None}

        done = self.process("verify", inspected)
        if done and done["finding"]:
            self.runs.insert(0, replace(run, finding=done["finding"]))
