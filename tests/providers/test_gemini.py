"""What is special about Gemini's wire."""

import json
from typing import Any

import pytest

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import Fault, Rejected, Unknown
from functions.domain.models import Answered, Asked, Shown, Unusable, Usage, Wait
from functions.domain.providers import Secrets, configured
from functions.providers.gemini import PROVIDER
from tests.doubles.world import START
from tests.providers.asking import CLIP, question
from tests.providers.wire import reply

SECRETS = Secrets(values={"api_key": ("k",)})
BASE = PROVIDER.base_url
PLACE = f"{BASE}/upload/v1/files?upload_id=u1&upload_protocol=resumable"
OPENED = HttpReply(status=200, headers={"x-goog-upload-url": PLACE}, body=b"{}")
SHOWN = Shown(uri=f"{BASE}/v1/files/a1", name="files/a1")


def file(state: str, **changes: Any) -> dict[str, Any]:
    size = str(len(CLIP.data))
    return {"name": "files/a1", "uri": SHOWN.uri, "sizeBytes": size, "state": state} | changes


def uploaded(state: str, **changes: Any) -> HttpReply:
    return reply({"file": file(state, **changes)})


def show(*replies: HttpReply) -> Any:
    return PROVIDER.show(CLIP, list(replies), SECRETS, START)


def asked(body: Any, status: int = 200, **headers: str) -> Asked:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PROVIDER.answered(HttpReply(status=status, headers=named, body=content), START)


def candidate(reason: str | None = "STOP", *parts: Any, **more: Any) -> dict[str, Any]:
    one = {"content": {"role": "model", "parts": list(parts)}, "finishReason": reason}
    return {"candidates": [one], **more}


def error(status: int, word: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": status, "message": "no", "status": word, "details": list(details)}}


def test_an_upload_is_opened_then_sent_in_one_piece_without_the_key() -> None:
    opening, upload = show(), show(OPENED)

    assert isinstance(opening, HttpRequest)
    assert (opening.method, opening.url) == ("POST", f"{BASE}/upload/v1/files")
    assert opening.headers["x-goog-upload-header-content-length"] == str(len(CLIP.data))
    assert isinstance(upload, HttpRequest)
    assert (upload.url, upload.body) == (PLACE, CLIP.data)
    assert upload.headers["x-goog-upload-command"] == "upload, finalize"
    assert "x-goog-api-key" not in upload.headers


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://elsewhere.example/upload",
        "http://generativelanguage.googleapis.com/upload",
        "https://k@generativelanguage.googleapis.com/upload",
    ],
)
def test_a_clip_is_sent_nowhere_else(url: str) -> None:
    refused = show(HttpReply(status=200, headers={"x-goog-upload-url": url}))

    assert isinstance(refused, Rejected)
    assert (refused.failure.code, refused.failure.detail) == ("clip-not-shown", "upload-address")


def test_a_clip_is_looked_for_until_it_is_ready() -> None:
    looking = show(OPENED, uploaded("PROCESSING"))

    assert isinstance(looking, HttpRequest)
    assert (looking.method, looking.url) == ("GET", SHOWN.uri)
    assert show(OPENED, uploaded("PROCESSING"), reply(file("PROCESSING"))) == Wait(seconds=2.0)
    assert show(OPENED, uploaded("PROCESSING"), reply(file("ACTIVE"))) == SHOWN
    assert show(OPENED, uploaded("ACTIVE")) == SHOWN


@pytest.mark.parametrize(
    ("last", "detail"),
    [
        (uploaded("FAILED"), "state-FAILED"),
        (uploaded("STATE_UNSPECIFIED"), "state-STATE_UNSPECIFIED"),
        (uploaded("ACTIVE", sizeBytes="3"), "cut-short"),
        (uploaded("ACTIVE", name="../secrets"), "no-file"),
        (uploaded("ACTIVE", uri=""), "state-ACTIVE"),
        (reply({}), "no-file"),
        (HttpReply(status=200, body=b"<html>"), "no-file"),
        (HttpReply(status=502, body=b"<html>"), "http-502"),
    ],
)
def test_a_clip_that_does_not_become_ready_is_shown_again(last: HttpReply, detail: str) -> None:
    refused = show(OPENED, last)

    assert isinstance(refused, Rejected)
    assert (refused.failure.code, refused.failure.again) == ("clip-not-shown", True)
    assert refused.failure.detail == detail


