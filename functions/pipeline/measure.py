"""Measure: learn from delivered tasks how long each provider takes, and be as patient as that."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from functions.domain.errors import TallyreelError
from functions.domain.ports import Ports
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.windows import QUANTILE, Sample, Sketch, added, sample_of, window

WRITE_TRIES = 3  # rivals are few: a stream's shards write one sketch each half minute
MEDIAN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a provider takes for a kind, and how long its silence is borne now, in seconds."""

    kind: str
    provider: str
    samples: int
    p50: float | None
    p99: float | None
    window: int


def measure(ports: Ports, tasks: Iterable[Task]) -> dict[str, int]:
    """Count durations, one write per kind and provider. Lost or doubled samples do no harm."""
    found: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    done = {"counted": 0, "unknown": 0, "lost": 0}
    for task in tasks:
        sample = sample_of(task) if task.state is TaskState.DELIVERED else None
        if sample is None:
            done["unknown"] += 1
        else:
            found[task.kind, task.provider].append(sample)
    for (kind, provider), samples in found.items():
        kept = _kept(ports, kind, provider, samples)
        done["counted" if kept else "lost"] += len(samples)
    return done


def _kept(ports: Ports, kind: str, provider: str, samples: list[Sample]) -> bool:
    try:
        for _ in range(WRITE_TRIES):
            known = ports.durations.read(kind, provider)
            sketch = known or Sketch(since=min(sample.at for sample in samples))
            if ports.durations.write(kind, provider, added(sketch, samples)):
                return True
    except TallyreelError:
        return False
    return False


def window_seconds(ports: Ports, task: Task) -> int:
    """Say how long a task's provider may be silent: as measured, or by default if that is lost."""
    limits = ports.kinds[task.kind].limits
    try:
        sketch = ports.durations.read(task.kind, task.provider)
    except TallyreelError:
        return limits.window_seconds
    return window(sketch, ports.clock.now(), limits)


def paces(ports: Ports) -> list[Pace]:
    """List what is known of every kind and provider that was ever measured."""
    now = ports.clock.now()
    found = [
        (kind, provider, ports.durations.read(kind.name, provider))
        for kind in ports.kinds.values()
        for provider in ports.providers
    ]
    return [
        Pace(
            kind=kind.name,
            provider=provider,
            samples=round(sketch.samples(now)),
            p50=sketch.quantile(MEDIAN),
            p99=sketch.quantile(QUANTILE),
            window=window(sketch, now, kind.limits),
        )
        for kind, provider, sketch in found
        if sketch
    ]
