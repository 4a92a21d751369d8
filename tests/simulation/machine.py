"""A random life of a few orders over the real stages, in memory: what the rules may do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from functions.domain.media import source_key
from functions.domain.results import Busy, Created, KeyReused, NoCredit, Replayed
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.domain.verdicts import NotVerified
from functions.pipeline import intake, operate
from functions.pipeline.relay import relay
from functions.pipeline.render import render
from functions.pipeline.settle import settle
from functions.pipeline.sweep import sweep
from functions.pipeline.verify import Finding, verify
from tests.doubles.world import ACCEPTED, MemoryMedia, World
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO
from tests.simulation.actors import BLACK, BROKEN, CUT_OFF, ScriptedRenderer
from tests.simulation.faults import ProcessDied
from tests.simulation.invariants import violations
from tests.simulation.recording import RecordingStore

ACCOUNT = "alice"
KIND = "image_to_video"
WAITS_SECONDS = (1, 20, 100, 700, 4000, 8 * 3600)
CANCELS_MAX = 2  # in one life, or most would end that way
ROUNDS_MAX = 200  # of the sweeper alone, after which everything has ended

place = st.integers(0, 1 << 16)
keys = st.sampled_from(["key-a", "key-b", "key-c"])
sources = st.sampled_from([1, 2])


class FragileMedia(MemoryMedia):
    """Provides `MediaStore`; the process dies at the next upload, before or after it."""

    dies: str | None = None

    def put(self, path: Path, key: str, *, content_type: str) -> None:
        dies, self.dies = self.dies, None
        if dies == "before upload":
            raise ProcessDied
        super().put(path, key, content_type=content_type)
        if dies == "after upload":
            raise ProcessDied


class Orders(RuleBasedStateMachine):
    """Each rule is one process; what was sent may be taken in any order, twice, or never."""

    @initialize()
    def begin(self) -> None:
        self.renderer = ScriptedRenderer()
        self.store, self.media = RecordingStore(), FragileMedia()
        self.world = World(
            store=self.store, media=self.media, providers={"motion": self.renderer.provider()}
        )
        kind = self.world.kinds[KIND]  # two attempts, so that tasks die
        self.world.kinds = {KIND: replace(kind, limits=replace(kind.limits, attempts_max=2))}
        for number in (1, 2):
            photo = PHOTO + bytes([number])
            self.media.files[source_key(ACCOUNT, ulid(number))] = (photo, "image/png")
        self.orders: dict[str, tuple[Any, str]] = {}  # key -> what was ordered, its task
        self.findings: list[tuple[TaskRef, int, Finding]] = []
        self.ended: dict[str, TaskState] = {}
        self.grants, self.cancels = 0, 0
        self.grant(20)

    @rule(amount=st.sampled_from([1, 8, 20]))
    def grant(self, amount: int) -> None:
        self.grants += 1
        operate.grant(self.world, ACCOUNT, f"grant-{self.grants:012}", amount, None)

    @rule(key=keys, source=sources, seconds=st.sampled_from([4, 5]))
    def order(self, key: str, source: int, seconds: int) -> None:
        body = {"source": ulid(source), "seconds": seconds}
        made = intake.order(self.world, ACCOUNT, key, KIND, body)
        known = self.orders.get(key)
        if known is None:
            assert isinstance(made, Created | Busy | NoCredit)
            if isinstance(made, Created):
                self.orders[key] = (body, made.task.id)
        elif known[0] == body:
            assert made == Replayed(id=known[1])
        else:
            assert made == KeyReused()

    @precondition(lambda self: self.store.records)
    @rule(at=place, again=st.booleans())
    def relay(self, at: int, again: bool) -> None:  # noqa: FBT001 - drawn
        relay(self.world, self._taken(self.store.records, at, again=again))

    @precondition(lambda self: self.world.queue.tickets)
    @rule(
        at=place,
        again=st.booleans(),
        outcome=st.sampled_from([None, None, None, BROKEN, CUT_OFF]),
        dies=st.sampled_from([None, None, "before upload", "after upload"]),
        meanwhile=st.sampled_from(["nothing", "lapse", "sweep", "cancel", "twice"]),
    )
    def work(
        self,
        at: int,
        again: bool,  # noqa: FBT001
        outcome: Any,
        dies: str | None,
        meanwhile: str,
    ) -> None:
        ticket, _ = self._taken(self.world.queue.tickets, at, again=again or dies is not None)
        ref = TaskRef(account=ticket.account, id=ticket.id)
        todo: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "lapse": lambda: self._lapse(rounds=1),
            "sweep": lambda: self._lapse(rounds=3),
            "cancel": lambda: intake.cancel(self.world, ref),
            "twice": lambda: self._render(ticket),
        }
        self.media.dies = dies
        self.renderer.script, self.renderer.meanwhile = [outcome], [todo[meanwhile]]
        self._render(ticket)
        self.media.dies = None
        self.renderer.script, self.renderer.meanwhile = [], []

    @precondition(lambda self: self.world.workflow.runs)
    @rule(at=place, again=st.booleans(), verdict=st.sampled_from([ACCEPTED, ACCEPTED, BLACK]))
    def verify(self, at: int, again: bool, verdict: Any) -> None:  # noqa: FBT001
        ref, attempt = self._taken(self.world.workflow.runs, at, again=again)
        self.world.inspector.verdict = verdict
        with TemporaryDirectory() as workdir:
            finding = verify(self.world, ref, attempt, Path(workdir))
        if finding:
            self.findings.append((ref, attempt, finding))

    @precondition(lambda self: self.findings)
    @rule(at=place, again=st.booleans())
    def settle(self, at: int, again: bool) -> None:  # noqa: FBT001
        ref, attempt, finding = self._taken(self.findings, at, again=again)
        settle(self.world, ref, attempt, finding)

    @rule(seconds=st.sampled_from(WAITS_SECONDS))
    def wait(self, seconds: int) -> None:
        self.world.clock.forward(seconds=seconds)

    @rule()
    def sweep(self) -> None:
        self.world.inspector.verdict = NotVerified(reason="not by the sweeper")
        sweep(self.world, self.world.clock.now().replace(year=2099))

    @precondition(lambda self: self.orders)
    @rule(steps=st.integers(1, 8), outcome=st.sampled_from([None, BROKEN]))
    def go_on(self, steps: int, outcome: Any) -> None:
        """The usual way, for a while: or else few orders would get far."""
        self.renderer.always = outcome
        for _ in range(steps):
            if self.findings:
                self.settle(at=0, again=False)
            elif self.world.workflow.runs:
                self.verify(at=0, again=False, verdict=ACCEPTED)
            elif self.world.queue.tickets:
                self.wait(seconds=20)
                ticket, _ = self._taken(self.world.queue.tickets, 0, again=False)
                self._render(ticket)
            elif self.store.records:
                self.relay(at=0, again=False)
        self.renderer.always = None

    @precondition(lambda self: self.orders and self.cancels < CANCELS_MAX)
    @rule(at=place)
    def cancel(self, at: int) -> None:
        self.cancels += 1
        canceled = intake.cancel(self.world, self._some(at))
        assert canceled is not None

    @precondition(lambda self: self.orders)
    @rule(at=place)
    def redrive(self, at: int) -> None:
        operate.redrive(self.world, self._some(at))

    @precondition(lambda self: self.store.records or self.world.queue.tickets)
    @rule(at=place)
    def lose(self, at: int) -> None:
        bags: list[list[Any]] = [self.store.records, self.world.queue.tickets]
        self._taken(next(bag for bag in bags if bag), at, again=False)

    @invariant()
    def nothing_is_wrong(self) -> None:
        wrongs = violations(self.world.auditing.books(ACCOUNT), self.media.files, ended=False)
        assert not wrongs, "\n".join(wrongs)
        assert {task.id for task in self.tasks()} == {task for _, task in self.orders.values()}
        for task in self.tasks():
            was = self.ended.get(task.id)
            if was is not None and task.state is not was:
                assert was is TaskState.DEAD, f"{was} became {task.state}"
            if task.state.done:
                self.ended[task.id] = task.state
            else:
                self.ended.pop(task.id, None)

    def teardown(self) -> None:
        """With everything else gone for ever, the sweeper alone ends it all."""
        if not hasattr(self, "store"):
            return
        for _ in range(ROUNDS_MAX):
            if all(task.state.done for task in self.tasks()):
                break
            self.world.clock.forward(seconds=1800)
            sweep(self.world, self.world.clock.now().replace(year=2099))
        books = self.world.auditing.books(ACCOUNT)
        wrongs = violations(books, self.media.files, ended=True)
        assert not wrongs, "\n".join(wrongs)

    def tasks(self) -> list[Task]:
        return list(self.store.tasks_by_ref.values())

    def _some(self, at: int) -> TaskRef:
        ids = [task for _, task in self.orders.values()]
        return TaskRef(account=ACCOUNT, id=ids[at % len(ids)])

    def _taken(self, bag: list[Any], at: int, *, again: bool) -> Any:
        return bag[at % len(bag)] if again else bag.pop(at % len(bag))

    def _render(self, ticket: Any) -> None:
        with TemporaryDirectory() as workdir:
            try:
                render(self.world, ticket, Path(workdir))
            except ProcessDied:
                return

    def _lapse(self, rounds: int) -> None:
        for _ in range(rounds):
            self.world.clock.forward(seconds=100)
            self.sweep()
