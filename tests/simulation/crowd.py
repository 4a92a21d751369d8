"""Many clients at once on few accounts, and what they were told. Works on any `TaskStore`.

`hammered(ports)` is for a store in memory and for one over an emulator alike.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from functions.domain.credits import Entry
from functions.domain.errors import OutcomeUnknown, TallyreelError
from functions.domain.media import source_key
from functions.domain.ports import Ports
from functions.domain.results import (
    AccountFull,
    Application,
    Busy,
    Contended,
    Created,
    Creation,
    Grant,
    NoCredit,
    Replayed,
)
from functions.domain.stores import AuditStore, TaskStore
from functions.domain.tickets import NewTask, TaskRef
from functions.pipeline import intake, operate
from tests.doubles.store import MemoryStore
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import PHOTO
from tests.simulation.invariants import violations

CLIENTS = 16
ORDERS_EACH = 25
ACCOUNTS = ("ann", "ben", "cem")
PHOTOS = 6
GRANTED = 200
KIND = "image_to_video"
TRIES = 40


class RoughStore(MemoryStore):
    """A store in memory among rivals: some writes conflict, some answers are lost."""

    def __init__(self, seed: int) -> None:
        super().__init__(open_max=50)
        self._chance = random.Random(seed)
        self._chances = Lock()

    def create(self, new: NewTask) -> Creation:
        if self._drawn() < 0.2:  # TransactionConflict, at every try
            return Contended()
        made = super().create(new)
        if self._drawn() < 0.1:
            raise OutcomeUnknown
        return made

    def apply(self, *given: Any, **named: Any) -> Application:
        if self._drawn() < 0.2:
            return Contended()
        applied = super().apply(*given, **named)
        if self._drawn() < 0.1:
            raise OutcomeUnknown
        return applied

    def grant(
        self,
        account: str,
        entry: Entry,
        *,
        key_hash: str,
        fingerprint: str,
        keep_until: datetime,
    ) -> Grant:
        done = super().grant(
            account, entry, key_hash=key_hash, fingerprint=fingerprint, keep_until=keep_until
        )
        if self._drawn() < 0.3:
            raise OutcomeUnknown
        return done

    def _drawn(self) -> float:
        with self._chances:
            return self._chance.random()


@dataclass(slots=True)
class Told:
    """What one client was told: the ids that it got for each key."""

    ids: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    refused: int = 0


def gathered(world: World, seed: int) -> list[Told]:
    """Give all their photos and credits, then let them loose."""
    for account in ACCOUNTS:
        for number in range(PHOTOS):
            photo = (PHOTO + bytes([number]), "image/png")
            world.media.files[source_key(account, ulid(1 + number))] = photo
    granted(world)
    return hammered(world, seed)


def wrongs(told: Iterable[Told], store: TaskStore, auditing: AuditStore) -> list[str]:
    """Hold what clients were told against what is there, and what is there against itself."""
    ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for one in told:
        for key, tasks in one.ids.items():
            ids[key] |= tasks
    found = [f"{key} made {tasks}" for key, tasks in ids.items() if len(tasks) != 1]
    if len({task for tasks in ids.values() for task in tasks}) != len(ids):
        found.append("two keys made one task")
    for (account, _), tasks in ids.items():
        refs = [TaskRef(account=account, id=task) for task in tasks]
        found += [f"{ref} was acknowledged" for ref in refs if store.get(ref) is None]
    for account in ACCOUNTS:
        found += violations(auditing.books(account), [], ended=False)
        if store.balance(account).granted != GRANTED:
            found.append(f"{account} was granted {store.balance(account).granted}")
    return found


def granted(ports: Ports) -> None:
    """Give each account its credits, once, however often the answer is lost."""
    for account in ACCOUNTS:
        _insist(lambda a=account: operate.grant(ports, a, "grant-0000000001", GRANTED, None))  # type: ignore[misc]


def hammered(ports: Ports, seed: int) -> list[Told]:
    """Let all clients order and cancel at once; keys and photos are shared between them."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(lambda number: _client(ports, seed + number), range(CLIENTS)))


def _client(ports: Ports, seed: int) -> Told:
    chance, told = random.Random(seed), Told()
    for _ in range(ORDERS_EACH):
        account, number = chance.choice(ACCOUNTS), chance.randrange(PHOTOS * 4)
        key = f"key-{number:013}"
        body = {"source": ulid(1 + number % PHOTOS), "seconds": 4}
        made = _insist(lambda a=account, k=key, b=body: intake.order(ports, a, k, KIND, b))  # type: ignore[misc]
        if isinstance(made, Busy | NoCredit | AccountFull):
            told.refused += 1
            continue
        assert isinstance(made, Created | Replayed)
        task = made.task.id if isinstance(made, Created) else made.id
        told.ids.setdefault((account, key), set()).add(task)
        if chance.random() < 0.5:
            ref = TaskRef(account=account, id=task)
            _insist(lambda r=ref: intake.cancel(ports, r))  # type: ignore[misc]
    return told


def _insist(ask: Callable[[], object]) -> object:
    """Do as a client does: the same request again, until there is an answer."""
    for _ in range(TRIES):
        try:
            answer = ask()
        except TallyreelError:
            continue
        if not isinstance(answer, Contended):
            return answer
    raise AssertionError("never answered")
