"""fal: two steps, one word for every end, addresses that must lead back."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import (
    Accepted,
    Cancellation,
    Fault,
    Job,
    JobState,
    Observation,
    Rejected,
)
from functions.domain.providers import Secrets
from functions.providers.fal import PROVIDER
from local.fakes.script import Script
from tests.doubles.world import START
from tests.providers.stage import TOKEN, Stage, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"api_key": ("k",)})
DONE = reply({"status": "COMPLETED"})
QUEUE = "https://queue.fal.run/fal-ai/kling-video/requests/r1"


def result(answer: HttpReply) -> Observation:
    seen = PROVIDER.observe(Job(id="r1"), [DONE, answer], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def asked(job: Job, *replies: HttpReply) -> str:
    request = PROVIDER.observe(job, replies, SECRETS, START)
    assert isinstance(request, HttpRequest)
    return request.url


def test_the_order_is_the_models_own_input_with_the_hook_in_the_query() -> None:
    hook = f"https://api.example/v1/hooks/fal/{TOKEN}?a=b&c=d"
    request = PROVIDER.submission(order(hook_url=hook), SECRETS, START)

    assert isinstance(request, HttpRequest)
    parts = urlsplit(request.url)
    assert parts.path == "/fal-ai/kling-video/v2.1/pro/image-to-video"
    assert parse_qs(parts.query) == {"fal_webhook": [hook]}
    assert json.loads(request.body)["duration"] == "5"
    assert request.headers["authorization"] == "Key k"
    assert request.headers["x-fal-object-lifecycle-preference"] == (
        '{"expiration_duration_seconds": 86400}'
    )


def test_what_is_kept_of_an_acceptance_asks_again() -> None:
    answer = reply(
        {
            "request_id": "r1",
            "gateway_request_id": "g1",
            "status_url": f"{QUEUE}/status",
            "response_url": QUEUE,
            "cancel_url": f"{QUEUE}/cancel",
        }
    )
    accepted = PROVIDER.submitted(answer, START)

    assert isinstance(accepted, Accepted)
    assert accepted.job.id == "r1"
    assert accepted.job.handles["gateway_request_id"] == "g1"
    assert asked(accepted.job) == f"{QUEUE}/status"
    assert asked(accepted.job, DONE) == QUEUE


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/status",
        "http://queue.fal.run/status",
        "https://queue.fal.run:8443/status",
        "https://user@queue.fal.run/status",
        "https://queue.fal.run.evil.example/status",
        "https://queue.fal.run\\@evil.example/status",
        "file:///etc/passwd",
    ],
)
def test_an_address_that_leads_elsewhere_is_not_followed(url: str) -> None:
    job = Job(id="r1", handles={"status_url": url, "response_url": url, "cancel_url": url})

    assert asked(job) == f"{QUEUE}/status"
    assert asked(job, DONE) == QUEUE
    cancel = PROVIDER.cancellation(job, SECRETS, START)
    assert cancel is not None
    assert (cancel.method, cancel.url) == ("PUT", f"{QUEUE}/cancel")


@pytest.mark.parametrize(
    "content",
    [
        {"video": {"url": URL}},
        {"video": URL},
        {"videos": [{"url": URL}]},
        {"output": {"url": URL}, "seed": 1},
    ],
)
def test_models_show_their_film_in_different_places(content: Any) -> None:
    assert result(reply(content)).outputs[0].url == URL


def test_a_film_in_an_unknown_place_is_an_alarm_and_no_failure() -> None:
    assert result(reply({"data": [{"url": URL}]})).state is JobState.UNRECOGNISED


@pytest.mark.parametrize(
    ("status", "content", "fault", "again"),
    [
        (422, {"detail": [{"type": "image_load_error"}]}, Fault.BAD_INPUT, False),
        (422, {"detail": [{"type": "content_policy_violation"}]}, Fault.REFUSED_CONTENT, False),
        (422, {"detail": "some text"}, Fault.BAD_INPUT, False),
        (422, {}, Fault.BAD_INPUT, False),
        (400, {"detail": [{"type": "value_error"}]}, Fault.BAD_INPUT, False),
        (503, {"error_type": "runner_disconnected"}, Fault.TROUBLE, True),
        (504, {"error_type": "startup_timeout", "detail": "x"}, Fault.TROUBLE, True),
    ],
)
def test_a_failed_result_says_why(status: int, content: Any, fault: Fault, *, again: bool) -> None:
    seen = result(reply(content, status=status))

    assert seen.state is JobState.FAILED
    assert seen.failure is not None
    assert (seen.failure.fault, seen.failure.again) == (fault, again)
    assert seen.cost.charged is (False if status >= 500 else None)


def test_what_fal_says_of_trying_again_counts() -> None:
    never = reply({"error_type": "x"}, status=503, x_fal_retryable="false")
    always = reply({"detail": [{"type": "x"}]}, status=422, x_fal_retryable="true")

    failures = [result(never).failure, result(always).failure]
    assert [failure and failure.again for failure in failures] == [False, True]


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_result_lost_behind_a_gateway_is_asked_for_again(status: int) -> None:
    assert result(HttpReply(status=status, body=b"<html>")).state is JobState.UNANSWERED


def test_a_status_with_an_error_still_leads_to_the_result() -> None:
    status = reply({"status": "COMPLETED", "error": "bad", "error_type": "x"})

    assert asked(Job(id="r1"), status) == QUEUE


def test_a_model_that_refuses_at_once_says_why() -> None:
    answer = reply({"detail": [{"type": "content_policy_violation"}]}, status=422)
    refused = PROVIDER.submitted(answer, START)

    assert isinstance(refused, Rejected)
    assert refused.failure.fault is Fault.REFUSED_CONTENT


@pytest.mark.parametrize(
    ("status", "word", "told"),
    [
        (202, "CANCELLATION_REQUESTED", Cancellation.REQUESTED),
        (400, "ALREADY_COMPLETED", Cancellation.ALREADY_ENDED),
        (404, "NOT_FOUND", Cancellation.UNKNOWN_JOB),
        (400, "", Cancellation.ALREADY_ENDED),
        (500, "", Cancellation.UNANSWERED),
    ],
)
def test_a_cancel_goes_by_the_word(status: int, word: str, told: Cancellation) -> None:
    assert PROVIDER.canceled(reply({"status": word}, status=status)) is told


def test_keys_are_fetched_once_and_anew_when_a_signature_fits_none(fal: Stage) -> None:
    good = fal.vendor.answer
    served: list[str] = []

    def counting(request: Any) -> Any:
        served.extend([request.path] if "jwks" in request.path else [])
        return good(request)

    fal.vendor.answer = counting  # type: ignore[method-assign]
    fal.accepted()
    for _ in range(3):
        fal.judged()
    assert len(served) == 1
    fal.clock.forward(hours=25)
    fal.judged()
    assert len(served) == 2


def test_a_thin_call_says_only_that_it_ended(fal: Stage) -> None:
    fal.accepted(Script(thin=True))
    (hint,) = fal.judged()

    assert getattr(hint, "observation").state is JobState.ENDED  # noqa: B009
