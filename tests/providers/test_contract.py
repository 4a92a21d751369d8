"""What every provider found must hold to, without a network."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions import providers
from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.hooks import BadSignature, Delivery, Hint, Parked, Unverifiable
from functions.domain.jobs import (
    Absent,
    Accepted,
    CannotTell,
    Fault,
    Found,
    Job,
    JobState,
    Observation,
    Rejected,
    RemoteOutput,
    Unknown,
)
from functions.domain.providers import Cancel, Find, Remote, Secrets, Webhook, configured
from local.fakes import vendor
from tests.doubles.world import START
from tests.providers.stage import REMOTES, TOKEN, order_for
from tests.providers.wire import REFUSALS, WIRES, reply

HOOK_URL = f"https://api.example/v1/hooks/x/{TOKEN}"
SECRETS = Secrets(
    values={
        name: (f"very-secret-{name}",)
        for remote in REMOTES.values()
        for name in (*remote.secrets, *remote.hook_secrets)
    }
)

every = pytest.mark.parametrize("remote", REMOTES.values(), ids=REMOTES)


def submission(remote: Remote) -> HttpRequest:
    request = remote.submission(order_for(remote, hook_url=HOOK_URL), SECRETS, START)
    assert isinstance(request, HttpRequest)
    return request


def job_of(remote: Remote) -> Job:
    return Job(id=WIRES[remote.name].job)


def test_each_file_declares_one_provider_of_its_name() -> None:
    files = {path.stem for path in Path(providers.__path__[0]).glob("*.py")} - {"__init__"}

    assert set(providers.load()) == files


@every
def test_each_remote_provider_has_material_and_a_stand_in(remote: Remote) -> None:
    assert WIRES[remote.name].words
    assert vendor(remote.name).__name__.lower() == remote.name


@every
def test_a_submission_is_one_request_to_the_provider_alone(remote: Remote) -> None:
    request = submission(remote)

    assert request.method == "POST"
    assert request.url.startswith(f"{remote.base_url}/")
    assert json.loads(request.body)
    assert "very-secret" not in request.url
    assert b"very-secret" not in request.body


@every
def test_the_token_is_where_the_provider_will_echo_it(remote: Remote) -> None:
    request = submission(remote)
    sent = unquote(request.url) + request.body.decode()

    assert (HOOK_URL in sent) == (remote.abilities.webhook is not Webhook.NONE)
    if remote.abilities.find is not Find.NONE:
        assert TOKEN in sent


@every
def test_no_call_is_asked_for_without_an_address(remote: Remote) -> None:
    request = remote.submission(order_for(remote), SECRETS, START)

    assert isinstance(request, HttpRequest)
    assert "hook" not in request.url
    assert not {"webhook", "callback_url", "webhookConfig"} & set(json.loads(request.body))


@every
def test_nothing_that_is_printed_shows_a_secret(remote: Remote) -> None:
    request = submission(remote)
    printed = repr((request, SECRETS, remote, order_for(remote, hook_url=HOOK_URL)))

    assert "very-secret" not in printed
    assert TOKEN not in printed
    assert "photo-secret" not in printed


@every
def test_a_length_that_is_not_made_is_refused_before_it_is_sent(remote: Remote) -> None:
    refused = remote.submission(order_for(remote, seconds=7919), SECRETS, START)

    assert isinstance(refused, Rejected)
    assert refused.failure.code == "seconds-unsupported"


@every
def test_an_acceptance_names_the_job(remote: Remote) -> None:
    wire = WIRES[remote.name]
    accepted = remote.submitted(reply(wire.accepted), START)

    assert isinstance(accepted, Accepted)
    assert accepted.job.id == wire.job


@every
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b"<html>", b"\xff", b'{"id":{}}', b"[" * 100_000]
)
def test_an_acceptance_that_names_no_job_is_unknown(remote: Remote, body: bytes) -> None:
    assert isinstance(remote.submitted(HttpReply(status=200, body=body), START), Unknown)


@every
@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 520, 599])
def test_what_may_have_come_from_in_between_is_unknown(remote: Remote, status: int) -> None:
    answer = HttpReply(status=status, body=b"<html>bad gateway</html>")

    assert isinstance(remote.submitted(answer, START), Unknown)


@every
@pytest.mark.parametrize(("status", "fault"), REFUSALS.items())
def test_a_refusal_says_who_can_change_that(remote: Remote, status: int, fault: Fault) -> None:
    refused = remote.submitted(HttpReply(status=status, headers={"retry-after": "3"}), START)

    assert isinstance(refused, Rejected)
    assert refused.failure.fault is fault
    assert refused.failure.again == (fault is Fault.THROTTLED)
    assert refused.retry_after_seconds == 3


@every
def test_a_question_is_asked_of_the_provider_alone(remote: Remote) -> None:
    request = remote.observe(job_of(remote), [], SECRETS, START)

    assert isinstance(request, HttpRequest)
    assert request.method == "GET"
    assert request.url.startswith(f"{remote.base_url}/")
    assert not request.body


@every
@pytest.mark.parametrize("status", [301, 401, 403, 408, 409, 425, 429, 500, 502, 503, 504])
def test_an_error_of_a_question_leaves_the_job_where_it_is(remote: Remote, status: int) -> None:
    answer = HttpReply(status=status, headers={"retry-after": "11"}, body=b"busy")
    seen = remote.observe(job_of(remote), [answer], SECRETS, START)

    assert isinstance(seen, Observation)
    assert (seen.state, seen.retry_after_seconds) == (JobState.UNANSWERED, 11)


@every
@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"<html>", b"\xff\xfe"])
def test_an_answer_that_is_none_leaves_the_job_where_it_is(remote: Remote, body: bytes) -> None:
    seen = remote.observe(job_of(remote), [HttpReply(status=200, body=body)], SECRETS, START)

    assert isinstance(seen, Observation)
    assert seen.state is JobState.UNANSWERED


@every
def test_a_job_that_is_not_known_is_gone(remote: Remote) -> None:
    seen = remote.observe(job_of(remote), [HttpReply(status=404)], SECRETS, START)

    assert isinstance(seen, Observation)
    assert seen.state is JobState.GONE


@pytest.mark.parametrize(
    ("name", "word"), [(name, word) for name, wire in WIRES.items() for word in wire.words]
)
def test_each_documented_word_is_known(name: str, word: str) -> None:
    replies, state = WIRES[name].words[word]
    seen = REMOTES[name].observe(job_of(REMOTES[name]), replies, SECRETS, START)

    assert isinstance(seen, Observation)
    assert seen.state is state


@every
def test_a_word_that_nobody_knows_is_shown(remote: Remote) -> None:
    seen = remote.observe(job_of(remote), WIRES[remote.name].odd, SECRETS, START)

    assert isinstance(seen, Observation)
    assert (seen.state, seen.word) == (JobState.UNRECOGNISED, "archived")


@every
def test_what_is_said_of_looking_up_is_true(remote: Remote) -> None:
    asked = remote.find(TOKEN, START, [], SECRETS, START)

    if remote.abilities.find is Find.NONE:
        assert isinstance(asked, CannotTell)
        return
    assert isinstance(asked, HttpRequest)
    assert asked.url.startswith(f"{remote.base_url}/")
    assert remote.abilities.find_settle_seconds > 0
    for status in (401, 429, 500):
        answer = HttpReply(status=status, headers={"retry-after": "5"})
        failed = remote.find(TOKEN, START, [answer], SECRETS, START)
        assert isinstance(failed, CannotTell)
        assert failed.retry_after_seconds == 5


@every
def test_what_is_said_of_canceling_is_true(remote: Remote) -> None:
    request = remote.cancellation(job_of(remote), SECRETS, START)

    assert (request is None) == (remote.abilities.cancel is Cancel.NONE)


@every
def test_what_is_said_of_calling_is_true(remote: Remote) -> None:
    call = Delivery(token=TOKEN, headers={}, body=json.dumps(WIRES[remote.name].accepted).encode())
    judged = remote.receive(call, SECRETS, b'{"keys":[]}', START)

    expected: dict[Webhook, Any] = {
        Webhook.NONE: BadSignature,
        Webhook.SIGNED: BadSignature,
        Webhook.UNSIGNED: (Hint, Parked),
    }
    assert isinstance(judged, expected[remote.abilities.webhook])


@every
@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"\xff", b"[1,2]", b"{" * 100_000])
def test_a_call_that_cannot_be_read_is_kept_or_refused(remote: Remote, body: bytes) -> None:
    judged = remote.receive(
        Delivery(token=TOKEN, headers={}, body=body), SECRETS, b'{"keys":[]}', START
    )

    unsigned = remote.abilities.webhook is Webhook.UNSIGNED
    assert isinstance(judged, Parked if unsigned else (BadSignature, Unverifiable))


@every
def test_keys_are_not_sent_to_where_files_lie(remote: Remote) -> None:
    elsewhere = RemoteOutput(url="https://files.example/out.mp4", needs_key=True)

    assert "very-secret" not in str(remote.download(elsewhere, SECRETS).headers)


@every
def test_lifetimes_are_said(remote: Remote) -> None:
    abilities = remote.abilities

    assert abilities.output_lifetime_seconds >= 3600
    assert abilities.poll_interval_seconds_min >= 1
    assert abilities.photo_inline or abilities.input_link_seconds >= 60
    assert abilities.resolves_unknown == (
        abilities.idempotent_create or abilities.find is not Find.NONE
    )


@every
def test_options_are_those_it_has(remote: Remote) -> None:
    assert configured(remote, {"base_url": "https://x.example"}).base_url == "https://x.example"
    assert configured(remote, {"seconds_allowed": [3]}) != remote
    for wrong in ({"nonsense": 1}, {"name": "other"}, {"abilities": None}):
        with pytest.raises(ValueError, match="no option"):
            configured(remote, wrong)
    with pytest.raises(TypeError):
        configured(remote, {"base_url": 5})


WORDS = [word for wire in WIRES.values() for word in (*wire.words, *wire.vocabulary)]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(allow_nan=True),
    st.text(max_size=8),
    st.sampled_from([*WORDS, "https://x.example/a.mp4", "http://", "0", "../../etc", "\ud800"]),
)
KEYS = st.sampled_from(sorted({word for wire in WIRES.values() for word in wire.vocabulary}))
BODIES = st.one_of(
    st.binary(max_size=40),
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode("utf-8", "replace")),
)
REPLIES = st.builds(
    HttpReply,
    status=st.sampled_from([200, 201, 204, 301, 400, 404, 409, 422, 429, 500, 503]),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "ratelimit-reset", "x-fal-error-type", "x-fal-retryable"]),
        st.text(max_size=12),
        max_size=2,
    ),
    body=BODIES,
)


@every
@given(answers=st.lists(REPLIES, min_size=1, max_size=3))
def test_no_answer_of_any_shape_breaks_anything(remote: Remote, answers: list[HttpReply]) -> None:
    last = answers[-1]
    assert isinstance(remote.submitted(last, START), Accepted | Rejected | Unknown)
    remote.canceled(last)
    for seen in (
        remote.observe(job_of(remote), answers[:1], SECRETS, START),
        remote.observe(job_of(remote), answers, SECRETS, START),
    ):
        if isinstance(seen, Observation):
            assert bool(seen.outputs) == (seen.state is JobState.SUCCEEDED)
            assert (seen.failure is not None) == (seen.state is JobState.FAILED)
            assert seen.state is not JobState.ENDED
    since = START - timedelta(minutes=5)
    search = remote.find(TOKEN, since, answers, SECRETS, START)
    assert isinstance(search, HttpRequest | Found | Absent | CannotTell)


@every
@given(body=BODIES)
def test_no_call_of_any_shape_breaks_anything(remote: Remote, body: bytes) -> None:
    judged = remote.receive(Delivery(token=TOKEN, headers={}, body=body), SECRETS, None, START)

    assert isinstance(judged, BadSignature | Unverifiable | Parked | Hint)
