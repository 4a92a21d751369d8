"""Replicate: predictions that can be listed, HMAC hooks, and files that live for an hour.

Wire: `POST /v1/models/{owner}/{name}/predictions` with `{input, webhook}` makes a prediction;
`GET /v1/predictions/{id}` and every hook give the same object. `output` is an address, a list or
an object, as the model likes. About an hour after the end the output is removed and
`data_removed` is set: the prediction still says `succeeded`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
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
    same_place,
    text,
)
from functions.domain.hooks import Delivery, Hint, Judgement, Parked, Unverifiable
from functions.domain.jobs import (
    Absent,
    Accepted,
    Cancellation,
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
from functions.domain.providers import Abilities, Cancel, Find, Remote, Secrets, Webhook
from functions.domain.replies import (
    NOT_FOUND,
    no_answer,
    no_list,
    output_missing,
    refused,
    wrong_length,
)
from functions.signatures.standard_webhooks import refusal

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

RUNNING: Final = frozenset({"starting", "processing"})
SUCCEEDED: Final = "succeeded"
# What it does not start is free; what it stops after the start is paid (public models).
ENDS: Final = {
    "failed": (failure(Fault.TROUBLE, "provider-failed"), None),
    "canceled": (failure(Fault.TROUBLE, "provider-canceled"), True),
    "aborted": (failure(Fault.TROUBLE, "provider-expired"), False),
}
REMOVED: Final = failure(Fault.TROUBLE, "output-removed")
OUTPUT_FIELDS: Final = ("video", "output", "url", "videos", "files")
OUTPUT_DEPTH_MAX: Final = 4
SKEW: Final = timedelta(minutes=2)  # its clock against ours, when asking for what is newer


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate(Remote):
    """`model` is `owner/name`; the names of its inputs differ between models."""

    model: str = "kwaivgi/kling-v2.1"
    photo_field: str = "start_image"
    seconds_allowed: tuple[int, ...] = (5, 10)
    extra_input: Mapping[str, Any] = field(default_factory=dict)
    cancel_after: str = "30m"  # an end on their side for a job that nobody asks about any more

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Create a prediction that calls when it has ended."""
        wrong = wrong_length(order, self.seconds_allowed)
        if wrong:
            return wrong
        hook = {"webhook": order.hook_url, "webhook_events_filter": ["completed"]}
        return posting(
            f"{self.base_url}/v1/models/{self.model}/predictions",
            self._headers(secrets)
            | ({"cancel-after": self.cancel_after} if self.cancel_after else {}),
            {
                "input": {
                    "prompt": order.prompt,
                    self.photo_field: order.photo_url,
                    "duration": order.seconds,
                    **self.extra_input,
                },
                **(hook if order.hook_url else {}),
            },
        )

    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Keep the prediction's id; its address follows from it."""
        if not reply.ok:
            return refused(reply, now)
        prediction = identifier(at(reply.json(), "id"))
        return Accepted(job=Job(id=prediction)) if prediction else Unknown(cause="no-job-id")

    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Read the prediction."""
        if not replies:
            return getting(f"{self.base_url}/v1/predictions/{job.id}", self._headers(secrets))
        return no_answer(replies[0], now) or _prediction(replies[0].json())

    def find(
        self,
        token: str,
        since: datetime,
        replies: Sequence[HttpReply],
        secrets: Secrets,
        now: datetime,
    ) -> HttpRequest | Search:
        """Page through what was created since, newest first, for a hook with our token."""
        if not replies:
            after = urlencode({"created_after": (since - SKEW).isoformat()})
            return getting(f"{self.base_url}/v1/predictions?{after}", self._headers(secrets))
        return no_list(replies[-1], now) or self._listed(token, since, replies, secrets)

    def _listed(
        self, token: str, since: datetime, replies: Sequence[HttpReply], secrets: Secrets
    ) -> HttpRequest | Search:
        items = at(replies[-1].json(), "results")
        if not isinstance(items, list):
            return CannotTell(cause="no-results")
        for item in items:
            prediction = identifier(at(item, "id"))
            if prediction and _mentions(at(item, "webhook"), token):
                return Found(job=Job(id=prediction))
        following = link(at(replies[-1].json(), "next"))
        if following and not _older(items, since):
            if not same_place(following, self.base_url):
                return CannotTell(cause="next-page-elsewhere")
            return getting(following, self._headers(secrets))
        return _absent(replies)

    def cancellation(self, job: Job, secrets: Secrets, now: datetime) -> HttpRequest | None:
        """Stop it. What has started is paid all the same."""
        url = f"{self.base_url}/v1/predictions/{job.id}/cancel"
        return getting(url, self._headers(secrets), method="POST")

    def canceled(self, reply: HttpReply) -> Cancellation:
        """Go by the prediction that comes back."""
        if reply.status == NOT_FOUND:
            return Cancellation.UNKNOWN_JOB
        if not reply.ok:
            return Cancellation.UNANSWERED
        ended = text(at(reply.json(), "status")) in {SUCCEEDED, "failed"}
        return Cancellation.ALREADY_ENDED if ended else Cancellation.REQUESTED

    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Check the signature; the body is the prediction itself, without an envelope."""
        keys = secrets.every("hook_secret")
        if not keys:
            return Unverifiable(code="no-hook-secret")
        forged = refusal(hook, keys, now)
        if forged:
            return forged
        body = parsed(hook.body)
        if not identifier(at(body, "id")):
            return Parked(code="no-job-id")
        seen = _prediction(body)
        if seen.token not in ("", hook.token):
            return Parked(code="another-attempt")
        return Hint(observation=seen, delivery_id=text(hook.headers["webhook-id"]))

    def _headers(self, secrets: Secrets) -> dict[str, str]:
        return {"authorization": f"Bearer {secrets['api_key']}"}


