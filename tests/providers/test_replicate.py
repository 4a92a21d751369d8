"""Replicate: outputs of any shape, files that vanish, a list that finds a lost submit."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import (
    Absent,
    Cancellation,
    CannotTell,
    Found,
    Job,
    JobState,
    Observation,
    Search,
)
from functions.domain.providers import Secrets
from functions.providers.replicate import PROVIDER
from local.fakes.replicate import Replicate
from local.fakes.script import Lost, Script
from tests.doubles.world import START
from tests.providers.stage import TOKEN, Stage, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"api_key": ("k",)})
HOOK = f"https://api.example/v1/hooks/replicate/{TOKEN}"


def read(**content: Any) -> Observation:
    answer = reply({"id": "p1", "status": "succeeded", **content})
    seen = PROVIDER.observe(Job(id="p1"), [answer], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def listed(*pages: Any) -> HttpRequest | Search:
    return PROVIDER.find(TOKEN, START, [reply(page) for page in pages], SECRETS, START)


def test_the_order_asks_for_one_call_at_the_end() -> None:
    request = PROVIDER.submission(order(hook_url=HOOK), SECRETS, START)

    assert isinstance(request, HttpRequest)
    content = json.loads(request.body)
    assert request.url == "https://api.replicate.com/v1/models/kwaivgi/kling-v2.1/predictions"
    assert (content["webhook"], content["webhook_events_filter"]) == (HOOK, ["completed"])
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["cancel-after"] == "30m"
    assert "prefer" not in request.headers  # waiting for the end is no way to submit


@pytest.mark.parametrize(
    ("output", "urls"),
    [
        (URL, [URL]),
        ([URL], [URL]),
        ([URL, URL + "?2"], [URL, URL + "?2"]),
        ({"video": URL, "thumbnail": URL + "?t"}, [URL]),
        ({"output": {"url": URL}}, [URL]),
        ([{"video": [URL]}], [URL]),
    ],
)
def test_outputs_are_found_in_any_documented_shape(output: Any, urls: list[str]) -> None:
    seen = read(output=output)

    assert seen.state is JobState.SUCCEEDED
    assert [one.url for one in seen.outputs] == urls


@pytest.mark.parametrize("output", ["a text", ["a", "text"], {"clip": URL}, 5])
def test_an_output_of_another_shape_is_an_alarm(output: Any) -> None:
    assert read(output=output).state is JobState.UNRECOGNISED


@pytest.mark.parametrize("output", [None, "", [], {}])
def test_an_empty_output_is_a_failure(output: Any) -> None:
    failure = read(output=output).failure

    assert failure is not None
    assert failure.code == "output-missing"


def test_an_output_that_was_removed_is_lost_and_paid() -> None:
    seen = read(output=None, data_removed=True)

    assert seen.state is JobState.FAILED
    assert seen.failure is not None
    assert (seen.failure.code, seen.failure.again) == ("output-removed", True)
    assert seen.cost.charged is True


def test_what_is_paid_is_said_as_far_as_it_is_known() -> None:
    metrics = {"predict_time": 12.5}
    canceled = read(status="canceled", metrics=metrics).cost

    assert (canceled.charged, canceled.figures) == (True, {"predict_seconds": "12.5"})
    assert read(status="aborted").cost.charged is False
    assert read(status="failed").cost.charged is None


def test_a_prediction_names_the_attempt_by_the_hook_that_it_will_call() -> None:
    assert read(output=URL, webhook=HOOK).token == TOKEN
    assert read(output=URL, webhook=None).token == ""
    assert read(output=URL, webhook="https://x.example/").token == ""


def test_a_list_is_asked_for_from_just_before_the_submit() -> None:
    request = listed()

    assert isinstance(request, HttpRequest)
    (after,) = parse_qs(urlsplit(request.url).query)["created_after"]
    assert after == (START - timedelta(minutes=2)).isoformat()


def test_a_list_is_paged_to_its_end() -> None:
    following = "https://api.replicate.com/v1/predictions?cursor=2"
    first = {"results": [{"id": "p0", "webhook": "https://x.example/other"}], "next": following}
    more = listed(first)

    assert isinstance(more, HttpRequest)
    assert more.url == following
    assert isinstance(listed(first, {"results": [], "next": None}), Absent)
    assert listed(first, {"results": [{"id": "p1", "webhook": HOOK}]}) == Found(job=Job(id="p1"))


def test_a_list_that_reaches_back_too_far_ends() -> None:
    old = (START - timedelta(hours=1)).isoformat()
    item = {"id": "p0", "webhook": None, "created_at": old}
    page = {"results": [item], "next": "https://api.replicate.com/v1/predictions?cursor=2"}

    assert isinstance(listed(page), Absent)


def test_a_list_that_hides_hooks_proves_no_absence() -> None:
    assert listed({"results": [{"id": "p0"}]}) == CannotTell(cause="hooks-not-listed")
    assert listed({"results": None}) == CannotTell(cause="no-results")
    elsewhere = {"results": [], "next": "https://evil.example/v1/predictions"}
    assert listed(elsewhere) == CannotTell(cause="next-page-elsewhere")


def test_a_cancel_of_an_ended_one_is_named() -> None:
    assert PROVIDER.canceled(reply({"status": "succeeded"})) is Cancellation.ALREADY_ENDED
    assert PROVIDER.canceled(reply({"status": "canceled"})) is Cancellation.REQUESTED
    assert PROVIDER.canceled(HttpReply(status=404)) is Cancellation.UNKNOWN_JOB
    assert PROVIDER.canceled(HttpReply(status=500)) is Cancellation.UNANSWERED


def test_a_lost_submit_is_found_behind_many_others(replicate: Stage) -> None:
    assert isinstance(replicate.vendor, Replicate)
    replicate.vendor.page_size = 3
    since = replicate.clock.now()
    replicate.vendor.scripts.append(Script(lost=Lost.AFTER, unlisted=3))
    replicate.calls.submit(replicate.provider, replicate.order())
    for place in range(7):
        replicate.accepted(token=f"another-attempt-{place:08}")

    lagging = replicate.calls.find(replicate.provider, TOKEN, since)
    found = replicate.calls.find(replicate.provider, TOKEN, since)

    assert isinstance(lagging, Absent)  # the list lags: an absence counts only after a while
    assert isinstance(found, Found)
    assert found.job.id == next(iter(replicate.vendor.jobs))


def test_an_endless_list_is_given_up(replicate: Stage) -> None:
    assert isinstance(replicate.vendor, Replicate)
    replicate.vendor.page_size = 1
    for place in range(14):
        replicate.accepted(token=f"another-attempt-{place:08}")
    search = replicate.calls.find(replicate.provider, TOKEN, replicate.clock.now())

    assert search == CannotTell(cause="too-many-steps")


def test_files_are_gone_after_an_hour(replicate: Stage) -> None:
    job = replicate.accepted()
    replicate.clock.forward(minutes=61)
    seen = replicate.calls.observe(replicate.provider, job)

    assert seen.failure is not None
    assert seen.failure.code == "output-removed"
