"""Everything that can happen to two orders on one source, as small numbers.

A state is a tuple; `S` names its places. What was sent once may arrive never, late, again and
in any order: messages are a set that only grows. Whoever works may vanish at any moment. Time is
only whether a task's deadline has passed. In the `calm` setting, made to look at the fast path
alone, each message arrives once and nobody vanishes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

from functions.domain.credits import EntryKind
from functions.domain.states import Effect, Event, TaskState
from tests.model.steps import ENDED, NUMBER, PAIRS, step

State: TypeAlias = tuple[Any, ...]
Move: TypeAlias = tuple[str, State]

QUEUED, RENDERING, CHECKING, VERIFYING, DELIVERED, FAILED, DEAD, CANCELED = map(
    NUMBER.__getitem__, TaskState
)


class S(IntEnum):
    """The places of a state."""

    TASKS = 0  # per key: (state, attempt, lease, tries, cycle, due, claims, review) or ()
    OUTPUTS = 1  # per key, which leases' outputs are in the bucket, as bits
    LOCK = 2  # the key that holds the source, or -1
    MONEY = 3  # available, held, spent
    LEDGER = 4  # per key and cycle: HELD, SETTLED or RELEASED
    QUEUE = 5  # (key, attempt): tickets
    RUNS = 6  # (key, attempt, finding): settle workflows
    HOOKS = 7  # (key, attempt, lease)
    JOBS = 8  # (key, attempt, lease, how it stands): at a provider
    WORKERS = 9  # (phase, key, attempt, lease)
    SWEEPER = 10  # (key, the image that it read) or ()
    CANCELS = 11  # how often a customer may still change his mind
    RETURNS = 12  # graceful stops that may still come


HELD, SETTLED, RELEASED = 1, 2, 3
CLAIMED, UPLOADED = 1, 2  # a worker's phases
STARTED, GOOD, BAD, DOUBTFUL = 0, 1, 2, 3  # a workflow's findings
RUNNING, DONE, BROKEN = 0, 1, 2  # a provider's job
NOTED, ASKED, KEPT, USELESS = 3, 4, 5, 6  # a question to a model, and its answer


class Mutant(StrEnum):
    """Mistakes that the search must catch."""

    NONE = "the design"
    SETTLE_UNGUARDED = "settle without the state condition"
    LOCK_SECOND_CALL = "lock deleted in a second call"
    HOLD_SECOND_CALL = "hold written in a second call"
    SWEPT_WITHOUT_RELEASE = "the sweeper ends a task without the settle path"
    NO_SWEEPER = "no sweeper"
    NO_REMEDY_QUEUED = "sweeper without a remedy for queued"
    NO_REMEDY_RENDERING = "sweeper without a remedy for rendering"
    NO_REMEDY_CHECKING = "sweeper without a remedy for checking"
    NO_REMEDY_VERIFYING = "sweeper without a remedy for verifying"
    RESTARTS_FOREVER = "workflow restarted without limit"
    RESULT_UNFENCED = "result accepted without its lease"
    OVERDUE_UNGUARDED = "lapse not guarded by the deadline"
    REDRIVE_WITHOUT_HOLD = "redrive without a new hold"
    LATE_CHARGED = "late result charged"
    CLAIM_UNGUARDED = "claim without the state condition"
    FREE_CRASHES = "a lost worker costs no attempt"
    KEY_FORGOTTEN = "idempotency record not written"
    UNKNOWN_IS_FAILED = "silent provider taken for failed"
    HOOK_AFTER_MARK = "webhook accepted only after the submit mark"
    ASKED_UNNOTED = "a model asked before that is written down"
    LOST_IS_FAILED = "a model's lost answer taken for none"


@dataclass(frozen=True, slots=True)
class Setting:
    """How large the searched world is."""

    keys: int = 2
    workers: int = 2
    cancels: int = 1
    returns: int = 0
    credits: int = 2
    cycles: int = 2  # an operator redrives a dead task so often, less one
    patience: int = 1  # remedies tried in one state before the sweeper gives up on it
    reviews: bool = False  # an inspection may leave it to an operator
    provider: bool = False  # renders at a provider with webhooks, found by our token
    model: bool = False  # a model is asked, which keeps nothing of its answers
    calm: bool = False  # no faults and no sweeper: the fast path alone
    forgets: bool = False  # drops messages to tasks that have ended for good; see `search`
    mutant: Mutant = Mutant.NONE


class Broken(Exception):
    """Something happened that must not, in one step."""


def start(setting: Setting) -> State:
    """Nothing has been ordered."""
    none: tuple[Any, ...] = ()
    return (
        (none,) * setting.keys,
        (0,) * setting.keys,
        -1,
        (setting.credits, 0, 0),
        (none,) * setting.keys,
        none,
        none,
        none,
        none,
        none,
        none,
        setting.cancels,
        setting.returns,
    )


def put(bag: tuple[Any, ...], thing: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add to a bag."""
    return tuple(sorted((*bag, thing)))


def take(bag: tuple[Any, ...], thing: tuple[Any, ...]) -> tuple[Any, ...]:
    """Take one from a bag."""
    place = bag.index(thing)
    return bag[:place] + bag[place + 1 :]


def sent(s: State, effect: Effect | None, key: int, attempt: int) -> State:
    """Do what the relay does with an image's effect; from then on it may arrive."""
    if effect is Effect.SEND and (key, attempt) not in s[S.QUEUE]:
        return changed(s, S.QUEUE, put(s[S.QUEUE], (key, attempt)))
    if effect is Effect.VERIFY and (key, attempt, STARTED) not in s[S.RUNS]:
        return changed(s, S.RUNS, put(s[S.RUNS], (key, attempt, STARTED)))
    return s


