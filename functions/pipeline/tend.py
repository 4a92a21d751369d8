"""Tend: what goes on beside a render while it runs. It ends it when it should not go on."""

from datetime import datetime, timedelta
from pathlib import Path

from functions.domain.outcomes import Failed
from functions.domain.ports import Ports
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.domain.work import Errand, Progress

LOOK = timedelta(seconds=0.7)  # for half a read unit each: a canceled render is ended within two
NOTE = timedelta(seconds=10)
AFTERWARDS_SECONDS = 15  # to inspect and to upload, of the time that a worker still has
# Five times slower than the slowest page measured on one core.
BUDGET_SECONDS, BUDGET_SECONDS_PER_STEP = 900, 0.2


class LeaseLost(Exception):
    """Ends the work: the task is no longer ours."""


class StayOver(BaseException):
    """Ends the work: this worker has to go before it could finish.

    It may be raised anywhere, also within an SDK's call, which takes every `Exception` for trouble
    of its own and repeats the call.
    """


class CutShort(Exception):
    """Ends the work: it takes too long, or more than this machine has."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed


OVERDUE = Failed(code="render-overdue", reason="The work took far longer than it should.")


class Tending:
    """Renews the lease from the heartbeat's thread; looks after the rest as the work reports."""

    def __init__(self, ports: Ports, task: Task, workdir: Path, errand: Errand | None) -> None:
        self._ports = ports
        self._task = task
        self._workdir = workdir
        self._errand = errand
        self._kind = ports.kinds[task.kind]
        self._lost = False
        now = ports.clock.now()
        self._begun = self._looked = self._noted = now
        self._filming: tuple[datetime, int] | None = None  # since when, and from which step

    def beat(self) -> bool:
        """Keep lease and message for another while; False if the lease is lost."""
        lease = timedelta(seconds=self._kind.limits.lease_seconds)
        held = self._ports.store.renew(self._task, self._ports.clock.now() + lease)
        self._lost = self._lost or not held
        if held and self._errand is not None:
            self._errand.extend()
        return held

    def on_progress(self, done: int, total: int) -> None:
        """Look whether to go on. A function has none of this to do: its time is short."""
        if self._lost:
            raise LeaseLost
        if self._errand is None:
            return
        now = self._ports.clock.now()
        if total and self._filming is None:
            self._filming = (now, done)
        if now - self._looked >= LOOK:
            self._looked = now
            self.look()
            self._afford(now, total)
        if total and now - self._noted >= NOTE:
            self._noted = now
            self._ports.progress.write(self._task, Progress(done=done, total=total), now)
        left = self._errand.seconds_left()
        if left is not None and self._seconds_to_go(now, done, total) > left:
            raise StayOver

    def make_sure(self) -> None:
        """See that there is room for the work before anything of it is fetched."""
        if self._errand is not None:
            self._spare()

    def still_ours(self) -> None:
        """Look whether to go on waiting for somebody else."""
        if self._lost:
            raise LeaseLost
        now = self._ports.clock.now()
        if self._errand is not None and now - self._looked >= LOOK:
            self._looked = now
            self.look()

    def stay_for(self, seconds: float) -> None:
        """Begin nothing that may take longer than this worker is going to be there."""
        left = self._errand.seconds_left() if self._errand else None
        if left is not None and left < seconds:
            raise StayOver

    def look(self) -> None:
        """Read whether the task is still ours. Where nobody waits long, that is left out."""
        if self._errand is None:
            return
        ref = TaskRef(account=self._task.account, id=self._task.id)
        seen = self._ports.store.get(ref, fresh=False)
        ours = (TaskState.RENDERING, self._task.attempt, self._task.lease)
        # A copy that is older than the claim says nothing.
        if (
            seen
            and seen.version >= self._task.version
            and ((seen.state, seen.attempt, seen.lease) != ours)
        ):
            raise LeaseLost

    def _afford(self, now: datetime, total: int) -> None:
        budget = min(self._kind.timeout_seconds, BUDGET_SECONDS + BUDGET_SECONDS_PER_STEP * total)
        if now - self._begun > timedelta(seconds=budget):
            raise CutShort(OVERDUE)
        self._spare()

    def _spare(self) -> None:
        short = self._ports.workshop.shortage(self._workdir)
        if short is not None:
            raise CutShort(short)

    def _seconds_to_go(self, now: datetime, done: int, total: int) -> float:
        """Estimate by how it went so far; what has not begun is taken to be endless."""
        if self._filming is None or done <= self._filming[1]:
            return float("inf")
        since, first = self._filming
        return (now - since).total_seconds() / (done - first) * (total - done) + AFTERWARDS_SECONDS
