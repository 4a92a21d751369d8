"""Kling: codes within 200s, keys made per request, one name for each attempt."""

import base64
import hmac
import json
from typing import Any

import pytest

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.hooks import Delivery, Hint, Parked
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
    Unknown,
)
from functions.domain.providers import Secrets
from functions.providers.kling import PROVIDER
from tests.doubles.world import START
from tests.providers.stage import OTHER_TOKEN, TOKEN, Stage, order
from tests.providers.wire import URL, reply

SECRETS = Secrets(values={"access_key": ("ak",), "secret_key": ("sk",)})


def read(content: Any, status: int = 200) -> Observation:
    seen = PROVIDER.observe(Job(id="k1"), [reply(content, status=status)], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def task(**data: Any) -> Observation:
    return read({"code": 0, "data": {"task_id": "k1", "task_status": "succeed", **data}})


def sought(content: Any, status: int = 200) -> HttpRequest | Search:
    return PROVIDER.find(TOKEN, START, [reply(content, status=status)], SECRETS, START)


def called(content: Any) -> Any:
    body = json.dumps(content).encode()
    return PROVIDER.receive(Delivery(token=TOKEN, headers={}, body=body), SECRETS, None, START)


def test_each_request_carries_a_key_of_its_own() -> None:
    request = PROVIDER.submission(order(), SECRETS, START)

    assert isinstance(request, HttpRequest)
    header, claims, signature = request.headers["authorization"].removeprefix("Bearer ").split(".")
    mac = hmac.digest(b"sk", f"{header}.{claims}".encode(), "sha256")
    assert base64.urlsafe_b64decode(signature + "=") == mac
    now = int(START.timestamp())
    padded = claims + "=" * (-len(claims) % 4)
    expected = {"iss": "ak", "exp": now + 1800, "nbf": now - 5}
    assert json.loads(base64.urlsafe_b64decode(padded)) == expected
    assert json.loads(request.body)["external_task_id"] == TOKEN


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (1000, Fault.NO_ACCESS),
        (1003, Fault.NO_ACCESS),
        (1004, Fault.NO_ACCESS),
        (1102, Fault.NO_ACCESS),
        (1201, Fault.BAD_INPUT),
        (1301, Fault.REFUSED_CONTENT),
        (1302, Fault.THROTTLED),
        (1303, Fault.THROTTLED),
        (1304, Fault.NO_ACCESS),
    ],
)
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_a_refusal_goes_by_its_code(code: int, fault: Fault, status: int) -> None:
    refused = PROVIDER.submitted(reply({"code": code, "message": "m"}, status=status), START)

    assert isinstance(refused, Rejected)
    assert (refused.failure.fault, refused.failure.detail) == (fault, str(code))


@pytest.mark.parametrize("code", [5000, 5001, 5002, 9999])
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_fault_behind_their_door_is_unknown(code: int, status: int) -> None:
    answer = reply({"code": code, "data": None}, status=status)

    assert isinstance(PROVIDER.submitted(answer, START), Unknown)


@pytest.mark.parametrize("code", [1000, 1302, 1303, 5000, 5002])
def test_a_question_that_is_refused_says_nothing(code: int) -> None:
    seen = read({"code": code})

    assert (seen.state, seen.word) == (JobState.UNANSWERED, f"code-{code}")


def test_a_task_that_is_not_there_is_gone_or_absent() -> None:
    assert read({"code": 1203}).state is JobState.GONE
    assert read({"code": 1203}, status=404).state is JobState.GONE
    assert isinstance(sought({"code": 1203}), Absent)
    assert isinstance(PROVIDER.find(TOKEN, START, [HttpReply(status=404)], SECRETS, START), Absent)
    assert isinstance(sought({"code": 5000}), CannotTell)
    assert isinstance(sought({"code": 0, "data": {}}), CannotTell)


def test_a_task_is_found_under_our_name() -> None:
    asked = PROVIDER.find(TOKEN, START, [], SECRETS, START)
    found = sought({"code": 0, "data": {"task_id": 8861, "task_status": "processing"}})

    assert isinstance(asked, HttpRequest)
    assert asked.url.endswith(f"/v1/videos/image2video/{TOKEN}")
    assert found == Found(job=Job(id="8861", handles={"family": "image2video"}))


def test_a_task_is_asked_for_in_its_own_family() -> None:
    job = Job(id="k1", handles={"family": "omni-video"})
    request = PROVIDER.observe(job, [], SECRETS, START)

    assert isinstance(request, HttpRequest)
    assert request.url.endswith("/v1/videos/omni-video/k1")


def test_units_tell_what_was_paid() -> None:
    film = {"videos": [{"url": URL}]}
    paid = task(task_result=film, final_unit_deduction="2").cost
    free = task(task_status="failed", final_unit_deduction="0").cost

    assert (paid.charged, paid.figures) == (True, {"units": "2"})
    assert free.charged is False
    assert task(task_result=film).cost.charged is None


def test_a_success_without_a_film_is_told_from_one_that_moved() -> None:
    assert task(task_result={"videos": []}).state is JobState.FAILED
    assert task(task_result={"videos": [{"clip": URL}]}).state is JobState.UNRECOGNISED
    assert task().state is JobState.UNRECOGNISED


def test_a_call_is_read_with_and_without_an_envelope() -> None:
    content = {"task_id": "k1", "task_status": "processing"}

    for hint in (called(content), called({"code": 0, "data": content})):
        assert isinstance(hint, Hint)
        assert hint.observation.state is JobState.RUNNING


def test_a_call_about_another_attempt_is_parked() -> None:
    other = {"task_id": "k1", "task_info": {"external_task_id": OTHER_TOKEN}}

    assert called(other) == Parked(code="another-attempt")


def test_a_name_is_taken_once(kling: Stage) -> None:
    kling.accepted()
    again = kling.calls.submit(kling.provider, kling.order())

    assert isinstance(again, Rejected)
    assert kling.vendor.bill()["accepted"] == 1
