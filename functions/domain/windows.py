"""How long a provider may be silent, learnt from how long it took before.

A sketch counts durations in buckets that grow by a constant factor (DDSketch's method, VLDB
2019), so a quantile is off by at most `ACCURACY` of its value, whatever the distribution. A
sample counts half after `HALF_LIFE`: last month does not rule this week. Instead of shrinking
what is stored, younger samples weigh more, relative to `since` (forward decay): rounding then
cannot keep old weights alive. The PyPI package has no decay, keeps empty buckets, and would be
the domain's only dependency; the method is what is below.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, floor, log

from functions.domain.deadlines import Limits
from functions.domain.states import TaskState
from functions.domain.tasks import Task

ACCURACY = 0.03
SECONDS = (1.0, 86_400.0)  # shorter and longer durations count as these: 190 buckets at most
HALF_LIFE = timedelta(days=3)  # after ten days, a tenth; after thirty, a thousandth
SAMPLES_MIN = 100  # fewer say little about one in a hundred
QUANTILE = 0.99
MARGIN = 1.5  # a provider may have a bad day before it is suspected

_GROWTH = (1 + ACCURACY) / (1 - ACCURACY)
_UNDER_WAY = (TaskState.RENDERING, TaskState.CHECKING)
_ONE = 100  # weights are kept in whole hundredths
_SHIFT_MAX = 64  # half-lives; beyond, nothing is left or nothing was there


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One duration, and when it ended."""

    seconds: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Durations of one kind at one provider. `weights` are by bucket, in hundredths at `since`."""

    since: datetime
    weights: Mapping[int, int] = field(default_factory=dict)
    version: int = 0  # how often it was written; 0: never

    def samples(self, now: datetime) -> float:
        """Say how many samples it is worth now, the older ones counted in part."""
        return sum(self.weights.values()) / _ONE / _grown(self.since, now)

    def quantile(self, share: float) -> float | None:
        """Say below what this share of the durations lies, within `ACCURACY`."""
        target = share * sum(self.weights.values())
        below = 0
        for bucket in sorted(self.weights):
            below += self.weights[bucket]
            if below >= target:
                return _middle(bucket)
        return None


def added(sketch: Sketch, samples: Iterable[Sample]) -> Sketch:
    """Count more durations; `since` moves on so that weights stay small."""
    fresh = list(samples)
    rebased = _rebased(sketch, max((sample.at for sample in fresh), default=sketch.since))
    weights = dict(rebased.weights)
    for sample in fresh:
        weight = round(_ONE * _grown(rebased.since, sample.at))
        if weight:
            bucket = _bucket(sample.seconds)
            weights[bucket] = weights.get(bucket, 0) + weight
    return Sketch(since=rebased.since, weights=weights, version=sketch.version)


def window(sketch: Sketch | None, now: datetime, limits: Limits) -> int:
    """Say after how many seconds of silence a provider is to be asked."""
    if sketch is None or sketch.samples(now) < SAMPLES_MIN:
        return limits.window_seconds
    slowest = sketch.quantile(QUANTILE)
    if slowest is None:
        return limits.window_seconds
    wanted = ceil(slowest * MARGIN)
    return max(limits.window_seconds_min, min(wanted, limits.window_seconds_max))


def sample_of(task: Task) -> Sample | None:
    """Read from a task's history how long its last attempt was rendered; None if nobody knows.

    Where the result was found by asking, it may have been there long before: such a duration
    would measure our own window, and windows made from it would grow without end.
    """
    places = [n for n, step in enumerate(task.history) if step.state is TaskState.VERIFYING]
    if not places or task.history[places[-1] - 1].state is not TaskState.RENDERING:
        return None
    end = task.history[places[-1]]
    begun = end.at
    for step in reversed(task.history[: places[-1]]):
        if step.attempt != end.attempt or step.state not in _UNDER_WAY:
            break
        begun = step.at
    return Sample(seconds=(end.at - begun).total_seconds(), at=end.at)


def _bucket(seconds: float) -> int:
    low, high = SECONDS
    return ceil(log(min(max(seconds, low), high)) / log(_GROWTH))


def _middle(bucket: int) -> float:
    return 2 * _GROWTH**bucket / (_GROWTH + 1)


def _half_lives(since: datetime, at: datetime) -> float:
    return max(-_SHIFT_MAX, min((at - since) / HALF_LIFE, _SHIFT_MAX))


def _grown(since: datetime, at: datetime) -> float:
    """Say how much more a sample weighs at one time than at another."""
    return float(2.0 ** _half_lives(since, at))


def _rebased(sketch: Sketch, now: datetime) -> Sketch:
    whole = floor(_half_lives(sketch.since, now))
    if whole < 1:
        return sketch
    if whole >= _SHIFT_MAX:
        return Sketch(since=now, version=sketch.version)
    halved = {bucket: weight >> whole for bucket, weight in sketch.weights.items()}
    return Sketch(
        since=sketch.since + whole * HALF_LIFE,
        weights={bucket: weight for bucket, weight in halved.items() if weight},
        version=sketch.version,
    )
