"""Every metric that the pipeline reports, and what splits it.

Each value of a split is one more metric on the bill ($0.30 a month), so splits are few. What else
is said about an occurrence stands beside it in the log, where a query finds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

NAMESPACE = "Tallyreel"


class Unit(StrEnum):
    """What is counted, in CloudWatch's words."""

    COUNT = "Count"
    SECONDS = "Seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One metric."""

    means: str
    split: tuple[str, ...] = ()
    unit: Unit = Unit.COUNT


SIGNALS: Mapping[str, Signal] = {
    "Transition": Signal(means="changes of state", split=("state",)),
    "Credits": Signal(means="credits held, settled and released", split=("entry",)),
    "Verdict": Signal(means="inspected outputs", split=("ruling",)),
    "HeldForReview": Signal(means="doubtful results that an operator has to judge"),
    "LateResult": Signal(means="renders that ended after their task had moved on"),
    "Overdue": Signal(means="tasks that a sweep had to leave overdue"),
    "OldestUnfinished": Signal(
        means="age of the oldest task that a sweep found due", unit=Unit.SECONDS
    ),
    "Stuck": Signal(means="tasks for which something was lost, found by the sweep"),
    "FoundBySweep": Signal(means="results that the provider's call should have announced"),
    "PossibleSpend": Signal(means="jobs given up that may be charged by their provider"),
    "Hook": Signal(means="calls from providers", split=("judged",)),
    "HookOfNobody": Signal(means="calls whose token fits no attempt"),
    "LateHook": Signal(means="calls about tasks that had ended"),
    "ProviderAnswer": Signal(means="answers of providers that say nothing"),
    "OutputRefused": Signal(means="files of providers that cannot be taken over"),
    "AuditDifferences": Signal(means="what the newest audit found"),
}
