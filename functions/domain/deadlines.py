"""How long each state may last, and when its remedy is due."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from functions.domain.retry import RetryPolicy
from functions.domain.states import Deadline

SEND_DELAY_MAX = timedelta(minutes=15)  # the longest DelaySeconds that SQS takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long each state of a kind may last, and how often it is tried."""

    attempts_max: int = 4
    lease_seconds: int = 90  # three missed heartbeats
    heartbeat_seconds: int = 30
    resend_seconds: int = 120  # a message that no worker took by then may be lost
    queue_wait_seconds: int = 6 * 3600
    ask_seconds: int = 15
    asks_max: int = 12
    window_seconds: int = 900  # a provider's silence, until durations have been measured
    window_seconds_min: int = 60  # once they have: the sweep looks once a minute
    window_seconds_max: int = 3600  # half of a job's life, so that it is asked about before its end
    job_seconds_max: int = 2 * 3600  # a remote job's whole life; nothing runs longer and is wanted
    workflow_seconds: int = 360  # an EXPRESS workflow ends at 300 s
    workflows_max: int = 4
    review_seconds: int = 24 * 3600  # an operator's time to say yes or no
    interval_growth: float = 2.0
    interval_seconds_max: int = 1800
    result_seconds: int = 24 * 3600
    keep_days: int = 90  # an ended task's details; its ledger entries stay for ever
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def due_at(
    deadline: Deadline,
    *,
    tries: int,
    now: datetime,
    not_before: datetime | None,
    limits: Limits,
) -> datetime | None:
    """Say when a state's remedy is due. `tries` counts remedies already applied in it."""
    if deadline is Deadline.NONE:
        return None
    if deadline is not Deadline.RESEND:
        return now + _patience(deadline, tries, limits)
    start = max(now, not_before or now)
    if start - now > SEND_DELAY_MAX:
        return start  # too far off for the queue: the sweeper sends it when it is time
    return start + _patience(deadline, tries, limits)


def _patience(deadline: Deadline, tries: int, limits: Limits) -> timedelta:
    grows = {
        Deadline.RESEND: limits.resend_seconds,
        Deadline.ASK: limits.ask_seconds,
        Deadline.WORKFLOW: limits.workflow_seconds,
    }
    fixed = {
        Deadline.LEASE: limits.lease_seconds,
        Deadline.WINDOW: limits.window_seconds,
        Deadline.REVIEW: limits.review_seconds,
        Deadline.OPERATOR: 0,
    }
    if deadline in fixed:
        return timedelta(seconds=fixed[deadline])
    first_seconds = grows[deadline]
    grown = first_seconds * limits.interval_growth ** min(tries, 16)
    return timedelta(seconds=min(grown, max(limits.interval_seconds_max, first_seconds)))
