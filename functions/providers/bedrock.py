"""Amazon Nova on Bedrock: sees a clip where it lies in our bucket, hears nothing, needs no key.

Wire: `POST /model/{id}/converse`, signed by our own role, answers in the same exchange. A refusal
is an HTTP 200 with a `stopReason`; errors are named by `x-amzn-errortype`. The answer's form is
forced by a tool that must be called: that is what Nova documents, under constrained decoding.
`outputConfig.textFormat` is documented for other vendors' models only.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from functions.domain.answers import (
    answered,
    declined,
    refused_content,
    tokens,
    truncated,
    unusable,
)
from functions.domain.exchange import HttpReply, HttpRequest, at, posting, text
from functions.domain.jobs import Fault, Rejected, Unknown
from functions.domain.models import Asked, Clip, Diet, Model, Question, Shown, Unusable, Usage, Wait
from functions.domain.providers import Secrets

# ruff: noqa: ARG002 - one protocol for all, and none needs every argument

TOOL: Final = "report"
FORMATS: Final = {"video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm"}
# At the top of a tool's schema Nova knows these and takes no others.
TOP: Final = ("type", "properties", "required")
ERRORS: Final = {
    "ThrottlingException": Fault.THROTTLED,
    "ServiceQuotaExceededException": Fault.THROTTLED,
    "ModelNotReadyException": Fault.TROUBLE,
    "ModelTimeoutException": Fault.TROUBLE,
    "ModelErrorException": Fault.TROUBLE,
    "InternalServerException": Fault.TROUBLE,
    "ServiceUnavailableException": Fault.TROUBLE,
    "ValidationException": Fault.BAD_INPUT,
    "AccessDeniedException": Fault.NO_ACCESS,
    "ResourceNotFoundException": Fault.NO_ACCESS,
    "UnrecognizedClientException": Fault.NO_ACCESS,
    "InvalidSignatureException": Fault.NO_ACCESS,
    "IncompleteSignatureException": Fault.NO_ACCESS,
    "MissingAuthenticationTokenException": Fault.NO_ACCESS,
    "ExpiredTokenException": Fault.NO_ACCESS,
    "OptInRequired": Fault.NO_ACCESS,
}
WHOLE: Final = frozenset({"end_turn", "tool_use", "stop_sequence"})
TOO_LONG: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
REFUSALS: Final = frozenset({"content_filtered", "guardrail_intervened"})
MALFORMED: Final = frozenset({"malformed_model_output", "malformed_tool_use"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bedrock(Model):
    """`region` is where it is asked, and must be our bucket's; none named: where we run."""

    region: str = ""
    max_tokens: int = 8192

    def show(
        self, clip: Clip, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Wait | Shown | Rejected:
        """Name the place in our bucket: it is read from there, by our own role."""
        return Shown(uri=clip.place, content_type=clip.content_type)

    def question(self, question: Question, secrets: Secrets) -> HttpRequest | Rejected:
        """Ask about the clip, and have the answer put into the tool's input."""
        video = {
            "format": FORMATS.get(question.shown.content_type, "mp4"),
            "source": {"s3Location": {"uri": question.shown.uri}},
        }
        schema = {name: question.schema[name] for name in TOP if name in question.schema}
        tool = {
            "name": TOOL,
            "description": "Report what the video shows.",
            "inputSchema": {"json": schema},
        }
        request = posting(
            f"{self.base_url}/model/{quote(self.model, safe='')}/converse",
            {},
            {
                "messages": [
                    {"role": "user", "content": [{"video": video}, {"text": question.prompt}]}
                ],
                "inferenceConfig": {"maxTokens": self.max_tokens, "temperature": 0.0},
                "toolConfig": {
                    "tools": [{"toolSpec": tool}],
                    "toolChoice": {"tool": {"name": TOOL}},
                },
                # With the temperature, this is what makes it call tools reliably.
                "additionalModelRequestFields": {"inferenceConfig": {"topK": 1}},
            },
        )
        return replace(request, signed_for="bedrock", signed_in=self.region)

    def answered(self, reply: HttpReply, now: datetime) -> Asked:
        """Read why it stopped, before what it says."""
        if not reply.ok:
            return _error(reply, now)
        body = reply.json()
        word = text(at(body, "stopReason"))
        if not word:
            return Unknown(cause="no-answer")
        usage = Usage(
            input_tokens=tokens(at(body, "usage", "inputTokens")),
            output_tokens=tokens(at(body, "usage", "outputTokens")),
        )
        if word not in WHOLE:
            return _stopped(word, usage)
        content = at(body, "output", "message", "content")
        return answered(_said(content if isinstance(content, list) else []), usage, word)


def _said(blocks: Sequence[Any]) -> list[Any]:
    """Take the tool's input. What is said beside it is how the model came to it."""
    inputs = [at(block, "toolUse", "input") for block in blocks]
    given = [found for found in inputs if isinstance(found, Mapping) and found]
    if given:
        return [json.dumps(given[0])]
    return [at(block, "text") for block in blocks]


def _error(reply: HttpReply, now: datetime) -> Rejected | Unknown:
    """Go by the name of the error; a 5xx without one is unknown."""
    told = reply.headers.get("x-amzn-errortype", "") or text(at(reply.json(), "__type"))
    name = text(told.partition(":")[0].rpartition("#")[2])
    return declined(reply, now, ERRORS.get(name), detail=name)


def _stopped(word: str, usage: Usage) -> Unusable:
    if word in TOO_LONG:
        return truncated(usage, word)
    if word in REFUSALS:
        return refused_content(usage, word)
    if word in MALFORMED:
        return unusable("answer-malformed", usage, word)
    return unusable("answer-stopped", usage, word, again=False)


PROVIDER = Bedrock(
    name="bedrock",
    base_url="https://bedrock-runtime.{region}.amazonaws.com",
    secrets=(),
    action="bedrock:InvokeModel",
    model="global.amazon.nova-2-lite-v1:0",
    diet=Diet(
        side_max=480,
        frames_per_second=1.0,
        sound=False,
        part_seconds=300,
        bytes_max=20_000_000,
    ),
)
