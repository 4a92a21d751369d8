"""Who can do what: customers, the relay, workers, workflows, a provider, operators, chance."""

from collections.abc import Iterator

from functions.domain.states import Effect, Event
from tests.model.machine import (
    ASKED,
    BAD,
    BROKEN,
    CHECKING,
    CLAIMED,
    DEAD,
    DELIVERED,
    DONE,
    DOUBTFUL,
    GOOD,
    KEPT,
    NOTED,
    QUEUED,
    RENDERING,
    RUNNING,
    STARTED,
    UPLOADED,
    USELESS,
    VERIFYING,
    Broken,
    Move,
    Mutant,
    S,
    Setting,
    State,
    Writer,
    changed,
    put,
    sent,
    swapped,
    take,
)
from tests.model.steps import ATTEMPTS_MAX, ENDED

_NO_REMEDY = {
    Mutant.NO_REMEDY_QUEUED: QUEUED,
    Mutant.NO_REMEDY_RENDERING: RENDERING,
    Mutant.NO_REMEDY_CHECKING: CHECKING,
    Mutant.NO_REMEDY_VERIFYING: VERIFYING,
}


_FOUND = {GOOD: Event.VERIFIED, BAD: Event.ATTEMPT_FAILED, DOUBTFUL: Event.DOUBTED}


