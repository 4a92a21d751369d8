"""fal: one queue in front of many models. Signed hooks, results in two steps, no lookup.

Wire: `POST {base}/{endpoint}?fal_webhook=…` with the model's own input as the body, then
`GET …/requests/{id}/status` and `GET …/requests/{id}`. COMPLETED is the only end that it names;
whether it was a success shows in the status code of the result. Webhooks are signed with
Ed25519 under keys that all of its customers share, so the customer's id is pinned.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
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
    same_place,
    text,
)
from functions.domain.hooks import BadSignature, Delivery, Hint, Judgement, Parked, Unverifiable
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
from functions.domain.providers import Abilities, Cancel, Remote, Secrets, Webhook
from functions.domain.replies import (
    no_answer,
    output_missing,
    refused,
    unanswered,
    wrong_length,
)
from functions.signatures.ed25519_keys import is_signed
from functions.signatures.stamps import is_current, seconds_of

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

RUNNING = frozenset({"IN_QUEUE", "IN_PROGRESS"})
COMPLETED = "COMPLETED"
REFUSALS = frozenset({"content_policy_violation"})
BAD_REQUEST, UNPROCESSABLE, SERVER_FAULT = 400, 422, 500
HANDLES = ("status_url", "response_url", "cancel_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fal(Remote):
    """`endpoint` names the model; its first two parts name the queue that is asked later."""

    endpoint: str = "fal-ai/kling-video/v2.1/pro/image-to-video"
    user_id: str = ""  # our own, as hooks name it
    seconds_allowed: tuple[int, ...] = (5, 10)
    extra_input: Mapping[str, Any] = field(default_factory=dict)
    # Said with each submit, because the default lifetime of files is not published.
    files_kept_seconds: int = 86400

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Order from the model, with the hook in the query."""
        refusal = wrong_length(order, self.seconds_allowed)
        if refusal:
            return refusal
        query = f"?{urlencode({'fal_webhook': order.hook_url})}" if order.hook_url else ""
        kept = json.dumps({"expiration_duration_seconds": self.files_kept_seconds})
        return posting(
            f"{self.base_url}/{self.endpoint}{query}",
            self._headers(secrets) | {"x-fal-object-lifecycle-preference": kept},
            {
                "prompt": order.prompt,
                "image_url": order.photo_url,
                "duration": str(order.seconds),
                **self.extra_input,
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Keep both ids and the three addresses, as far as they lead back to the queue."""
        if not reply.ok:
            return self._refused(reply, now)
        answer = reply.json()
        request = identifier(at(answer, "request_id"))
        if not request:
            return Unknown(cause="no-job-id")
        handles = {name: link(at(answer, name)) for name in HANDLES}
        handles["gateway_request_id"] = identifier(at(answer, "gateway_request_id"))
        return Accepted(job=Job(id=request, handles={k: v for k, v in handles.items() if v}))

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Ask for the status, then for the result: only that tells success from failure."""
        if not replies:
            return getting(self._place(job, "status_url"), self._headers(secrets))
        if len(replies) == 1:
            status = replies[0]
            trouble = no_answer(status, now)
            if trouble:
                return trouble
            word = text(at(status.json(), "status"))
            if word in RUNNING:
                return Observation(state=JobState.RUNNING, word=word, job_id=job.id)
            if word != COMPLETED:
                return Observation(state=JobState.UNRECOGNISED, word=word, job_id=job.id)
            return getting(self._place(job, "response_url"), self._headers(secrets))
        return _result(replies[1], now)

    def cancellation(self, job: Job, secrets: Secrets, now: datetime) -> HttpRequest | None:
        """Withdraw it from the queue; what runs may still finish."""
        return getting(self._place(job, "cancel_url"), self._headers(secrets), method="PUT")

    def canceled(self, reply: HttpReply) -> Cancellation:
        """Go by the word, and where there is none by the code."""
        words = {
            "CANCELLATION_REQUESTED": Cancellation.REQUESTED,
            "ALREADY_COMPLETED": Cancellation.ALREADY_ENDED,
            "NOT_FOUND": Cancellation.UNKNOWN_JOB,
        }
        codes = {
            202: Cancellation.REQUESTED,
            400: Cancellation.ALREADY_ENDED,
            404: Cancellation.UNKNOWN_JOB,
        }
        unclear = codes.get(reply.status, Cancellation.UNANSWERED)
        return words.get(text(at(reply.json(), "status")), unclear)

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Check stamp, customer and signature, then read `{request_id, status, payload}`."""
        refusal = self._forged(hook, key_set, now)
        if refusal:
            return refusal
        body = parsed(hook.body)
        request = identifier(at(body, "request_id"))
        if not request:
            return Parked(code="no-job-id")
        seen = _called(body, request)
        return Hint(observation=seen, delivery_id=hook.headers["x-fal-webhook-request-id"])

    def _forged(
        self, hook: Delivery, key_set: bytes | None, now: datetime
    ) -> BadSignature | Unverifiable | None:
        names = ("request-id", "user-id", "timestamp", "signature")
        signed = [hook.headers.get(f"x-fal-webhook-{name}", "") for name in names]
        seconds = seconds_of(signed[2])
        if not all(signed) or seconds is None:
            return BadSignature(code="headers-missing")
        if not is_current(seconds, now):
            return BadSignature(code="stamp-out-of-tolerance")
        if not self.user_id or key_set is None:
            return Unverifiable(code="no-key-set" if self.user_id else "user-id-not-configured")
        if signed[1] != self.user_id:
            return BadSignature(code="another-customer")
        return _unsigned(hook.body, signed, key_set)

    def _place(self, job: Job, handle: str) -> str:
        given = job.handles.get(handle, "")
        if given and same_place(given, self.base_url):
            return given
        queue = "/".join(self.endpoint.split("/")[:2])
        tail = {"status_url": "/status", "response_url": "", "cancel_url": "/cancel"}[handle]
        return f"{self.base_url}/{queue}/requests/{job.id}{tail}"

    def _headers(self, secrets: Secrets) -> dict[str, str]:
        return {"authorization": f"Key {secrets['api_key']}"}

    def _refused(self, reply: HttpReply, now: datetime) -> Rejected | Unknown:
        verdict = refused(reply, now)
        if isinstance(verdict, Rejected) and verdict.failure.fault is Fault.BAD_INPUT:
            return replace(verdict, failure=_model_failure(at(reply.json(), "detail")))
        return verdict


def _unsigned(body: bytes, signed: Sequence[str], key_set: bytes) -> BadSignature | None:
    request, user, stamp, written = signed
    digest = hashlib.sha256(body).hexdigest()
    try:
        signature = bytes.fromhex(written)
    except ValueError:
        return BadSignature(code="signature-not-hex")
    if is_signed(f"{request}\n{user}\n{stamp}\n{digest}".encode(), signature, key_set):
        return None
    return BadSignature(code="no-signature-matches", keys_may_be_old=True)


def _result(reply: HttpReply, now: datetime) -> Observation:
    """Read the result of a completed job: 200 with files, or the failure of the model."""
    if reply.ok:
        trouble = no_answer(reply, now)
        return trouble or _files(reply.json(), COMPLETED)
    body = reply.json()
    kind = reply.headers.get("x-fal-error-type", "") or text(at(body, "error_type"))
    if reply.status == UNPROCESSABLE or (reply.status == BAD_REQUEST and at(body, "detail")):
        broken = _model_failure(at(body, "detail"))
    elif kind and reply.status >= SERVER_FAULT:
        broken = failure(Fault.TROUBLE, detail=text(kind))
    else:
        return no_answer(reply, now) or unanswered(reply, now)
    advice = {"true": True, "false": False}.get(reply.headers.get("x-fal-retryable", "").lower())
    if advice is not None:
        broken = replace(broken, again=advice)
    # Infrastructure failures are never billed; refused inputs sometimes are.
    charged = False if reply.status >= SERVER_FAULT else None
    return Observation(
        state=JobState.FAILED, word=COMPLETED, failure=broken, cost=Cost(charged=charged)
    )


def _called(body: Any, request: str) -> Observation:
    word = text(at(body, "status"))
    if word == "OK":
        payload = at(body, "payload")
        seen = _files(payload if payload is not None else at(body, "data"), word)
        # A payload that does not show the files says nothing of the result, which is asked for.
        if seen.state is not JobState.SUCCEEDED:
            seen = Observation(state=JobState.ENDED, word=word)
    elif word == "ERROR":
        seen = Observation(state=JobState.ENDED, word=word)
    else:
        seen = Observation(state=JobState.UNRECOGNISED, word=word)
    return replace(seen, job_id=request)


def _files(result: Any, word: str) -> Observation:
    """Find the film: `video.url` with most models, a list or a bare address with some."""
    shapes = (
        at(result, "video", "url"),
        at(result, "video"),
        at(result, "videos", 0, "url"),
        at(result, "output", "url"),
    )
    urls = [url for url in map(link, shapes) if url]
    if urls:
        outputs = (RemoteOutput(url=urls[0]),)
        return Observation(state=JobState.SUCCEEDED, word=word, outputs=outputs)
    if isinstance(result, dict) and any(name in result for name in ("video", "videos", "output")):
        return output_missing(word)
    return Observation(state=JobState.UNRECOGNISED, word=word)


def _model_failure(detail: Any) -> Failure:
    kind = text(at(detail, 0, "type")) or (text(detail) and "detail")
    fault = Fault.REFUSED_CONTENT if kind in REFUSALS else Fault.BAD_INPUT
    return failure(fault, detail=kind)


PROVIDER = Fal(
    name="fal",
    base_url="https://queue.fal.run",
    secrets=("api_key",),
    key_set_url="https://rest.fal.ai/.well-known/jwks.json",
    output_hosts=("fal.media", "fal.ai", "fal.run"),
    abilities=Abilities(
        cancel=Cancel.SAFE,
        webhook=Webhook.SIGNED,
        output_lifetime_seconds=86400,
        input_link_seconds=3600,
        poll_interval_seconds_min=2,
    ),
)
