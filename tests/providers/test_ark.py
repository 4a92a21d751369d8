"""Ark: refusals by code, a name in the list, sound that is refused by chance."""

import json
from typing import Any

import pytest

from functions.domain.exchange import HttpRequest
from functions.domain.hooks import Delivery, Parked
from functions.domain.jobs import (
    Absent,
    CannotTell,
    Fault,
    Found,
    Job,
    JobState,
    Observation,
    Rejected,
    Search,
)
from functions.domain.providers import Secrets
from functions.providers.ark import PAGE_SIZE, PROVIDER
from tests.doubles.world import START
from tests.providers.stage import OTHER_TOKEN, TOKEN, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"api_key": ("k",)})


def read(**content: Any) -> Observation:
    seen = PROVIDER.observe(Job(id="c1"), [reply({"id": "c1", **content})], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def listed(*pages: Any) -> HttpRequest | Search:
    replies = [reply({"items": page}) for page in pages]
    return PROVIDER.find(TOKEN, START, replies, SECRETS, START)


def test_the_order_is_silent_bounded_and_named() -> None:
    request = PROVIDER.submission(order(hook_url="https://x.example/h"), SECRETS, START)

    assert isinstance(request, HttpRequest)
    content = json.loads(request.body)
    assert (content["generate_audio"], content["execution_expires_after"]) == (False, 7200)
    assert (content["safety_identifier"], content["callback_url"]) == (TOKEN, "https://x.example/h")
    assert content["content"][1]["role"] == "first_frame"


@pytest.mark.parametrize(
    ("code", "fault", "again"),
    [
        ("InputImageSensitiveContentDetected", Fault.REFUSED_CONTENT, False),
        ("InputImageSensitiveContentDetected.PrivacyInformation", Fault.REFUSED_CONTENT, False),
        ("OutputVideoSensitiveContentDetected", Fault.REFUSED_CONTENT, False),
        ("OutputVideoPolicyViolation", Fault.REFUSED_CONTENT, False),
        ("OutputAudioSensitiveContentDetected", Fault.REFUSED_CONTENT, True),
        ("InternalServiceError", Fault.TROUBLE, True),
        ("", Fault.TROUBLE, True),
    ],
)
def test_a_failure_is_sorted_by_its_code(code: str, fault: Fault, *, again: bool) -> None:
    failure = read(status="failed", error={"code": code}).failure

    assert failure is not None
    assert (failure.fault, failure.again) == (fault, again)


def test_a_refusal_at_once_is_sorted_by_its_code() -> None:
    content = {"error": {"code": "InputTextSensitiveContentDetected"}}
    refused = PROVIDER.submitted(reply(content, status=400), START)

    assert isinstance(refused, Rejected)
    assert refused.failure.fault is Fault.REFUSED_CONTENT


def test_tokens_tell_that_it_was_paid() -> None:
    seen = read(status="succeeded", content={"video_url": URL}, usage={"completion_tokens": 246840})

    assert (seen.cost.charged, seen.cost.figures) == (True, {"completion_tokens": "246840"})


def test_the_list_is_paged_until_one_has_our_name() -> None:
    full = [{"id": f"c{n}", "safety_identifier": OTHER_TOKEN} for n in range(PAGE_SIZE)]
    more = listed(full)

    assert isinstance(more, HttpRequest)
    assert "page_num=2" in more.url
    mine = {"id": "c9", "safety_identifier": TOKEN}
    assert listed(full, [mine]) == Found(job=Job(id="c9"))
    assert isinstance(listed(full, full[:3]), Absent)


def test_a_list_that_hides_names_proves_no_absence() -> None:
    assert listed([{"id": "c1"}]) == CannotTell(cause="names-not-listed")
    assert listed(None) == CannotTell(cause="no-items")


def test_a_call_about_another_attempt_is_parked() -> None:
    body = json.dumps({"id": "c1", "status": "running", "safety_identifier": OTHER_TOKEN}).encode()
    hook = Delivery(token=TOKEN, headers={}, body=body)

    assert PROVIDER.receive(hook, SECRETS, None, START) == Parked(code="another-attempt")


def test_a_film_that_moved_is_an_alarm() -> None:
    assert read(status="succeeded", content=[{"url": URL}]).state is JobState.UNRECOGNISED
    assert read(status="succeeded").state is JobState.UNRECOGNISED
