"""Counts the AWS calls of a run and breaks the chosen ones, below botocore and above moto.

Requests to a paid provider are counted and broken with them; see `provider.py`.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from botocore.awsrequest import AWSResponse
from botocore.exceptions import BotoCoreError, EndpointConnectionError, ReadTimeoutError
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from functions.pipeline.tend import StayOver
from tests.simulation.answers import conflict, json_of, throttled, written


class ProcessDied(BaseException):
    """The process that made the call is gone. No `except Exception` can survive that."""


class Fault(StrEnum):
    """What can go wrong with one call."""

    DIED_BEFORE = "died before the call"
    DIED_AFTER = "died after the call"
    ANSWER_LOST = "made, its answer lost"
    NEVER_ARRIVED = "sent, never arrived, no answer"
    NO_CONNECTION = "no connection"
    THROTTLED = "throttled"
    CONFLICT = "in conflict with another write, once"
    CONTENDED = "in conflict with other writes, at every try"
    REPEATED = "made, its answer lost, repeated by the SDK"
    STOPPED_BEFORE = "before the call its worker's time is over"
    STOPPED_AFTER = "after the call its worker's time is over"


class Unanswered(Exception):
    """A request to a provider was sent, and no answer came."""


class Unreachable(Exception):
    """Nothing of a request to a provider was sent."""


READS = frozenset(
    {"GetItem", "Query", "Scan", "HeadObject", "GetObject", "ListObjectsV2", "GetSecretValue"}
)
ASKING = frozenset({"Question", "Keys"})  # of a provider
SHOWING = frozenset({"Open", "Bytes", "Look", "Forget"})  # of a clip, to a model; costs nothing
PAID = frozenset({"Submit", "Ask"})  # which no library repeats
CONFLICTING = frozenset({"TransactWriteItems", "UpdateItem", "PutItem"})
_OF_READS = (Fault.DIED_BEFORE, Fault.NEVER_ARRIVED, Fault.NO_CONNECTION, Fault.THROTTLED)
_CONFLICTS = frozenset({Fault.CONFLICT, Fault.CONTENDED})
_STOPS = (Fault.STOPPED_BEFORE, Fault.STOPPED_AFTER)
_EVERYWHERE = tuple(fault for fault in Fault if fault not in _STOPS)
_OK = 200


def _died(_url: str) -> BaseException:
    return ProcessDied()


def _stopped(_url: str) -> BaseException:
    return StayOver()


def _timed_out(url: str) -> BaseException:
    return ReadTimeoutError(endpoint_url=url)


def _unconnected(url: str) -> BaseException:
    return EndpointConnectionError(endpoint_url=url)


_BEFORE: dict[Fault | None, Callable[[str], BaseException]] = {
    Fault.DIED_BEFORE: _died,
    Fault.STOPPED_BEFORE: _stopped,
    Fault.NEVER_ARRIVED: _timed_out,
    Fault.NO_CONNECTION: _unconnected,
}
_AFTER: dict[Fault | None, Callable[[str], BaseException]] = {
    Fault.DIED_AFTER: _died,
    Fault.STOPPED_AFTER: _stopped,
    Fault.ANSWER_LOST: _timed_out,
}


@dataclass(frozen=True, slots=True)
class Call:
    """One AWS call or request to a provider, as it was seen to pass."""

    service: str
    operation: str
    by_worker: bool = False  # who can be told to go while it works

    def __str__(self) -> str:
        return f"{self.service}.{self.operation}"


def faults_of(call: Call) -> tuple[Fault, ...]:
    """Name the faults that make a difference for a call."""
    return _of(call.operation) + (_STOPS if call.by_worker else ())


def _of(operation: str) -> tuple[Fault, ...]:
    if operation in READS | ASKING | SHOWING:  # made or not is the same here
        return _OF_READS
    if operation == "File":
        return (*_OF_READS, Fault.ANSWER_LOST)
    if operation in PAID:
        unlike = _CONFLICTS | {Fault.REPEATED}
        return tuple(fault for fault in _EVERYWHERE if fault not in unlike)
    if operation in CONFLICTING:
        return _EVERYWHERE
    return tuple(fault for fault in _EVERYWHERE if fault not in _CONFLICTS)


Plan = Mapping[int, Fault]  # number of the call, from 1
Reply = tuple[int, dict[str, str], bytes]  # status, headers, body


@dataclass(slots=True)
class Taped:
    """What a call came to, or an observation; enough to play it again without AWS."""

    what: str
    seen: Any = None  # an observation
    answer: Reply | None = None
    error: BaseException | None = None
    effects: tuple[Any, ...] = ()
    before: Any = None  # what AWS and the provider held before a counted call
    parsed: Any = None  # the answer as botocore gave it to the caller


class Effects(Protocol):
    """What calls lead to outside of the process that makes them."""

    def made(self, operation: str, request: Mapping[str, Any]) -> tuple[Any, ...]:
        """Say what a call that was really made has led to."""
        ...

    def apply(self, effects: tuple[Any, ...]) -> None:
        """Let it be seen."""
        ...

    def snapshot(self) -> Any:
        """Copy what AWS holds."""
        ...

    def restore(self, held: Any) -> None:
        """Go back to a copy."""
        ...


@dataclass(slots=True)
class Breaker:
    """Sits on the clients' `before-send` event. What it lets through is answered by moto.

    `plan` breaks calls by number. `by_operation` breaks the next calls of a kind, and `first`
    does something before the next call of a kind, as parts of a scenario and not of the search.
    Calls that are the same as in an earlier run are answered from its tape, and the rest of the
    run starts from a copy of what AWS held there.
    """

    cloud: Effects
    plan: Plan = field(default_factory=dict)
    by_operation: dict[str, list[Fault]] = field(default_factory=dict)
    first: dict[str, Callable[[], object]] = field(default_factory=dict)
    counting: bool = False
    by_worker: bool = False  # whether a worker makes the calls, that can be told to go
    calls: list[Call] = field(default_factory=list)
    hit: list[int] = field(default_factory=list)  # numbers of the calls that were broken
    dead: bool = False  # whether the process that makes the calls has died: it makes none any more
    taping: bool = False  # whether later runs will start from this one
    tape: list[Taped] = field(default_factory=list)
    _replay: Sequence[Taped] = ()
    _restore: Any = None
    effects: tuple[Any, ...] = ()  # of the call that is being made
    _contended: bytes = b""

    def attach(self, client: Any) -> None:
        """Take the place of moto's own hook."""
        events = client.meta.events
        events.unregister("before-send", botocore_stubber)
        events.register_first("before-send", self)
        events.register_first("before-call", self._before_call)
        events.register_last("after-call", self._after_call)

    def reset(self, plan: Plan, base: Sequence[Taped], *, taping: bool) -> None:
        """Start another run, like `base` up to the last planned fault that it has not met."""
        self.plan, self.by_operation, self.first, self.taping = plan, {}, {}, taping
        self.calls, self.hit, self.tape = [], [], []
        self.counting, self.by_worker, self.dead = False, False, False
        self._contended = b""
        self._replay, self._restore = (), None
        if base:
            places = [place for place, entry in enumerate(base) if entry.before is not None]
            place = places[max(plan) - 1]
            self._replay, self._restore = base[:place], base[place].before

    def calm(self) -> None:
        """Let the rivals of a contended write go."""
        self._contended = b""

    @property
    def live(self) -> bool:
        """Whether the run has left its base's tape."""
        return self._restore is None

    def observe(self, look: Callable[[], Any]) -> Any:
        """Look at AWS from outside; nobody counts that."""
        if self._replaying():
            entry = self._replay[len(self.tape)]
            assert entry.what == "observation"
            self.tape.append(entry)
            return entry.seen
        seen = look()
        self.tape.append(Taped("observation", seen=seen))
        return seen

    def __call__(self, event_name: str, request: Any, **_: Any) -> AWSResponse:
        service, operation = event_name.split(".")[1:]

        def outcome(fault: Fault | None) -> Reply:
            answer = self._outcome(fault, event_name, operation, request)
            return answer.status_code, dict(answer.headers), answer.raw.getvalue()

        call = Call(service=service, operation=operation)
        status, headers, body = self.passed(call, request.body, outcome)
        return AWSResponse(str(request.url), status, headers, MockRawResponse(body))  # type: ignore[arg-type]

    def passed(self, call: Call, body: Any, outcome: Callable[[Fault | None], Reply]) -> Reply:
        """Let a call pass, whole or broken; one that was made before is answered from the tape."""
        self._alive()
        if self.counting and call.operation in self.first:
            self.first.pop(call.operation)()
        fault = self._next(call, body)
        if self._replaying():
            return self._replayed(call.operation)
        before = self.cloud.snapshot() if self.taping and self.counting else None
        self.effects = ()
        answer, error = None, None
        try:
            answer = outcome(fault)
        except (ProcessDied, StayOver, BotoCoreError, Unanswered, Unreachable) as raised:
            error = raised
        effects, self.effects = self.effects, ()
        entry = Taped(call.operation, answer=answer, error=error, effects=effects, before=before)
        self.tape.append(entry)
        self.cloud.apply(effects)
        if error is not None:
            raise self._noticed(error)
        assert answer is not None
        return answer

    def _alive(self) -> None:
        if self.dead:
            raise ProcessDied

    def _noticed(self, error: BaseException) -> BaseException:
        self.dead = isinstance(error, ProcessDied)
        return error

    def _before_call(
        self, event_name: str, params: Mapping[str, Any], **_: Any
    ) -> tuple[Any, Any] | None:
        """Play a call again before it is signed and sent, where its parsed answer is known."""
        self._alive()
        if not self._replaying():
            return None
        parsed = self._replay[len(self.tape)].parsed
        if parsed is None:
            return None
        service, operation = event_name.split(".")[1:]
        self._next(Call(service=service, operation=operation), params["body"])
        status, headers, _body = self._replayed(operation)
        return AWSResponse("", status, headers, None), copy.deepcopy(parsed)  # type: ignore[arg-type]

    def _after_call(self, parsed: Mapping[str, Any], **_: Any) -> None:
        entry = self.tape[-1]
        if self.taping and entry.parsed is None and "Body" not in parsed:  # a body is read once
            entry.parsed = copy.deepcopy(parsed)

    def _replaying(self) -> bool:
        if len(self.tape) < len(self._replay):
            return True
        if self._restore is not None:
            self.cloud.restore(self._restore)
            self._restore = None
        return False

    def _replayed(self, operation: str) -> Reply:
        entry = self._replay[len(self.tape)]
        assert entry.what == operation, f"{operation} where {entry.what} was before"
        self.tape.append(entry)
        self.cloud.apply(entry.effects)
        if entry.error is not None:
            raise self._noticed(entry.error)
        assert entry.answer is not None
        return entry.answer

    def _next(self, call: Call, body: Any) -> Fault | None:
        if not self.counting:
            return None
        self.calls.append(replace(call, by_worker=self.by_worker))
        operation, number = call.operation, len(self.calls)
        if self._contended:
            if operation == "TransactWriteItems" and written(body) == self._contended:
                return Fault.CONTENDED
            self._contended = b""
        fault = self.plan.get(number)
        if fault is not None:
            self.hit.append(number)
            return fault
        scripted = self.by_operation.get(operation)
        return scripted.pop(0) if scripted else None

    def _outcome(
        self, fault: Fault | None, event_name: str, operation: str, request: Any
    ) -> AWSResponse:
        if fault in _CONFLICTS:
            if fault is Fault.CONTENDED and operation == "TransactWriteItems":
                self._contended = written(request.body)
            return conflict(str(request.url), operation, request)
        if fault is Fault.THROTTLED:
            return throttled(str(request.url), event_name)
        if fault in _BEFORE:
            raise _BEFORE[fault](str(request.url))
        answer = self._make(event_name, operation, request)
        if fault in _AFTER:
            raise _AFTER[fault](str(request.url))
        if fault is Fault.REPEATED and not _remembered(operation, answer):
            return self._make(event_name, operation, request)
        return answer

    def _make(self, event_name: str, operation: str, request: Any) -> AWSResponse:
        if hasattr(request.body, "seek"):
            request.body.seek(0)
        answer = botocore_stubber(event_name, request)
        assert answer is not None, f"moto does not know {event_name} {request.url}"
        if answer.status_code == _OK and operation not in READS:
            self.effects += self.cloud.made(operation, json_of(request.body))
        return answer


def _remembered(operation: str, answer: AWSResponse) -> bool:
    """Whether a repeat is answered without effect, by its client token; moto would write again."""
    return operation == "TransactWriteItems" and answer.status_code == _OK
