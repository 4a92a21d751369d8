"""A paid provider in a simulated run: its real code over its stand-in's wire, without sockets.

Each request is a numbered call like those to AWS, and can be broken as they can. What the
stand-in would bill is held against what was written down before it was asked.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore
import httpx

from functions.adapters.dynamodb_items import attempt_of
from functions.adapters.dynamodb_keys import Item
from functions.adapters.fetch import Downloader
from functions.adapters.guard import Target
from functions.adapters.provider_calls import ProviderCallsOverHttp
from functions.adapters.secrets_manager import SecretsManager
from functions.domain.attempts import Attempt, parsed_token
from functions.domain.providers import Remote, configured
from functions.domain.tasks import Task
from functions.pipeline.hooks import SEEN
from local.fakes import vendor
from local.fakes.script import End, Hooks, Script
from local.fakes.vendor import Job, Refusal, Request, Vendor, request_of
from tests.doubles.world import FixedClock
from tests.providers.stage import CLIP, REMOTES
from tests.simulation.cloud import Cloud, Planned
from tests.simulation.faults import Call, Fault, ProcessDied, Reply, Unanswered, Unreachable
from tests.simulation.wire import TOO_MANY, client, reply_of

PER_MINUTE = 600  # a budget that is counted and never used up
SECONDS = 4  # as the story orders
DIED, TROUBLED = "submit died", "submit ended in "  # as the town logs it
NOT_BILLED = frozenset({"rejected", "not-sent", "absent"})  # outcomes that exclude a job


@dataclass(slots=True)
class Submit:
    """One order as the provider saw it, or as it was lost on the way."""

    token: str
    fate: Fault | None

    @property
    def attempt(self) -> int:
        """The number of the attempt that it was sent for."""
        token = parsed_token(self.token)
        assert token is not None
        return token.attempt


@dataclass(slots=True)
class Market:
    """The provider, and the way to it. `meanwhile` happens while an order's answer travels."""

    cloud: Cloud
    clock: FixedClock
    provider: Remote
    vendor: Vendor
    submits: list[Submit] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)
    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    @classmethod
    def opened(cls, name: str, cloud: Cloud, clock: FixedClock, *scripts: Script) -> "Market":
        """Open it for one run. The last script is that of all later jobs too."""
        made = vendor(name)(CLIP, scripts[-1], clock=lambda: clock.now().timestamp())
        made.address = REMOTES[name].base_url
        made.scripts = list(scripts)
        budgets = {"submits_per_minute": PER_MINUTE, "queries_per_minute": PER_MINUTE}
        options = made.options() | budgets | {"seconds_allowed": [SECONDS]}
        provider = configured(REMOTES[name], options)
        market = cls(cloud=cloud, clock=clock, provider=provider, vendor=made)
        cloud.beside = market
        return market

    def snapshot(self) -> Any:
        """Copy what the provider knows."""
        return copy.deepcopy(
            (self.vendor.jobs, self.vendor.scripts, self.vendor.submits, self.submits, self.wrongs)
        )

    def restore(self, held: Any) -> None:
        """Go back to a copy, leaving the copy as it is."""
        made = self.vendor
        made.jobs, made.scripts, made.submits, self.submits, self.wrongs = copy.deepcopy(held)

    def passed(self, request: Request) -> Reply:
        """Send a request, and get its answer if it has one."""
        call = Call(service=self.provider.name, operation=_operation(request))
        reply = self.cloud.breaker.passed(call, b"", lambda fault: self._outcome(request, fault))
        if call.operation == "Submit" and self.meanwhile:
            self.meanwhile.pop(0)()
        return reply

    def calls(self, secrets: SecretsManager) -> "WiredCalls":
        """Reach it from a process that has just been started, and remembers nothing."""
        return WiredCalls(self, secrets)

    def job_of(self, token: str) -> Job | None:
        """Find what was made for an attempt."""
        return next((job for job in self.vendor.jobs.values() if _token(job) == token), None)

    def state(self) -> list[Any]:
        """Say how far it is; equal states have equal futures."""
        now = self.vendor.now()
        return [
            [[job.id, _token(job), max(job.ends_at - now, 0)] for job in self.vendor.jobs.values()],
            [[submit.token, submit.fate] for submit in self.submits],
            [len(self.vendor.scripts), len(self.meanwhile), self.wrongs],
        ]

    def _outcome(self, request: Request, fault: Fault | None) -> Reply:
        operation = _operation(request)
        if fault is Fault.DIED_BEFORE:
            raise ProcessDied
        if operation == "Submit":
            self._noted(request, fault)
        if fault is Fault.NO_CONNECTION:
            raise Unreachable
        if fault is Fault.NEVER_ARRIVED:
            raise Unanswered
        if fault is Fault.THROTTLED:
            return reply_of(self.vendor.refusal(TOO_MANY))
        reply = self._answered(request)
        if fault is Fault.DIED_AFTER:
            raise ProcessDied
        if fault is Fault.ANSWER_LOST:
            if operation == "File":  # half of it came
                return reply[0], reply[1], reply[2][: len(reply[2]) // 2]
            raise Unanswered
        return reply

    def _answered(self, request: Request) -> Reply:
        made = self.vendor
        try:
            is_file = _operation(request) == "File"
            answer = made.file(request) if is_file else made.answer(request)
        except Refusal as refusal:
            answer = made.refusal(refusal.script.refuse)
        due, made.due, made.calls_now = [*made.calls_now, *made.due], [], []
        self.cloud.breaker.effects += tuple(
            Planned(at=each.at, job=each.job.id, phase=each.phase) for each in due
        )
        return reply_of(answer)

    def _noted(self, request: Request, fault: Fault | None) -> None:
        """Hold an order against the books: what is open or runs must not be ordered again."""
        submit = Submit(token=_ordered(request), fate=fault)
        for attempt in attempts_of(self.cloud.items()):
            if attempt.number < submit.attempt and attempt.outcome is None:
                self.wrongs.append(f"submitted while attempt {attempt.number} was open")
        for job in self.vendor.jobs.values():
            if self.vendor.phase(job) != "ended":
                self.wrongs.append(f"submitted while {job.id} ran")
            elif self.vendor.end(job) is End.SUCCEEDED:
                self.wrongs.append(f"submitted although {job.id} had succeeded")
        self.submits.append(submit)

    def violations(self, attempts: Sequence[Attempt]) -> list[str]:
        """List what must never be wrong between what was written down and what is billed."""
        found = list(self.wrongs)
        known = {attempt.number: attempt for attempt in attempts}
        tokens = [submit.token for submit in self.submits]
        if len(set(tokens)) != len(tokens):
            found.append("an attempt was submitted twice")
        found += [
            f"attempt {submit.attempt} was submitted and not written down"
            for submit in self.submits
            if submit.attempt not in known
        ]
        may_bill = [one for one in attempts if one.outcome not in NOT_BILLED]
        billed = self.vendor.bill()["billed"]
        if billed > len(may_bill):
            found.append(f"{billed} billed for {len(may_bill)} attempts that may be")
        for submit in self.submits:
            attempt = known.get(submit.attempt)
            if attempt and attempt.outcome in NOT_BILLED and self.job_of(submit.token):
                found.append(f"attempt {attempt.number} has a job and is {attempt.outcome}")
        return found

    def verdict(self, task: Task, attempts: Sequence[Attempt], log: Sequence[str]) -> list[str]:
        """List what is wrong at the end: a paid render is delivered if we can know of it."""
        if "hook: taken" in log and not any(
            name.startswith(f"{SEEN}/") for name in self.cloud.files()
        ):
            return ["a call was taken and not kept"]
        last = next((each for each in attempts if each.number == task.attempt), None)
        if last is None:
            return [f"attempt {task.attempt} was not written down"]
        sent = next((each for each in self.submits if each.attempt == task.attempt), None)
        job = self.job_of(sent.token) if sent else None
        if task.output is not None:
            return _delivered(last, job, self.cloud.content(task.output.key))
        if task.code != "provider-outcome-unknown" or self.provider.abilities.resolves_unknown:
            return [f"failed for {task.code}"]
        if last.outcome is not None:
            return [f"given up, and its attempt is {last.outcome}"]
        return self._given_up(sent, job, log)

    def _given_up(self, sent: Submit | None, job: Job | None, log: Sequence[str]) -> list[str]:
        """Not to know is excused by a lost answer or a lost process, and by nothing else."""
        trouble = lost(log)
        if sent is None and TROUBLED in trouble and len(self.cloud.breaker.plan) > 1:
            return []  # its claim was lost, and the look at it
        if sent is None or sent.fate in (Fault.NO_CONNECTION, Fault.THROTTLED):
            return [] if DIED in trouble else ["given up although nothing was sent"]
        if job and job.script.hooks is not Hooks.NEVER:
            return ["given up although its provider called"]
        if sent.fate is None and DIED not in trouble:
            return ["given up although it was accepted"]
        return []


class WiredCalls(ProviderCallsOverHttp):
    """Provides `ProviderCalls`: the real one, whose connections lead into the market."""

    def __init__(self, market: Market, secrets: SecretsManager) -> None:
        super().__init__(secrets, market.clock)
        self._market = market
        self._downloader = WiredDownloader(market)

    def _client(self) -> httpx.Client:
        return client(self._market.passed)


class WiredDownloader(Downloader):
    """The real one; its connections lead into the market."""

    def __init__(self, market: Market) -> None:
        super().__init__(seconds_max=60.0)
        self._market = market

    @contextmanager
    def _answer(
        self, target: Target, headers: Mapping[str, str], _wanted: Any
    ) -> Iterator[httpcore.Response]:
        try:
            asked = request_of("GET", f"{target.origin}{target.path}", headers, b"")
            status, answered, body = self._market.passed(asked)
        except Unreachable as error:
            raise httpcore.ConnectError from error
        except Unanswered as error:
            raise httpcore.ReadTimeout from error
        told = [(name.encode(), value.encode()) for name, value in answered.items()]
        yield httpcore.Response(status, headers=told, content=iter([body]))


def _operation(request: Request) -> str:
    if request.path.startswith("/files/"):
        return "File"
    if request.path.startswith("/.well-known/"):
        return "Keys"
    return "Submit" if request.method == "POST" else "Question"


def _ordered(request: Request) -> str:
    """Read for which attempt an order is: from its hook, or from our own name for it."""
    hook = request.query.get("fal_webhook", "")
    return hook.rpartition("/")[2] or str(request.json().get("external_task_id"))


def _token(job: Job) -> str:
    return job.name or (job.hook_url or "").rpartition("/")[2]


def attempts_of(items: Sequence[Item]) -> list[Attempt]:
    """Read what was written down of submits."""
    return [attempt_of(item) for item in items if item["sk"].startswith("ATTEMPT#")]


def lost(log: Sequence[str]) -> list[str]:
    """List how processes were lost that ordered: they are excused for what they did not write."""
    return [how for how in (DIED, TROUBLED) if any(line.startswith(how) for line in log)]


def _delivered(last: Attempt, job: Job | None, content: bytes) -> list[str]:
    if job is None or job.script.end is not End.SUCCEEDED:
        return ["delivered what was never made"]
    if (last.outcome, last.job) != ("succeeded", job.id):
        return [f"delivered, and its attempt is {last.outcome} with job {last.job}"]
    return [] if content == CLIP else ["delivered a part of the file"]
