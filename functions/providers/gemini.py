"""Gemini: a clip is uploaded, looked at and removed; one question, one paid answer.

Wire: `POST /upload/v1/files` opens an upload and names its address, the bytes go there in one
piece, and `GET /v1/{name}` says when the clip is ACTIVE. `POST …:generateContent` answers in the
same exchange. A refusal is an HTTP 200: `promptFeedback.blockReason` without an answer, or a
`finishReason` other than STOP. Errors carry `{error: {code, status}}`; one without it comes from
something in front of the vendor, and says nothing of what became of the question.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import Any, Final

from functions.domain.answers import (
    answered,
    declined,
    no_analysis,
    not_shown,
    refused_content,
    tokens,
    truncated,
    unusable,
)
from functions.domain.exchange import (
    RETRY_AFTER_SECONDS_MAX,
    HttpReply,
    HttpRequest,
    at,
    getting,
    link,
    posting,
    same_place,
    text,
)
from functions.domain.jobs import Fault, Rejected, Unknown
from functions.domain.models import (
    Asked,
    Clip,
    Diet,
    Model,
    Question,
    Shown,
    Unusable,
    Usage,
    Wait,
)
from functions.domain.providers import Secrets

NAME: Final = re.compile(r"files/[A-Za-z0-9_-]{1,64}")
DELAY: Final = re.compile(r"([0-9]{1,6})(\.[0-9]{1,9})?s")
GIVES_UP_SOONER_SECONDS: Final = (
    5  # so that its own end is heard of, and is none of unknown outcome
)
ERRORS: Final = {
    "RESOURCE_EXHAUSTED": Fault.THROTTLED,
    "INTERNAL": Fault.TROUBLE,
    "UNAVAILABLE": Fault.TROUBLE,
    "DEADLINE_EXCEEDED": Fault.TROUBLE,
    "CANCELLED": Fault.TROUBLE,
    "INVALID_ARGUMENT": Fault.BAD_INPUT,
    "OUT_OF_RANGE": Fault.BAD_INPUT,
    "FAILED_PRECONDITION": Fault.NO_ACCESS,  # no billing, or not in this country
    "PERMISSION_DENIED": Fault.NO_ACCESS,
    "UNAUTHENTICATED": Fault.NO_ACCESS,
    "NOT_FOUND": Fault.NO_ACCESS,
}
# With a key that is none, an argument is said to be invalid.
KEYS: Final = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"})
REFUSALS: Final = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)
MALFORMED: Final = frozenset(
    {"MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}
    | {"TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}
)
OURS: Final = frozenset(  # by which an answer is known to be the model's
    {"candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemini(Model):
    """`extra_config` is the model's own, such as `thinkingConfig`.

    Previews and names that move along, such as those in `-latest`, are known to `v1beta` only.
    """

    api_version: str = "v1"
    max_output_tokens: int = 32768  # what it thinks is counted too
    media_resolution: str = ""  # such as MEDIA_RESOLUTION_LOW; empty: the model's own
    extra_config: Mapping[str, Any] = field(default_factory=dict)
    look_again_seconds: float = 2.0

    def show(
        self, clip: Clip, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Wait | Shown | Rejected:
        """Open an upload, send the bytes, and ask until the clip is ready."""
        if not replies:
            return self._opening(clip, secrets)
        last = replies[-1]
        if len(replies) == 1:
            place = link(last.headers.get("x-goog-upload-url"))
            if last.ok and same_place(place, self.base_url):
                return _upload(place, clip)
            return not_shown("upload-address") if last.ok else _not_taken(last, now)
        if not last.ok:
            return _not_taken(last, now)
        body = last.json()
        file = at(body, "file") if len(replies) == 2 else body  # noqa: PLR2004 - the upload's own
        return self._seen(file, clip, secrets, may_wait=len(replies) > 2)  # noqa: PLR2004

    def question(self, question: Question, secrets: Secrets) -> HttpRequest | Rejected:
        """Ask about the clip, with the schema that the answer must fit.

        No temperature: the newer models do without, and refuse it one day.
        """
        video = {
            "fileData": {
                "fileUri": question.shown.uri,
                "mimeType": question.shown.content_type,
            },
            "videoMetadata": {"fps": self.diet.frames_per_second},
        }
        resolution = {"mediaResolution": self.media_resolution} if self.media_resolution else {}
        patience = max(1, int(self.answer_seconds) - GIVES_UP_SOONER_SECONDS)
        return posting(
            f"{self.base_url}/{self.api_version}/models/{self.model}:generateContent",
            _headers(secrets) | {"x-server-timeout": str(patience)},
            {
                "contents": [{"role": "user", "parts": [video, {"text": question.prompt}]}],
                "generationConfig": {
                    "responseMimeType": "application/json",
                    "responseJsonSchema": question.schema,
                    "maxOutputTokens": self.max_output_tokens,
                    **resolution,
                    **self.extra_config,
                },
            },
        )

    def answered(self, reply: HttpReply, now: datetime) -> Asked:
        """Read why it stopped, before what it says."""
        body = reply.json()
        if not reply.ok:
            return _error(reply, now)
        if not isinstance(body, dict) or not OURS & set(body):
            return Unknown(cause="no-answer")
        usage = _usage(at(body, "usageMetadata"))
        blocked = text(at(body, "promptFeedback", "blockReason"))
        candidate = at(body, "candidates", 0)
        if blocked or not isinstance(candidate, dict):
            return refused_content(usage, f"prompt-{blocked or 'unanswered'}")
        word = text(at(candidate, "finishReason"))
        if word != "STOP":
            return _stopped(word, usage)
        parts = at(candidate, "content", "parts")
        rows = parts if isinstance(parts, list) else []
        said = [at(part, "text") for part in rows if at(part, "thought") is not True]
        return answered(said, usage, word)

    def forget(self, shown: Shown, secrets: Secrets) -> HttpRequest | None:
        """Remove the clip; by itself it would stay for two days."""
        if not NAME.fullmatch(shown.name):
            return None
        return getting(
            f"{self.base_url}/{self.api_version}/{shown.name}", _headers(secrets), method="DELETE"
        )

    def _opening(self, clip: Clip, secrets: Secrets) -> HttpRequest:
        upload = {
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(len(clip.data)),
            "x-goog-upload-header-content-type": clip.content_type,
        }
        return posting(
            f"{self.base_url}/upload/{self.api_version}/files",
            _headers(secrets) | upload,
            {"file": {"mimeType": clip.content_type, "sizeBytes": len(clip.data)}},
        )

    def _seen(
        self, file: Any, clip: Clip, secrets: Secrets, *, may_wait: bool
    ) -> HttpRequest | Wait | Shown | Rejected:
        name, uri = text(at(file, "name")), link(at(file, "uri"))
        state = text(at(file, "state"))
        if not NAME.fullmatch(name):
            return not_shown("no-file")
        size = text(at(file, "sizeBytes"))
        if size not in ("", str(len(clip.data))):
            return not_shown("cut-short")
        if state == "ACTIVE" and uri:
            return Shown(uri=uri, name=name, content_type=clip.content_type)
        if state != "PROCESSING":
            return not_shown(f"state-{state}")
        if may_wait:
            return Wait(seconds=self.look_again_seconds)
        return getting(f"{self.base_url}/{self.api_version}/{name}", _headers(secrets))


def _headers(secrets: Secrets) -> dict[str, str]:
    return {"x-goog-api-key": secrets["api_key"]}


def _upload(place: str, clip: Clip) -> HttpRequest:
    """Send all bytes at once. The address names the upload, and needs no key."""
    headers = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
    return HttpRequest(method="POST", url=place, headers=headers, body=clip.data)


def _not_taken(reply: HttpReply, now: datetime) -> Rejected:
    verdict = _error(reply, now)
    if isinstance(verdict, Rejected):
        return verdict
    return not_shown(verdict.cause)


def _error(reply: HttpReply, now: datetime) -> Rejected | Unknown:
    """Go by the vendor's own word, then by the status; a 5xx without a word is unknown."""
    body = reply.json()
    error = at(body, "error") or at(body, 0, "error")
    word = text(at(error, "status"))
    details = at(error, "details")
    rows = details if isinstance(details, list) else []
    bad_key = any(text(at(row, "reason")) in KEYS for row in rows)
    fault = Fault.NO_ACCESS if bad_key else ERRORS.get(word)
    verdict = declined(reply, now, fault, detail=word)
    if isinstance(verdict, Rejected) and verdict.retry_after_seconds is None:
        return replace(verdict, retry_after_seconds=_delay(rows))
    return verdict


