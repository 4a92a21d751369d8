"""What providers were paid, or may have been, against what customers were charged."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from functions.domain.attempts import Attempt
from functions.domain.states import TaskState
from functions.domain.tasks import Task

LINES_MAX = 400  # some two months of six providers; older days are dropped first


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLine:
    """One provider on one day (UTC).

    `possible` attempts have no outcome that excludes a fee: nobody said that they were free.
    """

    provider: str
    day: str
    attempts: int = 0
    charged: int = 0
    free: int = 0
    possible: int = 0
    units: int = 0  # ordered seconds of what was, or may have been, paid
    settled: int = 0  # credits charged to customers for this provider's results


Lines = dict[tuple[str, str], SpendLine]


def added(lines: Mapping[tuple[str, str], SpendLine], attempts: Iterable[Attempt]) -> Lines:
    """Add attempts to the lines of their providers and days."""
    sums = dict(lines)
    for attempt in attempts:
        line = _line(sums, attempt.provider, f"{attempt.at:%Y-%m-%d}")
        free = attempt.charged is False
        sums[line.provider, line.day] = replace(
            line,
            attempts=line.attempts + 1,
            charged=line.charged + int(attempt.charged is True),
            free=line.free + int(free),
            possible=line.possible + int(attempt.charged is None),
            units=line.units + (0 if free else attempt.units),
        )
    return sums


def settled(lines: Mapping[tuple[str, str], SpendLine], tasks: Iterable[Task]) -> Lines:
    """Add what customers were charged for delivered results."""
    sums = dict(lines)
    for task in tasks:
        if task.state is TaskState.DELIVERED:
            line = _line(sums, task.provider, f"{task.history[-1].at:%Y-%m-%d}")
            sums[line.provider, line.day] = replace(line, settled=line.settled + task.price)
    return sums


def newest(lines: Mapping[tuple[str, str], SpendLine]) -> tuple[SpendLine, ...]:
    """List lines, the newest days first, as many as a report holds."""
    ordered = sorted(lines.values(), key=lambda line: (line.day, line.provider), reverse=True)
    return tuple(ordered[:LINES_MAX])


def _line(sums: Lines, provider: str, day: str) -> SpendLine:
    return sums.get((provider, day)) or SpendLine(provider=provider, day=day)
