"""Kling: our own name on each task, which decides a lost submit; unsigned calls; codes in 200s.

Wire: `POST /v1/videos/image2video` with `external_task_id` and `callback_url`; the task can be
asked for under either id, below the path of its family. Answers are `{code, message, data}`
and count by `code`, not by the HTTP status. Calls carry the data without that envelope, are
not signed, and come at each change.
"""

import base64
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions.domain.exchange import (
    HttpReply,
    HttpRequest,
    at,
    getting,
    identifier,
    link,
    parsed,
    posting,
    retry_after_seconds,
    text,
)
from functions.domain.hooks import Delivery, Hint, Judgement, Parked
from functions.domain.jobs import (
    Absent,
    Accepted,
    CannotTell,
    Cost,
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
from functions.domain.providers import Abilities, Find, Remote, Secrets, Webhook
from functions.domain.replies import NOT_FOUND, output_missing, refused, unanswered, wrong_length

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

RUNNING: Final = frozenset({"submitted", "processing"})
SUCCEEDED: Final = "succeed"
FAILED: Final = "failed"
DONE_CODE: Final = "0"
NO_TASK_CODE: Final = "1203"
KEY_SECONDS: Final = 1800
SKEW_SECONDS: Final = 5

# 5000 to 5002 are absent: a fault behind their door may have left a task there.
REFUSALS: Final = (
    dict.fromkeys(("1000", "1001", "1002", "1003", "1004", "1304"), Fault.NO_ACCESS)
    | dict.fromkeys(("1100", "1101", "1102", "1103", "1202", "1203"), Fault.NO_ACCESS)
    | dict.fromkeys(("1200", "1201"), Fault.BAD_INPUT)
    | dict.fromkeys(("1300", "1301"), Fault.REFUSED_CONTENT)
    | dict.fromkeys(("1302", "1303"), Fault.THROTTLED)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kling(Remote):
    """`family` is the part of the path under which a task is made and asked for."""

    family: str = "image2video"
    model: str = "kling-v2-1"
    mode: str = "std"
    seconds_allowed: tuple[int, ...] = (5, 10)

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Order a film under the attempt's token."""
        wrong = wrong_length(order, self.seconds_allowed)
        if wrong:
            return wrong
        return posting(
            f"{self.base_url}/v1/videos/{self.family}",
            _headers(secrets, now),
            {
                "model_name": self.model,
                "mode": self.mode,
                "image": order.photo_url,
                "prompt": order.prompt,
                "duration": str(order.seconds),
                "external_task_id": order.token,
                **({"callback_url": order.hook_url} if order.hook_url else {}),
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Go by the code in the body; without one, by the HTTP status."""
        body = reply.json()
        code = text(at(body, "code"))
        task = identifier(at(body, "data", "task_id"))
        if code == DONE_CODE:
            job = Job(id=task, handles={"family": self.family})
            return Accepted(job=job) if task else Unknown(cause="no-job-id")
        if code in REFUSALS:
            return Rejected(
                failure=failure(REFUSALS[code], detail=code),
                retry_after_seconds=retry_after_seconds(reply, now),
            )
        if code or reply.ok:
            return Unknown(cause=f"code-{code}" if code else "not-json")
        return refused(reply, now)

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Read the task by its id."""
        if not replies:
            family = identifier(job.handles.get("family")) or self.family
            url = f"{self.base_url}/v1/videos/{family}/{job.id}"
            return getting(url, _headers(secrets, now))
        reply = replies[0]
        code = text(at(reply.json(), "code"))
        if _is_missing(reply, code):
            return Observation(state=JobState.GONE, word=f"code-{code}" if code else "http-404")
        if code != DONE_CODE:
            return unanswered(reply, now, word=f"code-{code}" if code else "")
        return _task(at(reply.json(), "data"))

    def find(
        self,
        token: str,
        since: datetime,
        replies: Sequence[HttpReply],
        secrets: Secrets,
        now: datetime,
    ) -> HttpRequest | Search:
        """Read the task by our name for it."""
        if not replies:
            url = f"{self.base_url}/v1/videos/{self.family}/{token}"
            return getting(url, _headers(secrets, now))
        reply = replies[0]
        code = text(at(reply.json(), "code"))
        if _is_missing(reply, code):
            return Absent()
        task = identifier(at(reply.json(), "data", "task_id"))
        if code == DONE_CODE and task:
            return Found(job=Job(id=task, handles={"family": self.family}))
        return CannotTell(
            cause=f"code-{code}" if code else f"http-{reply.status}",
            retry_after_seconds=retry_after_seconds(reply, now),
        )

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Read a call, of which only the token in its address is known to be true."""
        body = parsed(hook.body)
        task = at(body, "data") if isinstance(at(body, "data"), dict) else body
        if not identifier(at(task, "task_id")):
            return Parked(code="no-job-id")
        seen = _task(task)
        if seen.token not in ("", hook.token):
            return Parked(code="another-attempt")
        return Hint(observation=seen)


def _is_missing(reply: HttpReply, code: str) -> bool:
    return code == NO_TASK_CODE or (reply.status == NOT_FOUND and not code)


def _task(data: Any) -> Observation:
    word = text(at(data, "task_status"))
    seen = Observation(
        state=JobState.UNRECOGNISED,
        word=word,
        job_id=identifier(at(data, "task_id")),
        token=identifier(at(data, "task_info", "external_task_id")),
        cost=_cost(data),
    )
    if word in RUNNING:
        return replace(seen, state=JobState.RUNNING)
    if word == FAILED:
        broken = failure(Fault.TROUBLE, "provider-failed")
        return replace(seen, state=JobState.FAILED, failure=broken)
    if word != SUCCEEDED:
        return seen
    videos = at(data, "task_result", "videos")
    urls = [link(at(one, "url")) for one in videos] if isinstance(videos, list) else []
    outputs = tuple(RemoteOutput(url=url) for url in urls if url)
    if outputs:
        return replace(seen, state=JobState.SUCCEEDED, outputs=outputs)
    if videos or at(data, "task_result") is None:
        return seen
    missing = output_missing(word)
    return replace(seen, state=missing.state, failure=missing.failure)


def _cost(data: Any) -> Cost:
    units = text(at(data, "final_unit_deduction"))
    try:
        charged = float(units) > 0 if units else None
    except ValueError:
        charged = None
    return Cost(charged=charged, figures={"units": units} if units else {})


def _headers(secrets: Secrets, now: datetime) -> dict[str, str]:
    return {"authorization": f"Bearer {_signed_key(secrets, int(now.timestamp()))}"}


def _signed_key(secrets: Secrets, now: int) -> str:
    """Make the short-lived key of a request: a JWT with HS256."""
    claims = {"iss": secrets["access_key"], "exp": now + KEY_SECONDS, "nbf": now - SKEW_SECONDS}
    header = {"alg": "HS256", "typ": "JWT"}
    signed = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
    signature = hmac.digest(secrets["secret_key"].encode(), signed.encode(), "sha256")
    return f"{signed}.{_encoded(signature)}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


PROVIDER = Kling(
    name="kling",
    base_url="https://api-singapore.klingai.com",
    secrets=("access_key", "secret_key"),
    # No host is named in its contract; a rule that is too tight would lose paid films.
    output_hosts=(),
    abilities=Abilities(
        find=Find.DIRECT,
        find_settle_seconds=60,
        webhook=Webhook.UNSIGNED,
        webhook_several_events=True,
        output_lifetime_seconds=30 * 86400,
        input_link_seconds=3600,
        poll_interval_seconds_min=5,
    ),
)
