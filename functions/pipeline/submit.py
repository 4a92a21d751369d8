"""Submit: order a render from a provider that is paid. Exactly one request per attempt.

The attempt is written down with its unguessable token, in the same transaction as the claim,
before anything is sent. Whatever happens after that is found out by asking, never by sending
again.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, assert_never

from functions.domain.attempts import Attempt, token_of
from functions.domain.errors import TallyreelError
from functions.domain.jobs import (
    Accepted,
    Fault,
    NotSent,
    Rejected,
    RenderOrder,
    Submitted,
    Unknown,
)
from functions.domain.ports import Ports
from functions.domain.providers import Remote
from functions.domain.states import Event
from functions.domain.tasks import Happening, Route, Task
from functions.domain.tickets import TaskRef, Ticket
from functions.pipeline.advance import insisted, report
from functions.pipeline.claim import claim, claimable, defer
from functions.pipeline.intake import routes_of
from functions.pipeline.spend import closed

PROMPTS = {
    "zoom-in": "The camera moves slowly closer.",
    "zoom-out": "The camera moves slowly back.",
    "pan-left": "The camera pans slowly to the left.",
    "pan-right": "The camera pans slowly to the right.",
    "pan-up": "The camera tilts slowly up.",
    "pan-down": "The camera tilts slowly down.",
    "drift": "The camera drifts gently.",
}


class Submission(StrEnum):
    """How a ticket ended."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_SENT = "not-sent"
    UNKNOWN = "unknown"
    DEFERRED = "deferred"  # the provider's budget is used up; the ticket waits
    SKIPPED = "skipped"


def submit(ports: Ports, ticket: Ticket, workdir: Path) -> Submission:
    """Work one ticket off."""
    task = claimable(ports, ticket)
    if task is None:
        return Submission.SKIPPED
    provider = ports.providers[task.provider]
    if not isinstance(provider, Remote):
        raise TypeError(f"{task.provider} is not submitted to")
    if not ports.budgets.take(f"{provider.name}-submit", provider.submits_per_minute):
        defer(ports, ticket)
        return Submission.DEFERRED
    ref = TaskRef(account=task.account, id=task.id)
    ordered = ports.store.input(ref)
    if ordered is None:
        raise LookupError(f"{ref} has no input")
    claimed = claim(ports, task, _attempt(ports, task, ordered))
    if claimed is None:
        return Submission.SKIPPED
    result = _sent(ports, claimed, provider, ordered, workdir)
    return insisted(lambda: _record(ports, claimed, result))


def _sent(
    ports: Ports, task: Task, provider: Remote, ordered: Mapping[str, Any], workdir: Path
) -> Submitted:
    try:
        order = _order(ports, task, provider, ordered, workdir)
    except TallyreelError as error:  # trouble of our own, before a byte was written
        return NotSent(cause=type(error).__name__)
    return ports.remote.submit(provider, order)


def _attempt(ports: Ports, task: Task, ordered: Mapping[str, Any]) -> Attempt:
    return Attempt(
        cycle=task.cycle,
        number=task.attempt,
        provider=task.provider,
        at=ports.clock.now(),
        units=ordered["order"]["seconds"],
    )


def _order(
    ports: Ports, task: Task, provider: Remote, ordered: Mapping[str, Any], workdir: Path
) -> RenderOrder:
    source, wanted = ordered["source"], ordered["order"]
    photo = b""
    if provider.abilities.photo_inline:
        path = workdir / "source"
        if ports.media.fetch(source, path, etag=ordered["etag"]):
            photo = path.read_bytes()
    token = token_of(task)
    base = ports.rules.hook_base
    head = ports.media.head(source)
    return RenderOrder(
        token=token,
        prompt=wanted["prompt"] or PROMPTS[wanted["motion"]],
        seconds=wanted["seconds"],
        aspect=wanted["aspect"],
        photo_url=ports.media.link(
            source, filename="photo", seconds=provider.abilities.input_link_seconds
        ),
        photo_type=head.content_type if head else "image/jpeg",
        photo=photo,
        hook_url=f"{base}/v1/hooks/{provider.name}/{token}" if base else None,
    )


def _record(ports: Ports, task: Task, result: Submitted) -> Submission:
    match result:
        case Accepted():
            accepted = Happening(event=Event.ACCEPTED, job=result.job)
            report(ports, task, accepted)
            return Submission.ACCEPTED
        case Rejected():
            report(
                ports,
                task,
                _refusal(ports, task, result),
                closed(ports, task, "rejected", charged=False),
            )
            return Submission.REJECTED
        case NotSent():
            not_sent = Happening(
                event=Event.ATTEMPT_FAILED,
                code="provider-unreachable",
                reason="The render service could not be reached.",
                route=_next_route(ports, task),
            )
            report(ports, task, not_sent, closed(ports, task, "not-sent", charged=False))
            return Submission.NOT_SENT
        case Unknown():
            report(ports, task, Happening(event=Event.UNANSWERED, code="submit-unanswered"))
            return Submission.UNKNOWN
        case _:
            assert_never(result)


def _refusal(ports: Ports, task: Task, result: Rejected) -> Happening:
    """End the task where the order was refused; where we were, try elsewhere or later."""
    failure = result.failure
    ours = failure.fault is Fault.NO_ACCESS
    route = _next_route(ports, task) if failure.again or ours else None
    event = Event.ATTEMPT_FAILED if failure.again or route else Event.REFUSED
    return Happening(event=event, code=failure.code, reason=failure.reason, route=route)


def _next_route(ports: Ports, task: Task) -> Route | None:
    """Name who comes after this provider. It is known not to have the job."""
    routes = routes_of(ports, ports.kinds[task.kind])
    names = [route.provider for route in routes]
    if task.provider not in names:
        return None
    rest = routes[names.index(task.provider) + 1 :]
    return rest[0] if rest else None
