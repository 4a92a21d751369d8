"""A whole shop in memory, its clips bought from a stand-in over real HTTP, on an injected clock."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from functions.adapters.provider_calls import ProviderCallsOverHttp
from functions.domain.credits import EntryKind
from functions.domain.errors import TallyreelError
from functions.domain.media import source_key
from functions.domain.providers import Remote, Secrets, configured
from functions.domain.results import Created
from functions.domain.rules import Rules
from functions.domain.states import TaskState
from functions.domain.tasks import Route, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.pipeline import intake, operate
from functions.pipeline.audit import audit
from functions.pipeline.check import answer
from functions.pipeline.fetch import fetch
from functions.pipeline.hooks import receive
from functions.pipeline.relay import relay
from functions.pipeline.settle import settle
from functions.pipeline.submit import submit
from functions.pipeline.sweep import sweep
from functions.pipeline.verify import verify
from local.fakes import vendor
from local.fakes.script import Script
from local.fakes.server import FakeServer
from local.fakes.vendor import Vendor
from tests.doubles.store import MemoryStore
from tests.doubles.world import FixedClock, MemoryMedia, MemoryQueue, World
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO
from tests.providers.stage import CLIP, REMOTES, HookCatcher, order_for

STEP = timedelta(seconds=30)
FETCH_TRIES = 3  # what the workflow's runs come to within a step


class PublicMedia(MemoryMedia):
    """Its links look like those that a provider takes."""

    def link(self, key: str, *, filename: str, seconds: int) -> str:
        return f"https://photos.example/{key}?name={filename}&seconds={seconds}"


class TimedQueue(MemoryQueue):
    """Hands tickets out when their delay has passed."""

    def __init__(self, clock: FixedClock) -> None:
        super().__init__()
        self._clock = clock
        self._ready: list[tuple[object, Ticket]] = []

    def send(self, ticket: Ticket, *, delay_seconds: int = 0) -> None:
        self._ready.append((self._clock.now() + timedelta(seconds=delay_seconds), ticket))

    def taken(self) -> list[Ticket]:
        """Take what is ready."""
        now = self._clock.now()
        ready = [ticket for at, ticket in self._ready if at <= now]  # type: ignore[operator]
        self._ready = [(at, t) for at, t in self._ready if at > now]  # type: ignore[operator]
        return ready


@dataclass(slots=True)
class Shop:
    """The pipeline, a provider's stand-in, and the way between them."""

    world: World
    vendor: Vendor
    server: FakeServer
    catcher: HookCatcher
    workdir: Path
    deaf: bool = False  # the hook route answers 500, whatever comes
    relayed: set[tuple[str, int]] = field(default_factory=set)

    @property
    def store(self) -> MemoryStore:
        assert isinstance(self.world.store, MemoryStore)
        return self.world.store

    def order(self, number: int, script: Script | None = None) -> TaskRef:
        """Order a clip of a photo of its own."""
        if script:
            self.vendor.scripts.append(script)
        provider = REMOTES[self.world.rules.routes["image_to_video"][0].provider]
        photo = PHOTO + str(number).encode()
        self.world.media.files[source_key("alice", ulid(number))] = (photo, "image/png")
        given = {"source": ulid(number), "seconds": order_for(provider).seconds}
        key = f"key-000000000000{number}"
        made = intake.order(self.world, "alice", key, "image_to_video", given)
        assert isinstance(made, Created), made
        return TaskRef(account="alice", id=made.task.id)

    def task(self, ref: TaskRef) -> Task:
        found = self.world.store.get(ref)
        assert found is not None
        return found

    def run(self, *, hours: float = 4.0, relay_works: bool = True) -> None:
        """Let time pass, and everything happen that would."""
        until = self.world.clock.now() + timedelta(hours=hours)
        while self.world.clock.now() < until and not self.at_rest():
            self.step(relay_works=relay_works)

    def at_rest(self) -> bool:
        return all(task.state.done for task in self.store.tasks_by_ref.values())

    def step(self, *, relay_works: bool = True) -> None:
        if relay_works:
            self._relay()
        self._work()
        self.server.settle()
        self._hear()
        self._work()
        if relay_works:
            self._relay()
        self._workflows()
        sweep(self.world, self.world.clock.now() + timedelta(seconds=50))
        self.world.clock.at += STEP

    def _relay(self) -> None:
        for task in list(self.store.tasks_by_ref.values()):
            if task.effect and (task.id, task.version) not in self.relayed:
                self.relayed.add((task.id, task.version))
                relay(self.world, task)

    def _work(self) -> None:
        assert isinstance(self.world.queue, TimedQueue)
        for ticket in self.world.queue.taken():
            if ticket.lane == "submit":
                submit(self.world, ticket, self.workdir)
            else:
                answer(self.world, ticket)

    def _hear(self) -> None:
        heard, self.catcher.caught = self.catcher.caught, []
        name = self.world.rules.routes["image_to_video"][0].provider
        for call in [] if self.deaf else heard:
            receive(self.world, name, call)

    def _workflows(self) -> None:
        runs, self.world.workflow.runs = self.world.workflow.runs, []
        for ref, attempt in runs:
            try:
                fetch(self.world, ref, attempt, self.workdir)
            except TallyreelError:
                continue  # the run failed: the sweeper starts another
            finding = verify(self.world, ref, attempt, self.workdir)
            if finding:
                settle(self.world, ref, attempt, finding)

    def check(self) -> None:
        """What must hold whatever happened."""
        tasks = list(self.store.tasks_by_ref.values())
        attempts = sum(len(self.store.attempts(ref)) for ref in self.store.tasks_by_ref)
        assert int(self.vendor.bill()["billed"]) <= attempts
        settles = [e for e in self.store.entries.values() if e.kind is EntryKind.SETTLE]
        delivered = [task for task in tasks if task.state is TaskState.DELIVERED]
        assert sorted(e.task or "" for e in settles) == sorted(task.id for task in delivered)
        report = audit(self.world, self.world.clock.now() + timedelta(minutes=5), at_once=True)
        assert report.differences == ()


@contextmanager
def shop_for(name: str, *, options: Mapping[str, object] | None = None) -> Iterator[Shop]:
    """Open a shop that buys from one provider."""
    clock = FixedClock()
    made = vendor(name)(CLIP, clock=lambda: clock.now().timestamp())
    catcher = HookCatcher()
    with TemporaryDirectory() as folder, FakeServer(made, calls=False) as server:
        provider = configured(REMOTES[name], {**made.options(), **(options or {})})
        world = _world(clock, provider, made, server, catcher)
        operate.grant(world, "alice", "grant-0000000001", 1000, None)
        try:
            yield Shop(
                world=world,
                vendor=made,
                server=server,
                catcher=catcher,
                workdir=Path(folder),
            )
        finally:
            catcher.close()
            world.remote.close()  # type: ignore[attr-defined]


def _world(
    clock: FixedClock, provider: Remote, made: Vendor, server: FakeServer, catcher: HookCatcher
) -> World:
    values = {key: tuple(each) for key, each in made.secrets().items()}
    remote = ProviderCallsOverHttp(
        lambda _name: Secrets(values=values), clock, test_origins=[server.address]
    )
    base = catcher.url(provider.name, "x").partition("/v1/hooks")[0]
    routes = {"image_to_video": (Route(provider=provider.name, lane="submit"),)}
    return World(
        clock=clock,
        queue=TimedQueue(clock),
        media=PublicMedia(),
        providers={provider.name: provider},
        remote=remote,
        rules=Rules(routes=routes, hook_base=base),
    )