class Moves:
    """All moves of a setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.mutant = setting.mutant
        self.writer = Writer(setting)

    def all(self, s: State) -> Iterator[Move]:
        """Everything that can happen next."""
        yield from self._people(s)
        for worker in dict.fromkeys(s[S.WORKERS]):
            yield from self._worker(s, worker)
        if len(s[S.WORKERS]) < self.setting.workers:
            for ticket in s[S.QUEUE]:
                yield from self._claim(s, *ticket)
        for run in s[S.RUNS]:
            yield from self._workflow(s, *run)
        for hook in s[S.HOOKS]:
            yield from self._hook(s, hook)
        yield from self.unattended(s)

    def _arrived(self, s: State, place: S, message: tuple[object, ...]) -> State:
        """A message that was received; it may come again unless all is calm."""
        return changed(s, place, take(s[place], message)) if self.setting.calm else s

    def unattended(self, s: State) -> Iterator[Move]:
        """What happens with nobody there: time passes, the sweeper runs, a job ends."""
        if not self.setting.calm:
            yield from self._time(s)
        for job in dict.fromkeys(s[S.JOBS]):
            if job[3] == RUNNING:
                for end in (DONE, BROKEN):
                    n = changed(s, S.JOBS, put(take(s[S.JOBS], job), swapped(job, 3, end)))
                    yield "job ends", changed(n, S.HOOKS, put(s[S.HOOKS], job[:3]))

    def _time(self, s: State) -> Iterator[Move]:
        for key, task in enumerate(s[S.TASKS]):
            if task and task[5] == 0 and task[0] not in ENDED and not self._bounded(s, key):
                yield "time", changed(s, S.TASKS, swapped(s[S.TASKS], key, swapped(task, 5, 1)))
        if self.mutant is not Mutant.NO_SWEEPER:
            yield from self._sweeper(s)

    def _bounded(self, s: State, key: int) -> bool:
        """A submit function is over, one way or the other, before its lease can lapse."""
        return self.setting.provider and any(
            worker[1] == key and worker[0] == CLAIMED for worker in s[S.WORKERS]
        )

    def _people(self, s: State) -> Iterator[Move]:
        for key, task in enumerate(s[S.TASKS]):
            if not task:
                made = self.writer.opened(s, key)
                if made:
                    yield "order", made
                continue
            again = self.writer.opened(s, key) if self.mutant is Mutant.KEY_FORGOTTEN else None
            if again:
                yield "order again", again
            if s[S.CANCELS] and task[0] not in ENDED:
                n = self.writer.write(s, key, Event.CANCEL)
                if n:
                    yield "cancel", changed(n, S.CANCELS, s[S.CANCELS] - 1)
            yield from self._operator(s, key)

    def _operator(self, s: State, key: int) -> Iterator[Move]:
        task = s[S.TASKS][key]
        if task[7]:
            for event in (Event.VERIFIED, Event.REFUSED):
                yield f"operator {event}", self.writer.write(s, key, event) or s
        if task[0] == DEAD and task[4] + 1 < self.setting.cycles:
            n = self.writer.write(s, key, Event.REDRIVE)
            if n:
                yield "redrive", n

    def _claim(self, s: State, key: int, attempt: int) -> Iterator[Move]:
        task = s[S.TASKS][key]
        here = self._arrived(s, S.QUEUE, (key, attempt))
        lease = task[6] + 1
        if task[0] != QUEUED or task[1] != attempt:
            if self.mutant is Mutant.CLAIM_UNGUARDED:
                here = self.writer.forced(here, key, RENDERING, lease)
            yield "claim, late", here
            return
        n = self.writer.write(here, key, Event.CLAIMED, lease=lease)
        if n:
            if lease > (task[4] + 1) * ATTEMPTS_MAX + self.setting.returns:
                raise Broken("more claims than attempts")
            workers = put(s[S.WORKERS], (CLAIMED, key, attempt, lease))
            yield "claim", changed(n, S.WORKERS, workers)

    def _worker(self, s: State, worker: tuple[int, int, int, int]) -> Iterator[Move]:
        phase, key, attempt, lease = worker
        task = s[S.TASKS][key]
        rest = take(s[S.WORKERS], worker)
        idle = changed(s, S.WORKERS, rest)
        if not self.setting.calm:
            yield "worker dies", idle
        if task[0] == RENDERING and task[2] == lease and task[5] == 1:
            beat = swapped(s[S.TASKS], key, swapped(task, 5, 0))
            yield "heartbeat", changed(s, S.TASKS, beat)
        if phase == UPLOADED:
            yield "report", self.report(idle, key, attempt, lease, Event.RENDERED)
            return
        if self.setting.provider:
            yield from self._submit(s, worker, idle)
            return
        if self.setting.model and not any(job[3] == KEPT for job in s[S.JOBS] if job[0] == key):
            yield from self._ask(s, worker, idle)
            return
        outputs = swapped(s[S.OUTPUTS], key, s[S.OUTPUTS][key] | 1 << lease)
        n = changed(s, S.WORKERS, put(rest, (UPLOADED, key, attempt, lease)))
        yield "upload", changed(n, S.OUTPUTS, outputs)
        for event in (Event.ATTEMPT_FAILED, Event.REFUSED):
            yield f"report {event}", self.report(idle, key, attempt, lease, event)
        if s[S.RETURNS]:
            n = changed(idle, S.RETURNS, s[S.RETURNS] - 1)
            yield "give back", self.report(n, key, attempt, lease, Event.GIVEN_BACK)

    def _submit(self, s: State, worker: tuple[int, int, int, int], idle: State) -> Iterator[Move]:
        """One request to the provider; its answer may be lost, and then nobody knows."""
        _, key, attempt, lease = worker
        job = (key, attempt, lease, RUNNING)
        if all(known[:3] != job[:3] for known in s[S.JOBS]):
            yield "submit", changed(s, S.JOBS, put(s[S.JOBS], job))
            yield "provider refuses", self.report(idle, key, attempt, lease, Event.REFUSED)
            return
        for event in (Event.ACCEPTED, Event.UNANSWERED):
            yield f"mark {event}", self.report(idle, key, attempt, lease, event)

    def _ask(self, s: State, worker: tuple[int, int, int, int], idle: State) -> Iterator[Move]:
        """Note, ask, and keep what was answered; whoever dies in between leaves it unknown."""
        _, key, attempt, lease = worker
        mine = next((job for job in s[S.JOBS] if job[:3] == (key, attempt, lease)), None)
        if mine is None and self.mutant is not Mutant.ASKED_UNNOTED:
            noted = self.report(s, key, attempt, lease, Event.ASKING)
            if noted == s:
                yield "nothing to ask any more", idle
            else:
                job = (key, attempt, lease, NOTED)
                yield "note", changed(noted, S.JOBS, put(noted[S.JOBS], job))
        elif mine is None or mine[3] == NOTED:
            if any(job[0] == key and job[3] == ASKED for job in s[S.JOBS]):
                raise Broken("asked again while an answer may be lost")
            rest = take(s[S.JOBS], mine) if mine else s[S.JOBS]
            yield "ask", changed(s, S.JOBS, put(rest, (key, attempt, lease, ASKED)))
        elif mine[3] == ASKED:
            kept = put(take(s[S.JOBS], mine), swapped(mine, 3, KEPT))
            yield "keep the answer", changed(s, S.JOBS, kept)
            known = put(take(s[S.JOBS], mine), swapped(mine, 3, USELESS))
            for event in (Event.ATTEMPT_FAILED, Event.REFUSED):
                n = changed(idle, S.JOBS, known)
                yield f"answer {event}", self.report(n, key, attempt, lease, event)
            lost = Event.UNANSWERED
            if self.mutant is Mutant.LOST_IS_FAILED:
                lost = Event.ATTEMPT_FAILED
            yield "answer lost", self.report(idle, key, attempt, lease, lost)

    def report(self, s: State, key: int, attempt: int, lease: int, event: Event) -> State:
        """Write a worker's or provider's word, if it is still about the task's attempt."""
        task = s[S.TASKS][key]
        fenced = task[1] == attempt and task[2] == lease
        if self.mutant is Mutant.LATE_CHARGED and event is Event.RENDERED and task[0] in ENDED:
            return self.writer.forced(s, key, DELIVERED, lease)
        if not fenced and self.mutant is not Mutant.RESULT_UNFENCED:
            return s
        n = self.writer.write(s, key, event)
        if n and not fenced:
            raise Broken("a result of another lease was accepted")
        return n or s

    def _workflow(self, s: State, key: int, attempt: int, finding: int) -> Iterator[Move]:
        task = s[S.TASKS][key]
        waits = task[0] == VERIFYING and task[1] == attempt and not task[7]
        here = self._arrived(s, S.RUNS, (key, attempt, finding))
        if not waits:
            if self.mutant is Mutant.SETTLE_UNGUARDED and finding == GOOD:
                here = self.writer.forced(here, key, DELIVERED, task[2])
            yield "workflow, late", here
        elif finding == STARTED:
            there = s[S.OUTPUTS][key] >> task[2] & 1
            good = (GOOD, BAD, DOUBTFUL) if self.setting.reviews else (GOOD, BAD)
            for found in good if there else (BAD,):
                if (key, attempt, found) not in here[S.RUNS]:
                    yield "verify", changed(here, S.RUNS, put(here[S.RUNS], (key, attempt, found)))
        else:
            event = _FOUND[finding]
            yield f"settle {event}", self.writer.write(here, key, event) or here

    def _hook(self, s: State, hook: tuple[int, int, int]) -> Iterator[Move]:
        here = self._arrived(s, S.HOOKS, hook)
        unmarked = any(worker[1:] == hook for worker in s[S.WORKERS])
        if unmarked and self.mutant is Mutant.HOOK_AFTER_MARK:
            yield "hook ignored", here
        else:
            yield "hook", self._fetched(here, *hook)

    def _fetched(self, s: State, key: int, attempt: int, lease: int) -> State:
        """A hook is a hint: the job itself is asked, and a result copied before it is said."""
        how = next(job[3] for job in s[S.JOBS] if job[:3] == (key, attempt, lease))
        if how == RUNNING:
            return s
        if how == BROKEN:
            return self.report(s, key, attempt, lease, Event.ATTEMPT_FAILED)
        outputs = swapped(s[S.OUTPUTS], key, s[S.OUTPUTS][key] | 1 << lease)
        return self.report(changed(s, S.OUTPUTS, outputs), key, attempt, lease, Event.RENDERED)

    def _sweeper(self, s: State) -> Iterator[Move]:
        if not s[S.SWEEPER]:
            for key, task in enumerate(s[S.TASKS]):
                if task and task[5] == 1 and _NO_REMEDY.get(self.mutant) != task[0]:
                    yield "sweeper reads", changed(s, S.SWEEPER, (key, task))
            return
        key, image = s[S.SWEEPER]
        if image[3] > self.setting.patience and not image[7]:
            raise Broken("a remedy is repeated without limit")
        done, event = self._remedy(changed(s, S.SWEEPER, ()), key, image)
        yield "sweeper dies", done
        task = s[S.TASKS][key]
        same = image == task
        if self.mutant is Mutant.OVERDUE_UNGUARDED:
            same = image[:5] == task[:5]
        if same:
            yield f"sweep {event}", self.writer.write(done, key, event, swept=True) or done

    def _remedy(self, s: State, key: int, image: tuple[int, ...]) -> tuple[State, Event]:
        """What the sweeper does about an overdue image: perhaps a message, and an event."""
        state, attempt, lease, tries = image[:4]
        if state == QUEUED and tries >= self.setting.patience:
            return s, Event.WAIT_EXPIRED
        if state == QUEUED:
            return sent(s, Effect.SEND, key, attempt), Event.RESENT
        if state == RENDERING:
            failed = self.mutant is Mutant.UNKNOWN_IS_FAILED
            return s, Event.ATTEMPT_FAILED if failed else Event.OVERDUE
        if state == VERIFYING:
            return self._unverified(s, key, image)
        return self._asked(s, key, (key, attempt, lease))

    def _unverified(self, s: State, key: int, image: tuple[int, ...]) -> tuple[State, Event]:
        if image[7]:  # nobody reviewed it
            return s, Event.REFUSED
        if image[3] < self.setting.patience:
            return sent(s, Effect.VERIFY, key, image[1]), Event.RESTARTED
        forever = self.mutant is Mutant.RESTARTS_FOREVER
        return s, Event.RESTARTED if forever else Event.ATTEMPT_FAILED

    def _asked(self, s: State, key: int, wanted: tuple[int, int, int]) -> tuple[State, Event]:
        """Ask the provider, or the bucket, how an attempt ended."""
        if self.setting.provider:
            how = next((job[3] for job in s[S.JOBS] if job[:3] == wanted), BROKEN)
            if how == RUNNING:
                return s, Event.STILL_RUNNING
            if how == DONE:
                outputs = swapped(s[S.OUTPUTS], key, s[S.OUTPUTS][key] | 1 << wanted[2])
                return changed(s, S.OUTPUTS, outputs), Event.RENDERED
            return s, Event.ATTEMPT_FAILED
        there = s[S.OUTPUTS][key] >> wanted[2] & 1
        if there:
            return s, Event.RENDERED
        asked = self.mutant is not Mutant.ASKED_UNNOTED and any(
            job[:3] == wanted and job[3] in (NOTED, ASKED) for job in s[S.JOBS]
        )
        return s, Event.REFUSED if asked else Event.ATTEMPT_FAILED