@pytest.mark.parametrize(
    ("status", "word", "fault"),
    [
        (429, "RESOURCE_EXHAUSTED", Fault.THROTTLED),
        (503, "UNAVAILABLE", Fault.TROUBLE),
        (403, "PERMISSION_DENIED", Fault.NO_ACCESS),
    ],
)
@pytest.mark.parametrize("before", [(), (OPENED,), (OPENED, uploaded("PROCESSING"))], ids=len)
def test_each_step_of_a_showing_may_be_refused(
    before: tuple[HttpReply, ...], status: int, word: str, fault: Fault
) -> None:
    refused = show(*before, reply(error(status, word), status=status))

    assert isinstance(refused, Rejected)
    assert (refused.failure.fault, refused.failure.detail) == (fault, word)


def test_a_question_names_clip_pace_and_form() -> None:
    model = configured(
        PROVIDER,
        {
            "media_resolution": "MEDIA_RESOLUTION_LOW",
            "max_output_tokens": 100,
            "extra_config": {"thinkingConfig": {"thinkingLevel": "low"}},
            "api_version": "v1beta",
            "answer_seconds": 60,
        },
    )
    request = model.question(question(SHOWN), SECRETS)
    assert isinstance(request, HttpRequest)
    body = json.loads(request.body)

    assert request.url == f"{BASE}/v1beta/models/{model.model}:generateContent"
    assert request.headers["x-server-timeout"] == "55"
    (video, words) = body["contents"][0]["parts"]
    assert video["fileData"] == {"fileUri": SHOWN.uri, "mimeType": "video/mp4"}
    assert video["videoMetadata"] == {"fps": model.diet.frames_per_second}
    assert "SHOTS:" in words["text"]
    config = body["generationConfig"]
    assert config["responseJsonSchema"] == question(SHOWN).schema
    assert config["mediaResolution"] == "MEDIA_RESOLUTION_LOW"
    assert config["maxOutputTokens"] == 100
    assert config["thinkingConfig"] == {"thinkingLevel": "low"}
    assert "temperature" not in config


def test_an_answer_is_what_is_said_without_what_was_thought() -> None:
    thought = {"text": "hm", "thought": True}
    counted = {
        "promptTokenCount": 900,
        "toolUsePromptTokenCount": 9,
        "candidatesTokenCount": 40,
        "thoughtsTokenCount": 60,
    }
    parts = [thought, {"text": '{"a":'}, {"text": "1}"}, {"inlineData": {}}]
    got = asked(candidate("STOP", *parts, usageMetadata=counted))

    assert got == Answered(text='{"a":1}', usage=Usage(input_tokens=909, output_tokens=100))


@pytest.mark.parametrize(
    "word", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK"]
)
def test_a_question_that_is_blocked_is_refused_content(word: str) -> None:
    feedback = {"promptFeedback": {"blockReason": word}, "usageMetadata": {"promptTokenCount": 7}}
    got = asked(feedback)

    assert isinstance(got, Unusable)
    assert (got.failure.fault, got.failure.again) == (Fault.REFUSED_CONTENT, False)
    assert (got.failure.detail, got.usage.input_tokens) == (f"prompt-{word}", 7)


@pytest.mark.parametrize("body", [{"modelVersion": "m"}, {"candidates": []}, {"candidates": None}])
def test_an_answer_without_a_candidate_is_a_refusal(body: Any) -> None:
    got = asked(body)

    assert isinstance(got, Unusable)
    assert got.failure.code == "refused-content"