def changed(s: State, place: S, value: object) -> State:
    """Change one place of a state."""
    return (*s[:place], value, *s[place + 1 :])


def swapped(row: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    """Change one place."""
    return (*row[:place], value, *row[place + 1 :])


def wrongs(s: State) -> Iterator[str]:
    """What must be true in every state."""
    money, lock, ledger = s[S.MONEY], s[S.LOCK], s[S.LEDGER]
    open_keys = [key for key, task in enumerate(s[S.TASKS]) if task and task[0] not in ENDED]
    if min(money) < 0:
        yield "credits are negative"
    if money[1] != len(open_keys):
        yield "held is not what open tasks cost"
    if money[1] != sum(entry == HELD for row in ledger for entry in row):
        yield "held is not what the ledger says"
    if money[2] != sum(entry == SETTLED for row in ledger for entry in row):
        yield "spent is not what the ledger says"
    if ([lock] if lock >= 0 else []) != open_keys:
        yield "lock and open task disagree"
    yield from _task_wrongs(s)
    running = [job[0] for job in s[S.JOBS] if job[3] == RUNNING]
    if len(running) != len(set(running)):
        yield "two provider jobs run for one task"


def _task_wrongs(s: State) -> Iterator[str]:
    for key, task in enumerate(s[S.TASKS]):
        if not task:
            continue
        if (task[0] == DELIVERED) != (s[S.LEDGER][key][-1] == SETTLED):
            yield "delivered and settled disagree"
        if task[0] == DELIVERED and not s[S.OUTPUTS][key] >> task[2] & 1:
            yield "delivered without an output"
        if task[0] not in ENDED and task[5] < 0:
            yield "unfinished without a deadline"


class Writer:
    """The one way a task is written: over the table, in one go, if it is as it was read."""

    def __init__(self, setting: Setting) -> None:
        self.mutant = setting.mutant

    def opened(self, s: State, key: int) -> State | None:
        """Take an order: record, lock and hold at once, or nothing."""
        available, held, spent = s[S.MONEY]
        if s[S.LOCK] >= 0 or available < 1:
            return None
        n = list(s)
        n[S.TASKS] = swapped(s[S.TASKS], key, (QUEUED, 1, 0, 0, 0, 0, 0, False))
        n[S.LEDGER] = swapped(s[S.LEDGER], key, (HELD,))
        n[S.LOCK] = key
        if self.mutant is not Mutant.HOLD_SECOND_CALL:
            n[S.MONEY] = (available - 1, held + 1, spent)
        return sent(tuple(n), Effect.SEND, key, 1)

    def write(
        self, s: State, key: int, event: Event, *, lease: int | None = None, swept: bool = False
    ) -> State | None:
        """Take a step; None if the table does not know it, or credits or lock refuse it."""
        task = s[S.TASKS][key]
        done = step(task[0], task[1], task[3], task[4], event)
        if done is None:
            return None
        if done.state != task[0] and (task[0], done.state) not in PAIRS:
            raise Broken("a step that is not in the table")
        if event is Event.OVERDUE and task[5] != 1:
            raise Broken("a live lease was taken")
        attempt = done.attempt
        if self.mutant is Mutant.FREE_CRASHES and event is Event.ATTEMPT_FAILED:
            attempt = task[1]
        keeps = task[2] if done.keeps_lease or done.state in ENDED else 0
        image = (
            done.state,
            attempt,
            keeps if lease is None else lease,
            done.tries,
            done.cycle,
            0 if done.has_deadline else -1,
            task[6] + (event is Event.CLAIMED),
            done.review,
        )
        n = list(s)
        n[S.TASKS] = swapped(s[S.TASKS], key, image)
        if done.credits is not None and not self._paid(n, key, done.credits, swept=swept):
            return None
        return sent(tuple(n), done.effect, key, attempt)

    def forced(self, s: State, key: int, state: int, lease: int) -> State:
        """What a write without conditions would do; only mistakes come here."""
        task = s[S.TASKS][key]
        n = list(s)
        image = (state, task[1], lease, 0, task[4], 0, max(task[6], lease), False)
        n[S.TASKS] = swapped(s[S.TASKS], key, image)
        if state == DELIVERED:
            available, held, spent = s[S.MONEY]
            rows = s[S.LEDGER][key]
            n[S.MONEY] = (available, held - 1, spent + 1)
            n[S.LEDGER] = swapped(s[S.LEDGER], key, (*rows[:-1], SETTLED))
            n[S.LOCK] = -1
        return tuple(n)

    def _paid(self, n: list[Any], key: int, kind: EntryKind, *, swept: bool) -> bool:
        available, held, spent = n[S.MONEY]
        rows = n[S.LEDGER][key]
        if kind is EntryKind.HOLD:
            if n[S.LOCK] >= 0 or available < 1:
                return False
            n[S.LOCK] = key
            if self.mutant is Mutant.REDRIVE_WITHOUT_HOLD:
                return True
            n[S.LEDGER] = swapped(n[S.LEDGER], key, (*rows, HELD))
            n[S.MONEY] = (available - 1, held + 1, spent)
            return True
        if swept and self.mutant is Mutant.SWEPT_WITHOUT_RELEASE:
            return True
        if rows[-1] != HELD:
            raise Broken("a hold ends twice")
        settled = kind is EntryKind.SETTLE
        n[S.LEDGER] = swapped(n[S.LEDGER], key, (*rows[:-1], SETTLED if settled else RELEASED))
        n[S.MONEY] = (available + (not settled), held - 1, spent + settled)
        if self.mutant is not Mutant.LOCK_SECOND_CALL:
            n[S.LOCK] = -1
        return True
