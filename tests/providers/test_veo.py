"""Veo: photos inline, filtered films, files behind the key, events that say little."""

import base64
import json
from typing import Any

import pytest

from functions.domain.exchange import HttpRequest
from functions.domain.hooks import Delivery, Hint, Parked
from functions.domain.jobs import (
    Accepted,
    Fault,
    Job,
    JobState,
    Observation,
    Rejected,
    RemoteOutput,
    Unknown,
)
from functions.domain.providers import Secrets, configured
from functions.providers.veo import PROVIDER
from tests.doubles.world import START
from tests.providers.stage import OTHER_TOKEN, TOKEN, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"api_key": ("k",)})
NAME = "models/veo-3/operations/o1"


def read(**content: Any) -> Observation:
    answer = reply({"name": NAME, "done": True, **content})
    seen = PROVIDER.observe(Job(id=NAME), [answer], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def called(content: Any) -> Any:
    body = json.dumps(content).encode()
    return PROVIDER.receive(Delivery(token=TOKEN, headers={}, body=body), SECRETS, None, START)


def test_the_photo_goes_along_and_the_token_is_echoed() -> None:
    hook = f"https://api.example/v1/hooks/veo/{TOKEN}"
    request = PROVIDER.submission(order(seconds=8, hook_url=hook), SECRETS, START)

    assert isinstance(request, HttpRequest)
    content = json.loads(request.body)
    assert (
        base64.b64decode(content["instances"][0]["image"]["bytesBase64Encoded"]) == b"\xff\xd8\xff"
    )
    assert content["webhookConfig"] == {"uris": [hook], "userMetadata": {"token": TOKEN}}
    assert request.headers["x-goog-api-key"] == "k"
    silent = configured(PROVIDER, {"calls": False})
    quiet = silent.submission(order(seconds=8, hook_url=hook), SECRETS, START)
    assert isinstance(quiet, HttpRequest)
    assert b"webhookConfig" not in quiet.body


def test_a_shape_that_is_not_made_is_refused() -> None:
    assert isinstance(PROVIDER.submission(order(seconds=8, aspect="1:1"), SECRETS, START), Rejected)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        (NAME, True),
        ("operations/o1", True),
        ("models/../operations/o1", False),
        ("models/x/operations/../../v1/keys", False),
        ("https://evil.example", False),
        ("", False),
    ],
)
def test_only_an_operation_is_kept_as_a_job(name: str, *, good: bool) -> None:
    assert isinstance(
        PROVIDER.submitted(reply({"name": name}), START), Accepted if good else Unknown
    )


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (3, Fault.BAD_INPUT),
        (7, Fault.NO_ACCESS),
        (8, Fault.THROTTLED),
        (13, Fault.TROUBLE),
        (14, Fault.TROUBLE),
        (None, Fault.TROUBLE),
    ],
)
def test_an_operation_that_failed_says_why(code: Any, fault: Fault) -> None:
    failure = read(error={"code": code, "message": "m"}).failure

    assert failure is not None
    assert failure.fault is fault


@pytest.mark.parametrize(
    "response",
    [
        {"generateVideoResponse": {"generatedSamples": [{"video": {"uri": URL}}]}},
        {"generatedSamples": [{"video": {"uri": URL}}]},
        {"videos": [{"uri": URL}]},
    ],
)
def test_a_film_is_found_in_either_envelope(response: Any) -> None:
    (output,) = read(response=response).outputs

    assert (output.url, output.needs_key) == (URL, True)


def test_a_film_that_moved_is_an_alarm() -> None:
    response = {"generateVideoResponse": {"generatedSamples": [{"clip": URL}]}}

    assert read(response=response).state is JobState.UNRECOGNISED
    assert read().state is JobState.UNRECOGNISED


def test_the_key_goes_to_the_apis_own_address_only() -> None:
    def keys(url: str, *, needs_key: bool = True) -> bool:
        output = RemoteOutput(url=url, needs_key=needs_key)
        return "x-goog-api-key" in PROVIDER.download(output, SECRETS).headers

    assert keys("https://generativelanguage.googleapis.com/v1beta/files/x:download")
    assert not keys("https://generativelanguage.googleapis.com/x", needs_key=False)
    assert not keys("https://storage.googleapis.com/x")
    assert not keys("http://generativelanguage.googleapis.com/x")


def test_an_event_names_its_operation_and_no_more() -> None:
    event = {"type": "video.generated", "data": {"id": NAME}, "user_metadata": {"token": TOKEN}}
    hint = called(event)

    assert isinstance(hint, Hint)
    assert (hint.observation.state, hint.observation.token) == (JobState.ENDED, TOKEN)
    odd = called({**event, "type": "video.other"})
    assert isinstance(odd, Hint)
    assert odd.observation.state is JobState.UNRECOGNISED
    other = called({**event, "user_metadata": {"token": OTHER_TOKEN}})
    assert other == Parked(code="another-attempt")
