"""Runway: asked only, nothing to look up, fresh addresses, a delete that destroys."""

import json
from typing import Any

import pytest

from functions.domain.exchange import HttpRequest
from functions.domain.jobs import Fault, Job, JobState, Observation, Rejected
from functions.domain.providers import Secrets
from functions.providers.runway import PROVIDER
from tests.doubles.world import START
from tests.providers.stage import TOKEN, Stage, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"api_key": ("k",)})


def read(**content: Any) -> Observation:
    seen = PROVIDER.observe(Job(id="t1"), [reply({"id": "t1", **content})], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def test_the_order_names_version_and_ratio_and_nothing_of_ours() -> None:
    request = PROVIDER.submission(
        order(aspect="9:16", hook_url=f"https://x.example/{TOKEN}"), SECRETS, START
    )

    assert isinstance(request, HttpRequest)
    assert request.headers["x-runway-version"] == "2024-11-06"
    assert json.loads(request.body)["ratio"] == "720:1280"
    assert TOKEN not in request.body.decode()


def test_a_prompt_is_measured_as_runway_measures() -> None:
    def sent(prompt: str) -> HttpRequest | Rejected:
        return PROVIDER.submission(order(prompt=prompt), SECRETS, START)

    assert isinstance(sent("x" * 1000), HttpRequest)
    assert isinstance(sent("🎬" * 500), HttpRequest)
    assert isinstance(sent("🎬" * 501), Rejected)
    assert isinstance(PROVIDER.submission(order(aspect="7:5"), SECRETS, START), Rejected)


@pytest.mark.parametrize(
    ("code", "fault", "again"),
    [
        ("SAFETY.INPUT.TEXT", Fault.REFUSED_CONTENT, False),
        ("SAFETY.OUTPUT.VIDEO", Fault.REFUSED_CONTENT, False),
        ("INPUT_PREPROCESSING.SAFETY.TEXT", Fault.REFUSED_CONTENT, False),
        ("ASSET.INVALID", Fault.BAD_INPUT, False),
        ("INTERNAL.BAD_OUTPUT.CODE01", Fault.TROUBLE, True),
        ("INTERNAL", Fault.TROUBLE, True),
        ("SOMETHING.NEW", Fault.TROUBLE, True),
        (None, Fault.TROUBLE, True),
    ],
)
def test_a_failure_is_sorted_by_its_code(code: Any, fault: Fault, *, again: bool) -> None:
    failure = read(status="FAILED", failure="words", failureCode=code).failure

    assert failure is not None
    assert (failure.fault, failure.again) == (fault, again)
    assert "SAFETY" not in failure.reason
    assert "words" not in repr(failure)


@pytest.mark.parametrize("output", [[URL], URL])
def test_an_output_is_a_list_or_an_address(output: Any) -> None:
    assert read(status="SUCCEEDED", output=output).outputs[0].url == URL


def test_each_question_signs_fresh_addresses(runway: Stage) -> None:
    job = runway.accepted()
    first = runway.calls.observe(runway.provider, job).outputs[0].url
    runway.clock.forward(hours=30)
    second = runway.calls.observe(runway.provider, job)

    assert second.state is JobState.SUCCEEDED
    assert second.outputs[0].url != first
