"""A customer and an operator who do not give up, and time that passes until all has ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from functions.domain.media import source_key
from functions.domain.results import Applied, Created, Granted, Replayed
from functions.domain.states import TaskState
from functions.domain.tasks import Ignored, Task
from functions.domain.tickets import TaskRef
from functions.pipeline import intake, operate
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO
from tests.simulation.cloud import BUCKET
from tests.simulation.faults import Plan
from tests.simulation.invariants import violations
from tests.simulation.town import Town

ACCOUNT = "alice"
GRANTED = 20
KEY = "key-0000000000001"
KIND = "image_to_video"
ORDER: dict[str, Any] = {"source": ulid(1), "motion": "zoom-in", "seconds": 4}
ROUNDS_MAX = 80
TRIES = 4  # of one person in a row; more than there are faults in a run

Goal = Callable[[], bool]


@dataclass(slots=True)
class Story:
    """What people want, and how far they have come."""

    town: Town
    acknowledged: list[str] = field(default_factory=list)  # task ids, as answered to orders
    goals: list[Goal] = field(default_factory=list)
    kind: str = KIND
    wanted: dict[str, Any] = field(default_factory=lambda: ORDER)
    purged: set[str] = field(default_factory=set)  # task ids whose time is over
    chapter: int = 0  # how far the script has come
    place: str = "script"  # where in a chapter

    def begin(self) -> None:
        """Give credits and a photo, in peace; from here on calls are counted."""
        ports = self.town.ports
        granted = operate.grant(ports, ACCOUNT, "grant-0000000001", GRANTED, None)
        assert isinstance(granted, Granted)
        self.upload(ulid(1), PHOTO, "image/png")

    def upload(self, name: str, content: bytes, content_type: str) -> None:
        """Put a source into the bucket, in peace."""
        self.town.cloud.breaker.counting = False
        self.town.cloud.clients["s3"].put_object(
            Bucket=BUCKET, Key=source_key(ACCOUNT, name), Body=content, ContentType=content_type
        )
        self.town.cloud.breaker.counting = True

    def want(self, *goals: Goal) -> None:
        """Want something, after what is wanted already, and try at once."""
        self.goals += goals
        self.pursue()

    def pursue(self) -> None:
        """Try what is wanted, in order; what fails is tried again later."""
        place, self.place = self.place, "people"
        while self.goals and self.goals[0]():
            self.goals.pop(0)
            self.town.rest()
        self.place = place

    def order(self) -> bool:
        """Order with the one key."""
        made = self.town.process(
            "order", lambda: intake.order(self.town.ports, ACCOUNT, KEY, self.kind, self.wanted)
        )
        if isinstance(made, Created):
            self.acknowledged.append(made.task.id)
        elif isinstance(made, Replayed):
            self.acknowledged.append(made.id)
        return isinstance(made, Created | Replayed)

    def cancel(self) -> bool:
        """Withdraw the order; that it is too late is an answer too."""
        return bool(self.town.process("cancel", lambda: intake.cancel(self.town.ports, self.ref())))

    def redrive(self) -> bool:
        """Start the dead task again."""
        done = self.town.process("redrive", lambda: operate.redrive(self.town.ports, self.ref()))
        return isinstance(done, Applied | Ignored)

    def ref(self) -> TaskRef:
        """Name the ordered task."""
        return TaskRef(account=ACCOUNT, id=self.acknowledged[0])

    def recover(self) -> None:
        """Let time pass and the sweeper run until everything has ended."""
        self.chapter, self.place = self.chapter + 1, "today"
        self.town.pump()
        for _ in range(ROUNDS_MAX):
            self.place = "evening"
            self.town.rest()
            if not self.goals and all(task.state.done for task in self.town.tasks()):
                return
            self.town.wait()
            self.pursue()
            self.place = "next day"
            self.town.pump()
            self.place = "sweep"
            self.town.sweep()
        raise AssertionError("\n".join(["it never ended:", *self.town.log]))

    def settle_down(self) -> None:
        """Deliver what is left, sweep once more, and repeat the order with the same key."""
        town = self.town
        for message in town.messages:
            message.visible_at = town.ports.clock.now()
        self._quiet()
        self.chapter += 1
        assert any(self.order() for _ in range(TRIES)), "the order was never answered"
        self._quiet()
        town.cloud.breaker.counting = False

    def _quiet(self) -> None:
        self.chapter += 1
        self.town.pump()
        self.chapter += 1
        self.town.sweep()

    def state(self) -> list[Any]:
        """Say how far all have come; equal states have equal futures."""
        names = [getattr(goal, "__name__", "") for goal in self.goals]
        return [self.chapter, self.place, names, bool(self.acknowledged)]

    def task(self) -> Task:
        """Find the one task that there may be."""
        (task,) = self.town.tasks()
        return task

    def wrongs(self, expected: frozenset[TaskState]) -> list[str]:
        """Say what is not as it must be, now that all has ended."""
        town, task = self.town, self.task()
        books = town.ports.auditing.books(ACCOUNT)
        observe = town.cloud.breaker.observe
        market, model = town.ports.market, town.ports.model
        wrongs = violations(books, observe(town.cloud.files), ended=True)
        if market:
            wrongs += observe(lambda: market.violations(books.attempts))
            wrongs += observe(lambda: market.verdict(task, books.attempts, town.log))
        if model:
            wrongs += observe(lambda: model.violations(books.attempts))
            wrongs += observe(lambda: model.verdict(task, books.attempts, town.log))
        if set(self.acknowledged) != {task.id}:
            wrongs.append(f"answered with {self.acknowledged}, made {task.id}")
        if town.ports.store.balance(ACCOUNT).granted != GRANTED:
            wrongs.append("credits were made or lost")
        claims = sum(step.state is TaskState.RENDERING for step in task.history)
        if town.ports.renderer.calls > claims:
            wrongs.append(f"{town.ports.renderer.calls} renders for {claims} claims")
        if task.state not in expected:
            wrongs.append(f"ended {task.state}, not {' or '.join(sorted(expected))}")
        return wrongs


def plan_text(plan: Plan, story: Story) -> str:
    """Say what was broken, for a failure's message."""
    calls = story.town.cloud.breaker.calls
    return ", ".join(
        f"call {number} ({calls[number - 1] if number <= len(calls) else 'not reached'}) {fault}"
        for number, fault in plan.items()
    )
