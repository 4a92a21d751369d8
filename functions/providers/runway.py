"""Runway: asked, never calling; nothing that names a lost submit; a delete that destroys.

Wire: `POST /v1/image_to_video` answers `{id}` and no more; `GET /v1/tasks/{id}` tells the rest
and signs fresh output addresses each time. There is no list of tasks and no name of ours on
them, so a submit without an answer stays unknown: it is held for its window and then given up,
never repeated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from functions.domain.exchange import (
    HttpReply,
    HttpRequest,
    at,
    getting,
    identifier,
    link,
    posting,
    text,
)
from functions.domain.hooks import BadSignature, Delivery, Judgement
from functions.domain.jobs import (
    Accepted,
    Cancellation,
    Cost,
    Failure,
    Fault,
    Job,
    JobState,
    Observation,
    Rejected,
    RemoteOutput,
    RenderOrder,
    Unknown,
    failure,
)
from functions.domain.providers import Abilities, Cancel, Remote, Secrets
from functions.domain.replies import NOT_FOUND, no_answer, output_missing, refused, wrong_length

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

RUNNING: Final = frozenset({"PENDING", "THROTTLED", "RUNNING"})  # throttled waits in their queue
SUCCEEDED: Final = "SUCCEEDED"
FAILED: Final = "FAILED"
CANCELED: Final = frozenset({"CANCELLED", "CANCELED"})  # documented so; seen spelt so elsewhere
PROMPT_UNITS_MAX: Final = 1000  # of UTF-16


@dataclass(frozen=True, slots=True, kw_only=True)
class Runway(Remote):
    """`api_version` goes with every request; `ratios` spells aspects as the model wants them."""

    api_version: str = "2024-11-06"
    model: str = "gen4_turbo"
    seconds_allowed: tuple[int, ...] = (5, 10)
    ratios: Mapping[str, str] = field(
        default_factory=lambda: {"16:9": "1280:720", "9:16": "720:1280", "1:1": "960:960"}
    )

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Order a film. Nothing of ours can be attached to it."""
        wrong = wrong_length(order, self.seconds_allowed)
        if wrong:
            return wrong
        if len(order.prompt.encode("utf-16-le")) // 2 > PROMPT_UNITS_MAX:
            return Rejected(failure=failure(Fault.BAD_INPUT, "prompt-too-long"))
        if order.aspect not in self.ratios:
            return Rejected(failure=failure(Fault.BAD_INPUT, "aspect-unsupported"))
        return posting(
            f"{self.base_url}/v1/image_to_video",
            self._headers(secrets),
            {
                "model": self.model,
                "promptImage": order.photo_url,
                "promptText": order.prompt,
                "ratio": self.ratios[order.aspect],
                "duration": order.seconds,
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Keep the id: it is all there is."""
        if not reply.ok:
            return refused(reply, now)
        task = identifier(at(reply.json(), "id"))
        return Accepted(job=Job(id=task)) if task else Unknown(cause="no-job-id")

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Read the task."""
        if not replies:
            return getting(f"{self.base_url}/v1/tasks/{job.id}", self._headers(secrets))
        return no_answer(replies[0], now) or _task(replies[0].json(), job.id)

    def cancellation(self, job: Job, secrets: Secrets, now: datetime) -> HttpRequest | None:
        """Withdraw a running task. If it has finished by then, its output is deleted."""
        url = f"{self.base_url}/v1/tasks/{job.id}"
        return getting(url, self._headers(secrets), method="DELETE")

    def canceled(self, reply: HttpReply) -> Cancellation:
        """Tell nothing apart but a task that is not there."""
        if reply.ok:
            return Cancellation.REQUESTED
        missing = reply.status == NOT_FOUND
        return Cancellation.UNKNOWN_JOB if missing else Cancellation.UNANSWERED

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Refuse: this provider does not call."""
        return BadSignature(code="no-hooks")

    def _headers(self, secrets: Secrets) -> dict[str, str]:
        return {
            "authorization": f"Bearer {secrets['api_key']}",
            "x-runway-version": self.api_version,
        }


def _task(body: Any, job: str) -> Observation:
    word = text(at(body, "status"))
    if word in RUNNING:
        return Observation(state=JobState.RUNNING, word=word, job_id=job)
    if word == FAILED:
        broken = _broken(text(at(body, "failureCode")))
        return Observation(state=JobState.FAILED, word=word, job_id=job, failure=broken)
    if word in CANCELED:
        broken = failure(Fault.TROUBLE, "provider-canceled")
        return Observation(state=JobState.FAILED, word=word, job_id=job, failure=broken)
    if word != SUCCEEDED:
        return Observation(state=JobState.UNRECOGNISED, word=word, job_id=job)
    return _success(body, job)


def _success(body: Any, job: str) -> Observation:
    output = at(body, "output")
    urls = [link(one) for one in (output if isinstance(output, list) else [output])]
    outputs = tuple(RemoteOutput(url=url) for url in urls if url)
    cost = Cost(charged=True)
    if outputs:
        return Observation(
            state=JobState.SUCCEEDED, word=SUCCEEDED, job_id=job, outputs=outputs, cost=cost
        )
    if output:
        return Observation(state=JobState.UNRECOGNISED, word=SUCCEEDED, job_id=job, cost=cost)
    return output_missing(SUCCEEDED, cost, job_id=job)


def _broken(code: str) -> Failure:
    """Sort by the parts of the code; its text is not for customers."""
    parts = code.split(".")
    if "SAFETY" in parts:
        return failure(Fault.REFUSED_CONTENT, detail=code)
    if parts[0] == "ASSET":
        return failure(Fault.BAD_INPUT, detail=code)
    return failure(Fault.TROUBLE, "provider-failed", detail=code)


PROVIDER = Runway(
    name="runway",
    base_url="https://api.dev.runwayml.com",
    secrets=("api_key",),
    # No host is named in its contract; a rule that is too tight would lose paid films.
    output_hosts=(),
    abilities=Abilities(
        cancel=Cancel.DESTROYS_FINISHED,
        output_lifetime_seconds=86400,
        input_link_seconds=3600,
        poll_interval_seconds_min=5,
    ),
)