def _delay(details: Sequence[Any]) -> int | None:
    """Read how long to wait from the error, where no header says it."""
    for row in details:
        found = DELAY.fullmatch(text(at(row, "retryDelay")))
        if found:
            return min(ceil(float(f"{found[1]}{found[2] or ''}")), RETRY_AFTER_SECONDS_MAX)
    return None


def _stopped(word: str, usage: Usage) -> Unusable:
    if word == "MAX_TOKENS":
        return truncated(usage, word)
    if word in REFUSALS:
        return refused_content(usage, word)
    if word == "LANGUAGE":
        spoken = no_analysis(Fault.BAD_INPUT, "language-unsupported", detail=word)
        return Unusable(failure=spoken, usage=usage)
    if word in MALFORMED:
        return unusable("answer-malformed", usage, word)
    # For reasons of its own, or unheard of: asking again costs again, for the same.
    return unusable("answer-stopped", usage, word or "no-reason", again=False)


def _usage(counted: Any) -> Usage:
    """Count as it is charged: thoughts are written, and tools' results are read."""
    return Usage(
        input_tokens=tokens(
            at(counted, "promptTokenCount"), at(counted, "toolUsePromptTokenCount")
        ),
        output_tokens=tokens(
            at(counted, "candidatesTokenCount"), at(counted, "thoughtsTokenCount")
        ),
    )


PROVIDER = Gemini(
    name="gemini",
    base_url="https://generativelanguage.googleapis.com",
    secrets=("api_key",),
    model="gemini-3.8-flash",
    diet=Diet(
        side_max=480,
        frames_per_second=1.0,
        sound=True,
        part_seconds=600,
        bytes_max=20_000_000,
    ),
)
