"""What went wrong elsewhere with paid renders, as far as it concerns the provider's side.

Each test is named by its scenario; what happens to tasks and credits is proved with the stages.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.fetch import Downloader
from functions.adapters.provider_http import ProviderHttp
from functions.domain.exchange import at, parsed
from functions.domain.hooks import Challenge, Delivery, Hint, Judgement, Parked
from functions.domain.jobs import (
    Accepted,
    Broken,
    Fault,
    Fetched,
    Job,
    JobState,
    Observation,
    OutputGone,
    Rejected,
    RemoteOutput,
    Unknown,
)
from functions.domain.providers import Secrets, configured
from functions.providers.runway import Runway
from local.fakes.fal import signed
from local.fakes.script import End, File, Hooks, Lost, Script
from tests.doubles.world import START, FixedClock
from tests.providers.rude import rude_server
from tests.providers.stage import REMOTES, TOKEN, Stage, stage_for
from tests.providers.wire import URL, WIRES, reply

SECRETS = Secrets(
    values=dict.fromkeys(("api_key", "access_key", "secret_key", "hook_secret"), ("k",))
)


def read(name: str, *replies: Any) -> Observation:
    job = Job(id=WIRES[name].job)
    seen = REMOTES[name].observe(job, [reply(one) for one in replies], SECRETS, START)
    assert isinstance(seen, Observation)
    return seen


def download(stage: Stage, url: str, path: Path) -> Any:
    downloader = Downloader(seconds_max=5, test_origins=[stage.server.address])
    request = stage.provider.download(RemoteOutput(url=url), stage.secrets)
    return downloader.fetch(request, path, hosts=(), bytes_max=1 << 20)


def test_p1_a_job_ends_without_any_call(stage: Stage) -> None:
    job = stage.accepted(Script(hooks=Hooks.NEVER, run_seconds=90))
    stage.clock.forward(seconds=91)

    assert not stage.judged()
    assert stage.calls.observe(stage.provider, job).state is JobState.SUCCEEDED


def test_p2_a_call_that_meets_a_redirect_is_lost_and_nothing_else(fal: Stage) -> None:
    fal.hook.status = 301
    job = fal.accepted()
    fal.judged()

    assert len(fal.hook.caught) == 1
    assert fal.calls.observe(fal.provider, job).state is JobState.SUCCEEDED


def test_p5_a_call_that_was_promised_and_never_came(veo: Stage) -> None:
    job = veo.accepted(Script(hooks=Hooks.NEVER))
    (accepted,) = veo.vendor.jobs.values()

    assert accepted.hook_url == veo.hook.url("veo", TOKEN)
    assert not veo.judged()
    assert veo.calls.observe(veo.provider, job).state is JobState.SUCCEEDED


@pytest.mark.parametrize("name", ["kling", "ark"])
def test_p6_the_first_call_is_not_the_end(name: str) -> None:
    with stage_for(name) as stage:
        stage.accepted(Script(run_seconds=60))
        (first,) = stage.judged()
        stage.clock.forward(seconds=61)
        *_, last = stage.judged()

    assert isinstance(first, Hint)
    assert isinstance(last, Hint)
    assert first.observation.state is JobState.RUNNING
    assert last.observation.state is JobState.SUCCEEDED


def test_p6_a_job_that_expired_has_ended() -> None:
    seen = read("ark", {"id": "c1", "status": "expired"})

    assert seen.failure is not None
    assert (seen.failure.code, seen.failure.again) == ("provider-expired", True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Runway):
    """A provider that wants its challenge back before it calls."""

    def receive(
        self,
        hook: Delivery,
        secrets: Secrets,  # noqa: ARG002
        key_set: bytes | None,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> Judgement:
        challenge = at(parsed(hook.body), "challenge")
        if isinstance(challenge, str):
            return Challenge(body=json.dumps({"challenge": challenge}).encode())
        return Parked(code="no-job-id")


def test_p6_a_challenge_is_answered_with_itself() -> None:
    runway = REMOTES["runway"]
    asking = Asking(
        name="asking",
        base_url="https://x.example",
        secrets=("api_key",),
        abilities=runway.abilities,
    )
    hook = Delivery(token=TOKEN, headers={}, body=b'{"challenge":"c-1"}')
    calls = ProviderHttp(lambda _name: SECRETS, FixedClock())

    assert calls.judge(asking, hook) == Challenge(body=b'{"challenge": "c-1"}')


@pytest.mark.parametrize("name", ["fal", "replicate", "veo"])
def test_p11_a_repeated_call_has_the_same_name(name: str) -> None:
    with stage_for(name) as stage:
        stage.accepted(Script(hooks=Hooks.TWICE))
        first, second = stage.judged()

    assert isinstance(first, Hint)
    assert isinstance(second, Hint)
    assert first.delivery_id == second.delivery_id != ""


def test_p14_a_call_with_another_id_is_known_by_its_token(fal: Stage) -> None:
    job = fal.accepted()
    fal.server.settle()
    (call,) = fal.hook.caught
    body = json.dumps({"request_id": job.id, "gateway_request_id": "g-2", "status": "OK"}).encode()
    headers = signed("g-2", "user_test", call.headers["x-fal-webhook-timestamp"], body)
    hint = fal.calls.judge(fal.provider, Delivery(token=call.token, headers=headers, body=body))

    assert isinstance(hint, Hint)
    assert (call.token, hint.observation.job_id) == (TOKEN, job.id)


def test_p16_a_call_that_beats_the_answer_leads_to_the_job(fal: Stage) -> None:
    fal.vendor.scripts.append(Script(hooks=Hooks.EARLY, lost=Lost.AFTER))
    outcome = fal.calls.submit(fal.provider, fal.order())
    (hint,) = fal.judged()

    assert isinstance(outcome, Unknown)
    assert isinstance(hint, Hint)
    known = Job(id=hint.observation.job_id)
    assert fal.calls.observe(fal.provider, known).state is JobState.SUCCEEDED


@pytest.mark.parametrize("scenario", ["p17 and p18: the answer lost", "the submit never arrived"])
def test_p17_p18_a_sent_submit_is_never_sent_again(stage: Stage, scenario: str) -> None:
    lost = Lost.AFTER if "answer" in scenario else Lost.BEFORE
    stage.vendor.script = Script(lost=lost)
    outcome = stage.calls.submit(stage.provider, stage.order())

    assert isinstance(outcome, Unknown)
    assert stage.vendor.bill()["submits"] == 1
    assert stage.vendor.bill()["billed"] == (1 if lost is Lost.AFTER else 0)


def test_p23_the_first_error_is_the_one_that_is_told(stage: Stage) -> None:
    stage.vendor.scripts.append(Script(refuse=402))
    refused = stage.calls.submit(stage.provider, stage.order())

    assert isinstance(refused, Rejected)
    assert refused.failure.fault is Fault.NO_ACCESS
    assert stage.vendor.bill()["submits"] == 1


def test_p24_a_failure_says_whether_it_was_paid() -> None:
    kling = {"task_id": "k1", "task_status": "failed", "final_unit_deduction": "0"}
    done = {"status": "COMPLETED"}
    broken = reply({"error_type": "runner_disconnected"}, status=503)
    fal = REMOTES["fal"].observe(Job(id="r1"), [reply(done), broken], SECRETS, START)

    assert read("kling", {"code": 0, "data": kling}).cost.charged is False
    assert isinstance(fal, Observation)
    assert fal.cost.charged is False


def test_p28_bad_input_shows_only_in_the_result(fal: Stage) -> None:
    seen = fal.observed(Script(end=End.BAD_INPUT))

    assert (seen.state, seen.word) == (JobState.FAILED, "COMPLETED")
    assert seen.failure is not None
    assert (seen.failure.fault, seen.failure.again) == (Fault.BAD_INPUT, False)


def test_p29_a_good_call_without_a_payload_is_no_failure(fal: Stage) -> None:
    job = fal.accepted(Script(thin=True))
    (hint,) = fal.judged()

    assert isinstance(hint, Hint)
    assert hint.observation.state is JobState.ENDED
    assert hint.observation.failure is None
    assert fal.calls.observe(fal.provider, job).state is JobState.SUCCEEDED


def test_p30_both_ids_are_kept() -> None:
    answer = {"request_id": "r1", "gateway_request_id": "g1"}
    accepted = REMOTES["fal"].submitted(reply(answer), START)

    assert isinstance(accepted, Accepted)
    assert (accepted.job.id, accepted.job.handles) == ("r1", {"gateway_request_id": "g1"})


def test_p31_aborted_has_ended_and_the_next_new_word_is_seen() -> None:
    aborted = read("replicate", {"id": "p1", "status": "aborted"})
    new = read("replicate", {"id": "p1", "status": "hibernated"})

    assert (aborted.state, aborted.cost.charged) == (JobState.FAILED, False)
    assert (new.state, new.word) == (JobState.UNRECOGNISED, "hibernated")


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("THROTTLED", JobState.RUNNING),
        ("CANCELLED", JobState.FAILED),
        ("CANCELED", JobState.FAILED),
    ],
)
def test_p32_runways_words_are_all_known(word: str, state: JobState) -> None:
    assert read("runway", {"id": "t1", "status": word}).state is state


@pytest.mark.parametrize("name", sorted(set(REMOTES) - {"veo"}))
def test_p33_another_vendors_word_is_shown_and_not_guessed(name: str) -> None:
    odd = json.loads(WIRES[name].odd[0].body)
    for foreign in ("Success", "DONE", "SUCCEED"):
        seen = read(name, json.loads(json.dumps(odd).replace("archived", foreign)))
        assert (seen.state, seen.word) == (JobState.UNRECOGNISED, foreign)


@pytest.mark.parametrize("nested", [True, False])
def test_p34_a_filtered_film_is_a_refusal(*, nested: bool) -> None:
    result = {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["words"]}
    response = {"generateVideoResponse": result} if nested else result
    seen = read("veo", {"name": WIRES["veo"].job, "done": True, "response": response})

    assert seen.failure is not None
    assert (seen.failure.fault, seen.failure.again) == (Fault.REFUSED_CONTENT, False)
    assert seen.cost.charged is False


def test_p37_refusals_are_known_by_the_beginning_of_their_code() -> None:
    for code in ("OutputAudioSensitiveContentDetected", "OutputVideoPolicyViolation.Copyright"):
        seen = read("ark", {"id": "c1", "status": "failed", "error": {"code": code}})
        assert seen.failure is not None
        assert seen.failure.fault is Fault.REFUSED_CONTENT


def test_p39_ids_may_be_numbers() -> None:
    answer = {"code": 0, "data": {"task_id": 8861234567890123456, "task_status": "submitted"}}
    kling = REMOTES["kling"].submitted(reply(answer), START)
    replicate = REMOTES["replicate"].submitted(reply({"id": 5}), START)

    assert isinstance(kling, Accepted)
    assert isinstance(replicate, Accepted)
    assert (kling.job.id, replicate.job.id) == ("8861234567890123456", "5")


def test_p40_a_film_that_moved_is_not_a_failure(stage: Stage) -> None:
    seen = stage.observed(Script(end=End.ODD_SHAPE))

    assert (seen.state, seen.failure) == (JobState.UNRECOGNISED, None)


def test_p41_the_job_is_kept_whatever_the_question_meets(stage: Stage) -> None:
    job = stage.accepted(Script(queries=(500, 429, 404)))
    seen = [stage.calls.observe(stage.provider, job).state for _ in range(4)]

    assert seen == [
        JobState.UNANSWERED,
        JobState.UNANSWERED,
        JobState.GONE,
        JobState.SUCCEEDED,
    ]


def test_p42_a_failed_download_is_repeated_as_a_download(runway: Stage, tmp_path: Path) -> None:
    seen = runway.observed(Script(file=File.TRUNCATED))
    url = seen.outputs[0].url
    first = download(runway, url, tmp_path / "film")
    (job,) = runway.vendor.jobs.values()
    job.script = Script()
    second = download(runway, url, tmp_path / "film")

    assert first == Broken(code="cut-short")
    assert isinstance(second, Fetched)
    assert runway.vendor.bill()["submits"] == runway.vendor.bill()["billed"] == 1


def test_p43_how_often_may_be_asked_is_said(stage: Stage) -> None:
    assert stage.provider.abilities.poll_interval_seconds_min >= 2
    job = stage.accepted()
    before = stage.vendor.bill()["questions"]
    stage.calls.observe(stage.provider, job)

    assert stage.vendor.bill()["questions"] - before <= 2


def test_p44_a_dead_address_is_gone_and_a_fresh_one_is_had(runway: Stage, tmp_path: Path) -> None:
    job = runway.accepted()
    old = runway.calls.observe(runway.provider, job).outputs[0].url
    runway.clock.forward(hours=25)
    fresh = runway.calls.observe(runway.provider, job).outputs[0].url

    assert download(runway, old, tmp_path / "old") == OutputGone(status=403)
    assert isinstance(download(runway, fresh, tmp_path / "fresh"), Fetched)


def test_p44_files_of_an_hour_are_lost_after_it(replicate: Stage, tmp_path: Path) -> None:
    job = replicate.accepted()
    url = replicate.calls.observe(replicate.provider, job).outputs[0].url
    replicate.clock.forward(minutes=61)

    assert download(replicate, url, tmp_path / "film") == OutputGone(status=403)
    seen = replicate.calls.observe(replicate.provider, job)
    assert seen.failure is not None
    assert seen.failure.code == "output-removed"


def test_p45_a_server_that_hangs_is_given_up() -> None:
    calls = ProviderHttp(lambda _name: SECRETS, FixedClock(), query_seconds=0.1)
    with rude_server([b""], hold=True) as rude:
        runway = configured(REMOTES["runway"], {"base_url": rude.address})
        seen = calls.observe(runway, Job(id="t1"))
    calls.close()

    assert (seen.state, seen.word) == (JobState.UNANSWERED, "timed-out")


def test_p46_a_refusal_by_chance_may_be_tried_again() -> None:
    code = "OutputAudioSensitiveContentDetected"
    seen = read("ark", {"id": "c1", "status": "failed", "error": {"code": code}})

    assert seen.failure is not None
    assert (seen.failure.fault, seen.failure.again) == (Fault.REFUSED_CONTENT, True)
    assert URL not in repr(seen)