def _mentions(hook_url: Any, token: str) -> bool:
    return isinstance(hook_url, str) and token in hook_url


def _older(items: Sequence[Any], since: datetime) -> bool:
    """Whether the list has come to what was there before, should it list more than asked for."""
    try:
        created = datetime.fromisoformat(text(at(items, -1, "created_at")))
    except ValueError:
        return False
    return created.tzinfo is not None and created < since - SKEW


def _absent(replies: Sequence[HttpReply]) -> Absent | CannotTell:
    """Conclude from the whole list. An item that does not show its hook may be ours."""
    items = [item for reply in replies for item in at(reply.json(), "results") or []]
    shown = all(isinstance(item, dict) and "webhook" in item for item in items)
    return Absent() if shown else CannotTell(cause="hooks-not-listed")


def _prediction(body: Any) -> Observation:
    word = text(at(body, "status"))
    seen = Observation(
        state=JobState.UNRECOGNISED,
        word=word,
        job_id=identifier(at(body, "id")),
        token=identifier(link(at(body, "webhook")).rpartition("/")[2]),
    )
    if word in RUNNING:
        return replace(seen, state=JobState.RUNNING)
    if word in ENDS:
        broken, charged = ENDS[word]
        cost = _cost(body, charged=charged)
        return replace(seen, state=JobState.FAILED, failure=broken, cost=cost)
    return _success(body, seen) if word == SUCCEEDED else seen


def _success(body: Any, seen: Observation) -> Observation:
    seen = replace(seen, cost=_cost(body, charged=True))
    if at(body, "data_removed") is True:
        return replace(seen, state=JobState.FAILED, failure=REMOVED)
    output = at(body, "output")
    outputs = tuple(RemoteOutput(url=url) for url in _links(output))
    if outputs:
        return replace(seen, state=JobState.SUCCEEDED, outputs=outputs)
    if output:
        return seen
    missing = output_missing(SUCCEEDED)
    return replace(seen, state=missing.state, failure=missing.failure)


def _links(output: Any, depth: int = 0) -> Iterator[str]:
    """Find addresses in whatever shape a model gives its output."""
    if link(output):
        yield link(output)
    elif depth < OUTPUT_DEPTH_MAX and isinstance(output, list):
        for one in output:
            yield from _links(one, depth + 1)
    elif depth < OUTPUT_DEPTH_MAX and isinstance(output, dict):
        for name in OUTPUT_FIELDS:
            yield from _links(output.get(name), depth + 1)


def _cost(body: Any, *, charged: bool | None) -> Cost:
    seconds = text(at(body, "metrics", "predict_time"))
    return Cost(charged=charged, figures={"predict_seconds": seconds} if seconds else {})


PROVIDER = Replicate(
    name="replicate",
    base_url="https://api.replicate.com",
    secrets=("api_key",),
    hook_secrets=("hook_secret",),
    output_hosts=("replicate.delivery", "replicate.com"),
    submits_per_minute=600,
    queries_per_minute=3000,
    abilities=Abilities(
        find=Find.LISTING,
        find_settle_seconds=120,
        cancel=Cancel.SAFE,
        webhook=Webhook.SIGNED,
        output_lifetime_seconds=3600,
        input_link_seconds=1800,
        input_kept_seconds=3600,
        poll_interval_seconds_min=2,
    ),
)
