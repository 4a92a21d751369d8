"""Volcengine Ark (Seedance): unsigned calls at each change, a list that echoes our name.

Wire: `POST /contents/generations/tasks` answers `{id}`; `GET …/tasks/{id}` and every call give
the same task object; a list of tasks echoes `safety_identifier`, into which the attempt's token
is put. `DELETE` withdraws what waits and erases what has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from functions.domain.exchange import (
    HttpReply,
    HttpRequest,
    at,
    getting,
    identifier,
    link,
    parsed,
    posting,
    text,
)
from functions.domain.hooks import Delivery, Hint, Judgement, Parked
from functions.domain.jobs import (
    Absent,
    Accepted,
    Cancellation,
    CannotTell,
    Cost,
    Failure,
    Fault,
    Found,
    Job,
    JobState,
    Observation,
    Rejected,
    RemoteOutput,
    RenderOrder,
    Search,
    Unknown,
    failure,
)
from functions.domain.providers import Abilities, Cancel, Find, Remote, Secrets, Webhook
from functions.domain.replies import (
    NOT_FOUND,
    no_answer,
    no_list,
    output_missing,
    refused,
    wrong_length,
)

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

RUNNING: Final = frozenset({"queued", "running"})
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
ENDS: Final = {
    "cancelled": failure(Fault.TROUBLE, "provider-canceled"),
    "expired": failure(Fault.TROUBLE, "provider-expired"),
}
PAGE_SIZE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Ark(Remote):
    """`sound` is off: the filter of what is heard refuses at random."""

    model: str = "doubao-seedance-1-0-pro-250528"
    resolution: str = "720p"
    sound: bool = False
    seconds_allowed: tuple[int, ...] = (5, 10)
    ends_after_seconds: int = 7200  # on their side, waiting and working together

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Order a film that starts with the photo."""
        wrong = wrong_length(order, self.seconds_allowed)
        if wrong:
            return wrong
        photo = {"type": "image_url", "image_url": {"url": order.photo_url}, "role": "first_frame"}
        return posting(
            f"{self.base_url}/contents/generations/tasks",
            self._headers(secrets),
            {
                "model": self.model,
                "content": [{"type": "text", "text": order.prompt}, photo],
                "resolution": self.resolution,
                "ratio": order.aspect,
                "duration": order.seconds,
                "generate_audio": self.sound,
                "execution_expires_after": self.ends_after_seconds,
                "safety_identifier": order.token,
                **({"callback_url": order.hook_url} if order.hook_url else {}),
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Keep the id. A refusal is sorted by its code, whose endings vary."""
        if reply.ok:
            task = identifier(at(reply.json(), "id"))
            return Accepted(job=Job(id=task)) if task else Unknown(cause="no-job-id")
        verdict = refused(reply, now)
        code = text(at(reply.json(), "error", "code"))
        if isinstance(verdict, Rejected) and _is_moderation(code):
            return replace(verdict, failure=failure(Fault.REFUSED_CONTENT, detail=code))
        return verdict

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Read the task."""
        if not replies:
            return getting(f"{self._tasks}/{job.id}", self._headers(secrets))
        return no_answer(replies[0], now) or _task(replies[0].json())

    def find(
        self,
        token: str,
        since: datetime,
        replies: Sequence[HttpReply],
        secrets: Secrets,
        now: datetime,
    ) -> HttpRequest | Search:
        """Page through the model's tasks for the one that echoes our token."""
        if replies:
            trouble = no_list(replies[-1], now)
            items = at(replies[-1].json(), "items")
            if trouble or not isinstance(items, list):
                return trouble or CannotTell(cause="no-items")
            for item in items:
                task = identifier(at(item, "id"))
                if task and at(item, "safety_identifier") == token:
                    return Found(job=Job(id=task))
            if len(items) < PAGE_SIZE:
                return _absent(replies)
        page = {"page_num": len(replies) + 1, "page_size": PAGE_SIZE, "filter.model": self.model}
        return getting(f"{self._tasks}?{urlencode(page)}", self._headers(secrets))

    def cancellation(self, job: Job, secrets: Secrets, now: datetime) -> HttpRequest | None:
        """Withdraw what waits. What has ended by then is erased, film and all."""
        return getting(f"{self._tasks}/{job.id}", self._headers(secrets), method="DELETE")

    def canceled(self, reply: HttpReply) -> Cancellation:
        """Tell nothing apart but a task that is not there."""
        if reply.ok:
            return Cancellation.REQUESTED
        missing = reply.status == NOT_FOUND
        return Cancellation.UNKNOWN_JOB if missing else Cancellation.UNANSWERED

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Read a call, of which only the token in its address is known to be true."""
        body = parsed(hook.body)
        if not identifier(at(body, "id")):
            return Parked(code="no-job-id")
        seen = _task(body)
        if seen.token not in ("", hook.token):
            return Parked(code="another-attempt")
        return Hint(observation=seen)

    @property
    def _tasks(self) -> str:
        return f"{self.base_url}/contents/generations/tasks"

    def _headers(self, secrets: Secrets) -> dict[str, str]:
        return {"authorization": f"Bearer {secrets['api_key']}"}


def _absent(replies: Sequence[HttpReply]) -> Absent | CannotTell:
    """Conclude from the whole list. A task that does not show its name may be ours."""
    items = [item for reply in replies for item in at(reply.json(), "items") or []]
    shown = all(isinstance(item, dict) and "safety_identifier" in item for item in items)
    return Absent() if shown else CannotTell(cause="names-not-listed")


def _task(body: Any) -> Observation:
    word = text(at(body, "status"))
    seen = Observation(
        state=JobState.UNRECOGNISED,
        word=word,
        job_id=identifier(at(body, "id")),
        token=text(at(body, "safety_identifier")),
        cost=_cost(body),
    )
    if word in RUNNING:
        return replace(seen, state=JobState.RUNNING)
    if word in ENDS:
        return replace(seen, state=JobState.FAILED, failure=ENDS[word])
    if word == FAILED:
        broken = _broken(text(at(body, "error", "code")))
        return replace(seen, state=JobState.FAILED, failure=broken)
    return _success(at(body, "content"), seen) if word == SUCCEEDED else seen


def _success(content: Any, seen: Observation) -> Observation:
    url = link(at(content, "video_url"))
    if url:
        return replace(seen, state=JobState.SUCCEEDED, outputs=(RemoteOutput(url=url),))
    if at(content, "video_url") or not isinstance(content, dict):
        return seen
    missing = output_missing(seen.word)
    return replace(seen, state=missing.state, failure=missing.failure)


def _broken(code: str) -> Failure:
    if not _is_moderation(code):
        return failure(Fault.TROUBLE, "provider-failed", detail=code)
    # What was heard is judged differently from one film to the next.
    by_chance = code.startswith("OutputAudio")
    return failure(Fault.REFUSED_CONTENT, detail=code, again=by_chance)


def _is_moderation(code: str) -> bool:
    head = code.partition(".")[0]
    named = ("InputImage", "InputText", "InputVideo", "OutputVideo", "OutputAudio", "OutputImage")
    return head.endswith("PolicyViolation") or (
        head.startswith(named) and head.endswith("SensitiveContentDetected")
    )


def _cost(body: Any) -> Cost:
    tokens = text(at(body, "usage", "completion_tokens"))
    figures = {"completion_tokens": tokens} if tokens else {}
    return Cost(charged=True if tokens not in ("", "0") else None, figures=figures)


PROVIDER = Ark(
    name="ark",
    base_url="https://ark.cn-beijing.volces.com/api/v3",
    secrets=("api_key",),
    # No host is named in its contract; a rule that is too tight would lose paid films.
    output_hosts=(),
    abilities=Abilities(
        find=Find.LISTING,
        find_settle_seconds=120,
        cancel=Cancel.DESTROYS_FINISHED,
        webhook=Webhook.UNSIGNED,
        webhook_several_events=True,
        output_lifetime_seconds=86400,
        input_link_seconds=7200,
        job_known_seconds=7 * 86400,
        poll_interval_seconds_min=5,
    ),
)