@pytest.mark.parametrize(
    ("word", "code", "again"),
    [
        ("SAFETY", "refused-content", False),
        ("RECITATION", "refused-content", False),
        ("BLOCKLIST", "refused-content", False),
        ("PROHIBITED_CONTENT", "refused-content", False),
        ("SPII", "refused-content", False),
        ("LANGUAGE", "language-unsupported", False),
        ("OTHER", "answer-stopped", False),
        ("FINISH_REASON_UNSPECIFIED", "answer-stopped", False),
        ("UNHEARD_OF", "answer-stopped", False),
        (None, "answer-stopped", False),
        ("MAX_TOKENS", "answer-truncated", True),
        ("MALFORMED_RESPONSE", "answer-malformed", True),
        ("MALFORMED_FUNCTION_CALL", "answer-malformed", True),
    ],
)
def test_why_it_stopped_counts_before_what_it_says(
    word: str | None,
    code: str,
    again: bool,  # noqa: FBT001
) -> None:
    got = asked(candidate(word, {"text": '{"whole": true}'}))

    assert isinstance(got, Unusable)
    assert (got.failure.code, got.failure.again) == (code, again)


@pytest.mark.parametrize("parts", [[], [{"text": " \n"}], [{"text": None}], [{"thought": True}]])
def test_nothing_said_is_no_answer(parts: list[Any]) -> None:
    got = asked(candidate("STOP", *parts))

    assert isinstance(got, Unusable)
    assert (got.failure.code, got.failure.again) == ("answer-empty", True)


@pytest.mark.parametrize(
    ("status", "word", "fault", "again"),
    [
        (429, "RESOURCE_EXHAUSTED", Fault.THROTTLED, True),
        (500, "INTERNAL", Fault.TROUBLE, True),
        (503, "UNAVAILABLE", Fault.TROUBLE, True),
        (504, "DEADLINE_EXCEEDED", Fault.TROUBLE, True),
        (400, "INVALID_ARGUMENT", Fault.BAD_INPUT, False),
        (400, "FAILED_PRECONDITION", Fault.NO_ACCESS, False),
        (403, "PERMISSION_DENIED", Fault.NO_ACCESS, False),
        (404, "NOT_FOUND", Fault.NO_ACCESS, False),
    ],
)
def test_the_vendor_s_own_errors_are_definite(
    status: int, word: str, fault: Fault, *, again: bool
) -> None:
    for body in (error(status, word), [error(status, word)]):
        got = asked(body, status)
        assert isinstance(got, Rejected)
        assert (got.failure.fault, got.failure.again) == (fault, again)
        assert got.failure.detail == word


def test_a_bad_key_is_not_the_customer_s_fault() -> None:
    got = asked(error(400, "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}), 400)

    assert isinstance(got, Rejected)
    assert got.failure.fault is Fault.NO_ACCESS


@pytest.mark.parametrize(
    ("details", "headers", "seconds"),
    [
        ([{"retryDelay": "37.2s"}], {}, 38),
        ([{"retryDelay": "37s"}], {"retry_after": "5"}, 5),
        ([{"retryDelay": "999999s"}], {}, 86400),
        ([{"retryDelay": "soon"}, 5, None], {}, None),
    ],
)
def test_how_long_to_wait_is_in_the_header_or_in_the_error(
    details: list[Any], headers: dict[str, str], seconds: int | None
) -> None:
    got = asked(error(429, "RESOURCE_EXHAUSTED", *details), 429, **headers)

    assert isinstance(got, Rejected)
    assert got.retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>", 500),
        (b"<html>", 502),
        ({"error": "no"}, 503),
        ({"error": {"code": 504}}, 504),
        (error(500, "UNKNOWN"), 500),
        (b"", 200),
        (b"{}", 200),
        (b"[]", 200),
        (b'{"ok": true}', 200),
    ],
)
def test_what_may_not_be_the_vendor_s_is_unknown(body: Any, status: int) -> None:
    assert isinstance(asked(body, status), Unknown)


def test_only_what_was_uploaded_is_removed() -> None:
    removal = PROVIDER.forget(SHOWN, SECRETS)

    assert isinstance(removal, HttpRequest)
    assert (removal.method, removal.url) == ("DELETE", SHOWN.uri)
    for name in ("", "files/", "files/../a", "models/a", "files/a/b"):
        assert PROVIDER.forget(Shown(uri=SHOWN.uri, name=name), SECRETS) is None
