"""Breadth first over all states; and from each, whether an end can still be reached."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.model.machine import DEAD, RUNNING, Broken, S, Setting, State, start, wrongs
from tests.model.moves import Moves
from tests.model.steps import ENDED

Progress = Callable[[int, int], None]  # states seen, states that wait


@dataclass(slots=True)
class Verdict:
    """What a search found. `wrong` is None, or what and by which steps."""

    states: int
    wrong: str | None = None
    trail: list[str] = field(default_factory=list)


def search(setting: Setting, *, progress: Progress = lambda _a, _b: None) -> Verdict:
    """Look at every state, shortest ways first; stop at the first that is wrong.

    A setting that forgets relies on one that does not: it has shown that a task which has ended
    for good takes no notice of whatever still arrives.
    """
    moves = Moves(setting)
    endings = Endings(moves)
    first = start(setting)
    seen: dict[State, tuple[str, State] | None] = {first: None}
    waiting = deque([first])
    while waiting:
        s = waiting.popleft()
        wrong = next(wrongs(s), None)
        if wrong is None:
            wrong = _spread(moves, s, seen, waiting)
        if wrong is None and not setting.calm:
            wrong = endings.missed(s)
        if wrong is not None:
            return Verdict(states=len(seen), wrong=wrong, trail=_trail(seen, s))
        if len(seen) % 1024 == 0:
            progress(len(seen), len(waiting))
    return Verdict(states=len(seen))


def _spread(
    moves: Moves, s: State, seen: dict[State, tuple[str, State] | None], waiting: deque[State]
) -> str | None:
    """Add what can follow; say what went wrong on the way."""
    setting = moves.setting
    try:
        for name, after in moves.all(s):
            n = forgotten(after, setting.cycles) if setting.forgets else after
            if n not in seen:
                seen[n] = (name, s)
                waiting.append(n)
    except Broken as broken:
        return str(broken)
    return None


def _trail(seen: dict[State, tuple[str, State] | None], s: State) -> list[str]:
    names: list[str] = []
    step = seen[s]
    while step is not None:
        names.append(step[0])
        step = seen[step[1]]
    return names[::-1]


def forgotten(s: State, cycles: int) -> State:
    """Drop what is still on its way to tasks that have ended for good."""
    over = {key for key, task in enumerate(s[S.TASKS]) if task and _final(task, cycles)}
    if not over:
        return s
    n = list(s)
    for place in (S.QUEUE, S.RUNS, S.HOOKS):
        n[place] = tuple(message for message in s[place] if message[0] not in over)
    n[S.WORKERS] = tuple(worker for worker in s[S.WORKERS] if worker[1] not in over)
    n[S.JOBS] = tuple(job for job in s[S.JOBS] if job[0] not in over or job[3] == RUNNING)
    n[S.SWEEPER] = () if s[S.SWEEPER] and s[S.SWEEPER][0] in over else s[S.SWEEPER]
    return tuple(n)


def _final(task: tuple[int, ...], cycles: int) -> bool:
    return task[0] in ENDED and (task[0] != DEAD or task[4] + 1 == cycles)


def finished(s: State) -> bool:
    """Whether all that was ordered has ended."""
    return all(not task or task[0] in ENDED for task in s[S.TASKS])


class Endings:
    """Whether a state ends when messages, workers and workflows are gone for ever."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self._known: dict[State, bool] = {}

    def missed(self, s: State) -> str | None:
        """Say why a state cannot end; None if it can."""
        try:
            ends = self.reachable(s)
        except Broken as broken:
            return str(broken)
        return None if ends else "no end can be reached by the sweeper alone"

    def reachable(self, s: State) -> bool:
        """Whether time, the sweeper and a provider's jobs alone can end all tasks."""
        alone = _abandoned(s)
        if alone in self._known:
            return self._known[alone]
        path: list[tuple[State, list[State]]] = [(alone, self._next(alone))]
        self._known[alone] = finished(alone)
        while path and not self._known[alone]:
            here, rest = path[-1]
            if not rest or self._known[here]:
                path.pop()
                if path and self._known[here]:
                    self._known[path[-1][0]] = True
                continue
            n = rest.pop()
            if n not in self._known:
                self._known[n] = finished(n)
                path.append((n, self._next(n)))
            elif self._known[n]:
                self._known[here] = True
        for here, _ in path:  # what was on the way to an end reaches it too
            self._known[here] = self._known[here] or self._known[alone]
        return self._known[alone]

    def _next(self, s: State) -> list[State]:
        return [_abandoned(n) for _, n in self._moves.unattended(s)]


def _abandoned(s: State) -> State:
    n = list(s)
    for place in (S.QUEUE, S.RUNS, S.HOOKS, S.WORKERS):
        n[place] = ()
    n[S.CANCELS] = n[S.RETURNS] = 0
    return tuple(n)


def dead_ends(setting: Setting) -> Verdict:
    """Look for states from which no end can be reached by any moves of the setting."""
    moves = Moves(setting)
    first = start(setting)
    before: dict[State, list[State]] = {first: []}
    how: dict[State, tuple[str, State] | None] = {first: None}
    waiting = deque([first])
    while waiting:
        s = waiting.popleft()
        for name, n in moves.all(s):
            if n not in before:
                before[n], how[n] = [], (name, s)
                waiting.append(n)
            before[n].append(s)
    alive = _reaching(before, (s for s in before if finished(s)))
    stuck = next((s for s in before if s not in alive), None)
    if stuck is None:
        return Verdict(states=len(before))
    return Verdict(states=len(before), wrong="stuck", trail=_trail(how, stuck))


def _reaching(before: dict[State, list[State]], ends: Iterable[State]) -> set[State]:
    alive = set(ends)
    waiting = list(alive)
    while waiting:
        for s in before[waiting.pop()]:
            if s not in alive:
                alive.add(s)
                waiting.append(s)
    return alive
