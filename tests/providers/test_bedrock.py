"""What is special about Bedrock's wire."""

import json
from typing import Any

import pytest

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import Fault, Rejected, Unknown
from functions.domain.models import Answered, Asked, Shown, Unusable, Usage
from functions.domain.providers import Secrets, configured
from functions.providers.bedrock import PROVIDER
from tests.doubles.world import START
from tests.providers.asking import CLIP, SCHEMA, question
from tests.providers.wire import reply

NONE = Secrets(values={})
SHOWN = Shown(uri=CLIP.place)


def asked(body: Any, status: int = 200, **headers: str) -> Asked:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PROVIDER.answered(HttpReply(status=status, headers=named, body=content), START)


def message(reason: Any, *blocks: Any) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": reason,
        "usage": {"inputTokens": 800, "outputTokens": 20, "totalTokens": 820},
    }


def test_a_clip_is_named_and_not_sent() -> None:
    assert PROVIDER.show(CLIP, [], NONE, START) == SHOWN
    assert PROVIDER.forget(SHOWN, NONE) is None


def test_a_question_names_the_clip_and_forces_the_tool() -> None:
    model = configured(PROVIDER, {"max_tokens": 500})
    request = model.question(question(SHOWN), NONE)
    assert isinstance(request, HttpRequest)
    body = json.loads(request.body)

    place = "https://bedrock-runtime.{region}.amazonaws.com/model/"
    assert request.url == f"{place}global.amazon.nova-2-lite-v1%3A0/converse"
    assert (request.signed_for, request.signed_in) == ("bedrock", "")
    (video, words) = body["messages"][0]["content"]
    assert video["video"] == {"format": "mp4", "source": {"s3Location": {"uri": CLIP.place}}}
    assert "SHOTS:" in words["text"]
    assert body["inferenceConfig"] == {"maxTokens": 500, "temperature": 0.0}
    (tool,) = body["toolConfig"]["tools"]
    assert body["toolConfig"]["toolChoice"]["tool"]["name"] == tool["toolSpec"]["name"]
    schema = tool["toolSpec"]["inputSchema"]["json"]
    assert set(schema) == {"type", "properties", "required"}
    assert schema["properties"] == SCHEMA["properties"]


def test_a_model_that_is_named_in_full_stays_one_part_of_the_path() -> None:
    arn = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc"
    model = configured(PROVIDER, {"model": arn, "region": "eu-west-1"})
    request = model.question(question(SHOWN), NONE)

    assert isinstance(request, HttpRequest)
    assert request.url.count("/") == 5
    assert "application-inference-profile%2Fabc" in request.url
    assert request.signed_in == "eu-west-1"


def test_the_tool_s_input_is_the_answer() -> None:
    thinking, use = {"text": "<thinking>"}, {"toolUse": {"name": "report", "input": {"a": "ü"}}}
    got = asked(message("tool_use", thinking, use))

    assert isinstance(got, Answered)
    assert json.loads(got.text) == {"a": "ü"}
    assert got.usage == Usage(input_tokens=800, output_tokens=20)


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "tool_use"])
def test_where_no_tool_was_used_its_words_are(reason: str) -> None:
    blocks = [{"reasoningContent": {"text": "no"}}, {"text": '{"a":'}, {"text": "1}"}]
    got = asked(message(reason, *blocks))

    assert isinstance(got, Answered)
    assert got.text == '{"a":1}'


@pytest.mark.parametrize(
    ("reason", "code", "again"),
    [
        ("max_tokens", "answer-truncated", True),
        ("model_context_window_exceeded", "answer-truncated", True),
        ("content_filtered", "refused-content", False),
        ("guardrail_intervened", "refused-content", False),
        ("malformed_model_output", "answer-malformed", True),
        ("malformed_tool_use", "answer-malformed", True),
        ("unheard_of", "answer-stopped", False),
    ],
)
def test_why_it_stopped_counts_before_what_it_says(reason: str, code: str, *, again: bool) -> None:
    got = asked(message(reason, {"toolUse": {"input": {"a": 1}}}))

    assert isinstance(got, Unusable)
    assert (got.failure.code, got.failure.again) == (code, again)
    assert got.failure.detail == reason
    assert got.usage.input_tokens == 800


@pytest.mark.parametrize("blocks", [[], [{"text": " "}], [{"toolUse": {"input": {}}}], [7]])
def test_nothing_said_is_no_answer(blocks: list[Any]) -> None:
    got = asked(message("tool_use", *blocks))

    assert isinstance(got, Unusable)
    assert (got.failure.code, got.failure.again) == ("answer-empty", True)


@pytest.mark.parametrize(
    ("status", "name", "fault", "again"),
    [
        (429, "ThrottlingException", Fault.THROTTLED, True),
        (429, "ModelNotReadyException", Fault.TROUBLE, True),
        (400, "ServiceQuotaExceededException", Fault.THROTTLED, True),
        (500, "InternalServerException", Fault.TROUBLE, True),
        (503, "ServiceUnavailableException", Fault.TROUBLE, True),
        (424, "ModelErrorException", Fault.TROUBLE, True),
        (408, "ModelTimeoutException", Fault.TROUBLE, True),
        (400, "ValidationException", Fault.BAD_INPUT, False),
        (403, "AccessDeniedException", Fault.NO_ACCESS, False),
        (403, "ExpiredTokenException", Fault.NO_ACCESS, False),
        (404, "ResourceNotFoundException", Fault.NO_ACCESS, False),
    ],
)
def test_an_error_is_known_by_its_name(
    status: int, name: str, fault: Fault, *, again: bool
) -> None:
    place = "http://internal.amazon.com/coral/com.amazon.bedrock/"
    in_header = asked({"message": "no"}, status, x_amzn_errortype=f"{name}:{place}")
    in_body = asked({"__type": f"com.amazon.bedrock#{name}", "message": "no"}, status)

    for got in (in_header, in_body):
        assert isinstance(got, Rejected)
        assert (got.failure.fault, got.failure.again) == (fault, again)
        assert got.failure.detail == name


@pytest.mark.parametrize("status", [408, 424, 500, 502, 503, 504])
@pytest.mark.parametrize("name", ["", "SomethingNewException"])
def test_an_error_that_may_come_from_in_between_is_unknown(status: int, name: str) -> None:
    headers = {"x_amzn_errortype": name} if name else {}

    assert asked(b"<html>", status, **headers) == Unknown(cause=f"http-{status}")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"stopReason": {}}'])
def test_what_is_no_answer_is_unknown(body: bytes) -> None:
    assert asked(body) == Unknown(cause="no-answer")


def test_an_answer_without_its_count_is_still_one() -> None:
    whole = message("end_turn", {"text": "x"})
    del whole["usage"]
    got = PROVIDER.answered(reply(whole), START)

    assert got == Answered(text="x", usage=Usage())
