"""Veo on the Gemini API: long-running operations, photos inline, files that need the key.

Wire: `POST /v1beta/models/{model}:predictLongRunning` names an operation; `GET /v1beta/{name}`
says `done`, and then has `error` or `response`. A film that was filtered is `done` without one:
only `raiMediaFilteredCount` tells. Its calls are asked for with each order; their signature
names claims that are not published, so they count as unsigned hints, and may never come.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from functions.domain.exchange import (
    HttpReply,
    HttpRequest,
    at,
    getting,
    link,
    parsed,
    posting,
    same_place,
    text,
)
from functions.domain.hooks import Delivery, Hint, Judgement, Parked
from functions.domain.jobs import (
    Accepted,
    Cost,
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
from functions.domain.providers import Abilities, Remote, Secrets, Webhook
from functions.domain.replies import no_answer, output_missing, refused, wrong_length

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

OPERATION: Final = re.compile(r"(models/[A-Za-z0-9._-]{1,80}/)?operations/[A-Za-z0-9._-]{1,120}")
EVENT: Final = "video.generated"
# Codes of google.rpc that an operation ends with.
FAULTS: Final = {
    "3": Fault.BAD_INPUT,
    "7": Fault.NO_ACCESS,
    "8": Fault.THROTTLED,
    "9": Fault.BAD_INPUT,
    "16": Fault.NO_ACCESS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Veo(Remote):
    """`extra_parameters` are the model's, such as `personGeneration` where a region wants it."""

    model: str = "veo-3.1-generate-preview"
    seconds_allowed: tuple[int, ...] = (4, 6, 8)
    aspects_allowed: tuple[str, ...] = ("16:9", "9:16")
    extra_parameters: Mapping[str, Any] = field(default_factory=dict)
    calls: bool = True  # whether to ask for a call

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Order a film, the photo's bytes within."""
        wrong = wrong_length(order, self.seconds_allowed)
        if wrong:
            return wrong
        if order.aspect not in self.aspects_allowed:
            return Rejected(failure=failure(Fault.BAD_INPUT, "aspect-unsupported"))
        hook = {"uris": [order.hook_url], "userMetadata": {"token": order.token}}
        image = {
            "bytesBase64Encoded": base64.b64encode(order.photo).decode(),
            "mimeType": order.photo_type,
        }
        return posting(
            f"{self.base_url}/v1beta/models/{self.model}:predictLongRunning",
            _headers(secrets),
            {
                "instances": [{"prompt": order.prompt, "image": image}],
                "parameters": {
                    "durationSeconds": order.seconds,
                    "aspectRatio": order.aspect,
                    **self.extra_parameters,
                },
                **({"webhookConfig": hook} if order.hook_url and self.calls else {}),
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Keep the operation's name."""
        if not reply.ok:
            return refused(reply, now)
        name = _operation(at(reply.json(), "name"))
        return Accepted(job=Job(id=name)) if name else Unknown(cause="no-job-id")

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Read the operation."""
        if not replies:
            return getting(f"{self.base_url}/v1beta/{job.id}", _headers(secrets))
        return no_answer(replies[0], now) or _read(replies[0].json(), job.id)

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Read a thin event: it names the operation and carries no result."""
        body = parsed(hook.body)
        name = _operation(at(body, "data", "id")) or _operation(at(body, "data", "name"))
        if not name:
            return Parked(code="no-job-id")
        token = text(at(body, "user_metadata", "token"))
        if token not in ("", hook.token):
            return Parked(code="another-attempt")
        word = text(at(body, "type"))
        state = JobState.ENDED if word == EVENT else JobState.UNRECOGNISED
        seen = Observation(state=state, word=word, job_id=name, token=token)
        return Hint(observation=seen, delivery_id=hook.headers.get("webhook-id", ""))

    def download(self, output: RemoteOutput, secrets: Secrets) -> HttpRequest:
        """Fetch with the key, which goes to the API's own address and nowhere else."""
        mine = output.needs_key and same_place(output.url, self.base_url)
        headers = _headers(secrets) if mine else {}
        return HttpRequest(method="GET", url=output.url, headers=headers)


def _operation(value: Any) -> str:
    name = text(value)
    return name if OPERATION.fullmatch(name) and ".." not in name else ""


def _headers(secrets: Secrets) -> dict[str, str]:
    return {"x-goog-api-key": secrets["api_key"]}


def _read(body: Any, job: str) -> Observation:
    seen = Observation(state=JobState.UNRECOGNISED, word="done", job_id=job)
    done = at(body, "done")
    if done is None or done is False:
        return replace(seen, state=JobState.RUNNING, word="running")
    if done is not True:
        return replace(seen, word=text(done))
    error = at(body, "error")
    if isinstance(error, dict):
        code = text(at(error, "code"))
        broken = failure(FAULTS.get(code, Fault.TROUBLE), detail=f"rpc-{code}")
        return replace(seen, state=JobState.FAILED, failure=broken)
    return _finished(at(body, "response"), seen)


def _finished(response: Any, seen: Observation) -> Observation:
    """Find the film in the answer's own envelope, or without one, where another door puts it."""
    result = at(response, "generateVideoResponse") or response
    samples = at(result, "generatedSamples") or at(result, "videos")
    rows = samples if isinstance(samples, list) else []
    urls = [link(at(row, "video", "uri")) or link(at(row, "uri")) for row in rows]
    outputs = tuple(RemoteOutput(url=url, needs_key=True) for url in urls if url)
    if outputs:
        cost = Cost(charged=True)
        return replace(seen, state=JobState.SUCCEEDED, outputs=outputs, cost=cost)
    if text(at(result, "raiMediaFilteredCount")) not in ("", "0") or at(
        result, "raiMediaFilteredReasons"
    ):
        broken = failure(Fault.REFUSED_CONTENT, detail="filtered")
        return replace(seen, state=JobState.FAILED, failure=broken, cost=Cost(charged=False))
    if rows or not isinstance(result, dict):
        return seen
    return output_missing("done", job_id=seen.job_id)


PROVIDER = Veo(
    name="veo",
    base_url="https://generativelanguage.googleapis.com",
    secrets=("api_key",),
    output_hosts=("googleapis.com", "googleusercontent.com"),
    abilities=Abilities(
        webhook=Webhook.UNSIGNED,
        output_lifetime_seconds=2 * 86400,
        input_link_seconds=0,
        poll_interval_seconds_min=10,
        photo_inline=True,
    ),
)
