"""Check: find out how an attempt stands. The bucket or the provider is asked, nobody else.

A call from a provider, a lapsed window and an unanswered submit all lead here: whatever set it
off, only what is found by asking moves the task.
"""

import hmac
from datetime import datetime, timedelta
from typing import assert_never

from functions.domain.attempts import Attempt, token_of
from functions.domain.errors import Unavailable
from functions.domain.jobs import (
    Absent,
    CannotTell,
    Found,
    Job,
    JobState,
    Observation,
)
from functions.domain.ports import Ports
from functions.domain.providers import Remote, Webhook
from functions.domain.results import Application, Applied, Contended, Stale
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Ignored, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.pipeline.advance import advance
from functions.pipeline.ask import answered
from functions.pipeline.claim import output_key_of
from functions.pipeline.measure import window_seconds
from functions.pipeline.spend import closed

LOST = "The worker stopped before it was finished."
SILENT = "The render service did not say what became of the order."
TOO_EARLY = timedelta(seconds=120)  # a provider's own copies may lag so long behind its answer

Result = Application | Ignored | None


def answer(ports: Ports, ticket: Ticket) -> Result:
    """Work off a ticket that asks about a task. One whose token does not fit is nobody's."""
    task = ports.store.get(TaskRef(account=ticket.account, id=ticket.id))
    if task is None or task.attempt != ticket.attempt:
        return None
    if task.state.done and ticket.lease is not None:
        ports.metrics.count("LateHook", provider=task.provider)
        return None
    if ticket.lease is not None and not hmac.compare_digest(ticket.lease, task.lease or ""):
        ports.metrics.count("HookOfNobody", provider=task.provider)
        return None
    result = check(ports, task, hint=ticket.hint)
    if ticket.hint and isinstance(result, Stale | Contended):
        raise Unavailable  # the ticket comes again: it may be all that names the job
    if ticket.lease is None:
        _count_found(ports, task, result)
    return result


def check(ports: Ports, task: Task, *, hint: str | None = None) -> Result:
    """Ask about a task that is being rendered or checked; None: nothing was to be written."""
    if task.state not in (TaskState.RENDERING, TaskState.CHECKING):
        return None
    provider = ports.providers[task.provider]
    if not isinstance(provider, Remote):
        return _bucket(ports, task)
    job = task.job
    if job is None and hint and provider.abilities.webhook is Webhook.SIGNED:
        job = Job(id=hint)
    if not ports.budgets.take(f"{provider.name}-query", provider.queries_per_minute):
        return _unresolved(ports, task, job=job)
    if job is None:
        return _searched(ports, task, provider)
    return _observed(ports, task, job, provider)


def begun_at(task: Task) -> datetime:
    """Say when this attempt was claimed."""
    claims = [
        step.at
        for step in task.history
        if step.state is TaskState.RENDERING and step.attempt == task.attempt
    ]
    return claims[0] if claims else task.created_at


def _bucket(ports: Ports, task: Task) -> Result:
    """Look for the output: a worker that died after its upload has delivered all the same.

    A model that was asked keeps nothing: an answer that is not in the bucket is lost, and its
    question is not asked again.
    """
    if task.state is not TaskState.CHECKING:
        return None
    key = output_key_of(ports, task)
    if ports.media.head(key) is not None:
        done = Happening(event=Event.RENDERED, output_key=key)
        return advance(ports, task, done, _paid(ports, task, "succeeded"))
    if not answered(ports, task):
        return _given_up(ports, task, "answer-lost", task.job)
    lost = Happening(event=Event.ATTEMPT_FAILED, code="worker-lost", reason=LOST)
    return advance(ports, task, lost, _paid(ports, task, "worker-lost"))


def _paid(ports: Ports, task: Task, outcome: str) -> Attempt | None:
    """Close the books of a model's attempt, whose answers are all there."""
    return closed(ports, task, outcome, charged=True) if task.job else None


def _searched(ports: Ports, task: Task, provider: Remote) -> Result:
    """Look for the job of a submit whose answer never came."""
    since = begun_at(task)
    age = ports.clock.now() - since
    search = ports.remote.find(provider, token_of(task), since)
    match search:
        case Found():
            return _observed(ports, task, search.job, provider)
        case Absent():
            if age < timedelta(seconds=provider.abilities.find_settle_seconds):
                return _unresolved(ports, task)
            lost = Happening(
                event=Event.ATTEMPT_FAILED,
                code="submit-lost",
                reason="The order did not reach the render service.",
            )
            return advance(ports, task, lost, closed(ports, task, "absent", charged=False))
        case CannotTell():
            return _unresolved(ports, task, patience=_window(ports, task))
        case _:
            assert_never(search)


def _observed(ports: Ports, task: Task, job: Job, provider: Remote) -> Result:
    seen = ports.remote.observe(provider, job)
    if seen.state in (JobState.RUNNING, JobState.ENDED):
        return _running(ports, task, job)
    match seen.state:
        case JobState.SUCCEEDED:
            done = Happening(event=Event.RENDERED, output_key=output_key_of(ports, task), job=job)
            ended = closed(ports, task, "succeeded", job=job, charged=seen.cost.charged)
            return advance(ports, task, done, ended)
        case JobState.FAILED:
            return _failed(ports, task, job, seen)
        case JobState.GONE if ports.clock.now() - begun_at(task) > TOO_EARLY:
            gone = Happening(event=Event.ATTEMPT_FAILED, code="job-gone", reason=SILENT)
            return advance(ports, task, gone, closed(ports, task, "gone", job=job))
        case _:
            ports.metrics.count("ProviderAnswer", provider=provider.name, state=seen.state)
            return _unresolved(ports, task, job=job)


def _running(ports: Ports, task: Task, job: Job) -> Result:
    if _overdue(ports, task):
        return _given_up(ports, task, "provider-overdue", job)
    if task.state is TaskState.CHECKING or task.job is None:
        return advance(ports, task, Happening(event=Event.STILL_RUNNING, job=job))
    return None


def _failed(ports: Ports, task: Task, job: Job, seen: Observation) -> Result:
    failure = seen.failure
    again = failure is None or failure.again
    happening = Happening(
        event=Event.ATTEMPT_FAILED if again else Event.REFUSED,
        code=failure.code if failure else "provider-trouble",
        reason=failure.reason if failure else "The render service could not finish.",
    )
    ended = closed(ports, task, "failed", job=job, charged=seen.cost.charged)
    return advance(ports, task, happening, ended)


def _count_found(ports: Ports, task: Task, result: Result) -> None:
    """Results that no call announced tell that calls are being lost."""
    provider = ports.providers[task.provider]
    if (
        isinstance(result, Applied)
        and result.task.state is TaskState.VERIFYING
        and task.state is TaskState.CHECKING
        and isinstance(provider, Remote)
        and provider.abilities.webhook is not Webhook.NONE
        and ports.rules.hook_base
    ):
        ports.metrics.count("FoundBySweep", kind=task.kind, provider=task.provider, task=task.id)


def _window(ports: Ports, task: Task) -> timedelta:
    """Be no less patient than by default: a call may still come."""
    default = ports.kinds[task.kind].limits.window_seconds
    return timedelta(seconds=max(default, window_seconds(ports, task)))


def _overdue(ports: Ports, task: Task) -> bool:
    most = timedelta(seconds=ports.kinds[task.kind].limits.job_seconds_max)
    return ports.clock.now() - begun_at(task) > most


def _unresolved(
    ports: Ports, task: Task, *, job: Job | None = None, patience: timedelta | None = None
) -> Result:
    """Ask again later; past all patience the task ends, and nothing is submitted again.

    A job that only a call has named yet is kept: nobody may name it again.
    """
    impatient = patience is not None and ports.clock.now() - begun_at(task) > patience
    if impatient or _overdue(ports, task):
        return _given_up(ports, task, "provider-outcome-unknown", task.job)
    if task.state is TaskState.CHECKING:
        return advance(ports, task, Happening(event=Event.ASKED, job=job))
    if job is not None and task.job is None:
        return advance(ports, task, Happening(event=Event.STILL_RUNNING, job=job))
    return None


def _given_up(ports: Ports, task: Task, code: str, job: Job | None) -> Result:
    """End it with the credits back. The attempt stays open in the books: possible spend."""
    result = advance(ports, task, Happening(event=Event.REFUSED, code=code, reason=SILENT))
    if isinstance(result, Applied):
        ports.metrics.count(
            "PossibleSpend",
            provider=task.provider,
            account=task.account,
            task=task.id,
            job=job.id if job else "unknown",
        )
    return result
