"""Every provider found, through a whole life against its stand-in, over real HTTP."""

from pathlib import Path

import pytest

from functions.adapters.fetch import Downloader
from functions.domain.hooks import BadSignature, Hint
from functions.domain.jobs import (
    Absent,
    Accepted,
    Cancellation,
    CannotTell,
    Fault,
    Fetched,
    Found,
    JobState,
    Rejected,
    Unknown,
)
from functions.domain.providers import Cancel, Find, Webhook
from local.fakes.script import End, File, Forgery, Hooks, Lost, Script
from tests.providers.stage import CLIP, OTHER_TOKEN, TOKEN, Stage


def test_a_job_runs_and_its_film_is_fetched_for_one_bill(stage: Stage, tmp_path: Path) -> None:
    job = stage.accepted(Script(queue_seconds=30, run_seconds=60))
    waiting = stage.calls.observe(stage.provider, job)
    stage.clock.forward(seconds=45)
    working = stage.calls.observe(stage.provider, job)
    stage.clock.forward(seconds=60)
    ended = stage.calls.observe(stage.provider, job)

    assert [waiting.state, working.state, ended.state] == [
        JobState.RUNNING,
        JobState.RUNNING,
        JobState.SUCCEEDED,
    ]
    downloader = Downloader(seconds_max=20, test_origins=[stage.server.address])
    request = stage.provider.download(ended.outputs[0], stage.secrets)
    fetched = downloader.fetch(request, tmp_path / "film", hosts=(), bytes_max=1 << 20)
    assert isinstance(fetched, Fetched)
    assert (tmp_path / "film").read_bytes() == CLIP
    assert stage.vendor.bill()["billed"] == stage.vendor.bill()["submits"] == 1


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (End.FAILED, JobState.FAILED),
        (End.FILTERED, JobState.FAILED),
        (End.BAD_INPUT, JobState.FAILED),
        (End.EMPTY, JobState.FAILED),
        (End.ODD_WORD, JobState.UNRECOGNISED),
        (End.ODD_SHAPE, JobState.UNRECOGNISED),
        (End.STUCK, JobState.RUNNING),
    ],
)
def test_each_ending_is_told_apart(stage: Stage, end: End, state: JobState) -> None:
    seen = stage.observed(Script(end=end))

    assert seen.state is state
    assert seen.word
    assert (seen.failure is not None) == (state is JobState.FAILED)
    assert not seen.outputs


def test_a_success_with_nothing_to_show_is_not_one(stage: Stage) -> None:
    seen = stage.observed(Script(end=End.EMPTY))

    assert seen.failure
    assert (seen.failure.code, seen.failure.again) == ("output-missing", True)


def test_a_lost_answer_is_unknown_and_found_where_that_can_be(stage: Stage) -> None:
    since = stage.clock.now()
    stage.vendor.scripts.append(Script(lost=Lost.AFTER, run_seconds=60))
    submitted = stage.calls.submit(stage.provider, stage.order())
    found = stage.calls.find(stage.provider, TOKEN, since)

    assert isinstance(submitted, Unknown)
    assert stage.vendor.bill()["accepted"] == stage.vendor.bill()["submits"] == 1
    if stage.provider.abilities.find is Find.NONE:
        assert isinstance(found, CannotTell)
        return
    assert isinstance(found, Found)
    assert stage.calls.observe(stage.provider, found.job).state is JobState.RUNNING


def test_what_never_arrived_is_absent_where_that_can_be_known(stage: Stage) -> None:
    since = stage.clock.now()
    stage.accepted(token=OTHER_TOKEN)
    stage.vendor.scripts.append(Script(lost=Lost.BEFORE))
    submitted = stage.calls.submit(stage.provider, stage.order())
    search = stage.calls.find(stage.provider, TOKEN, since)

    assert isinstance(submitted, Unknown)
    able = stage.provider.abilities.find is not Find.NONE
    assert isinstance(search, Absent if able else CannotTell)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_trouble_on_the_way_of_a_submit_is_unknown(stage: Stage, status: int) -> None:
    stage.vendor.scripts.append(Script(refuse=status))

    assert isinstance(stage.calls.submit(stage.provider, stage.order()), Unknown)
    assert stage.vendor.bill()["submits"] == 1


def test_being_throttled_is_a_refusal_with_a_time(stage: Stage) -> None:
    stage.vendor.scripts.append(Script(refuse=429, retry_after_seconds=7))
    refused = stage.calls.submit(stage.provider, stage.order())

    assert isinstance(refused, Rejected)
    assert (refused.failure.fault, refused.failure.again) == (Fault.THROTTLED, True)
    assert refused.retry_after_seconds == 7
    assert isinstance(stage.calls.submit(stage.provider, stage.order()), Accepted)


@pytest.mark.parametrize("status", [401, 402, 403])
def test_having_no_access_is_for_an_operator(stage: Stage, status: int) -> None:
    stage.vendor.scripts.append(Script(refuse=status))
    refused = stage.calls.submit(stage.provider, stage.order())

    assert isinstance(refused, Rejected)
    assert (refused.failure.fault, refused.failure.again) == (Fault.NO_ACCESS, False)


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_a_question_that_fails_says_nothing_of_the_job(stage: Stage, status: int) -> None:
    job = stage.accepted(Script(queries=(status,)))

    assert stage.calls.observe(stage.provider, job).state is JobState.UNANSWERED
    assert stage.calls.observe(stage.provider, job).state is JobState.SUCCEEDED


def test_a_job_that_is_not_there_yet_is_gone_and_then_seen(stage: Stage) -> None:
    job = stage.accepted(Script(queries=(404,)))

    assert stage.calls.observe(stage.provider, job).state is JobState.GONE
    assert stage.calls.observe(stage.provider, job).state is JobState.SUCCEEDED


def test_a_job_known_only_by_its_id_can_be_asked_for(stage: Stage) -> None:
    known = stage.accepted()
    bare = type(known)(id=known.id)

    assert stage.calls.observe(stage.provider, bare).state is JobState.SUCCEEDED


@pytest.mark.parametrize("hooks", [Hooks.ONCE, Hooks.TWICE, Hooks.REVERSED])
def test_calls_are_hints_about_the_job(stage: Stage, hooks: Hooks) -> None:
    job = stage.accepted(Script(hooks=hooks))
    stage.clock.forward(seconds=2)
    judged = stage.judged()

    abilities = stage.provider.abilities
    if abilities.webhook is Webhook.NONE:
        assert not judged
        return
    events = 1 + abilities.webhook_several_events
    assert len(judged) == events + (hooks is Hooks.TWICE)
    for hint in judged:
        assert isinstance(hint, Hint)
        assert hint.observation.job_id == job.id
    last = judged[0] if hooks is Hooks.REVERSED else judged[-1]
    assert isinstance(last, Hint)
    assert last.observation.state in (JobState.SUCCEEDED, JobState.ENDED)
    assert {caught.token for caught in stage.hook.caught} == {TOKEN}


def test_a_call_may_come_before_the_submit_is_answered(calling: Stage) -> None:
    calling.vendor.scripts.append(Script(hooks=Hooks.EARLY, lost=Lost.AFTER))
    submitted = calling.calls.submit(calling.provider, calling.order())
    (hint, *_) = calling.judged()

    assert isinstance(submitted, Unknown)
    assert isinstance(hint, Hint)
    assert calling.hook.caught[0].token == TOKEN
    assert hint.observation.job_id in calling.vendor.jobs or "/" in hint.observation.job_id


@pytest.mark.parametrize(
    "forgery", [Forgery.FLIPPED, Forgery.STALE, Forgery.FUTURE, Forgery.FOREIGN]
)
def test_a_forged_call_is_refused(signing: Stage, forgery: Forgery) -> None:
    signing.accepted(Script(forgery=forgery))

    (judged,) = signing.judged()
    assert isinstance(judged, BadSignature)


def test_a_call_that_is_answered_badly_comes_again(calling: Stage) -> None:
    calling.hook.status = 500
    calling.accepted()
    calling.server.settle()
    first = len(calling.hook.caught)
    calling.hook.status = 202
    calling.clock.forward(seconds=120)
    calling.server.settle()
    again = len(calling.hook.caught)
    calling.clock.forward(days=2)
    calling.server.settle()

    assert (again, len(calling.hook.caught)) == (2 * first, 2 * first)


def test_a_cancel_does_what_is_said_of_it(stage: Stage) -> None:
    job = stage.accepted(Script(queue_seconds=60))
    asked = stage.calls.cancel(stage.provider, job)

    if stage.provider.abilities.cancel is Cancel.NONE:
        assert asked is Cancellation.UNSUPPORTED
        return
    assert asked is Cancellation.REQUESTED
    assert stage.calls.observe(stage.provider, job).state is JobState.FAILED


def test_a_cancel_that_comes_too_late_destroys_only_where_that_is_said(stage: Stage) -> None:
    job = stage.accepted()
    stage.calls.cancel(stage.provider, job)
    seen = stage.calls.observe(stage.provider, job)

    destroys = stage.provider.abilities.cancel is Cancel.DESTROYS_FINISHED
    assert seen.state is (JobState.GONE if destroys else JobState.SUCCEEDED)


def test_a_cancel_of_nothing_is_named(cancelable: Stage) -> None:
    job = cancelable.accepted()
    cancelable.vendor.jobs.clear()

    assert cancelable.calls.cancel(cancelable.provider, job) is Cancellation.UNKNOWN_JOB


def test_an_address_that_died_is_asked_for_anew(stage: Stage, tmp_path: Path) -> None:
    seen = stage.observed(Script(file=File.GONE))
    downloader = Downloader(seconds_max=20, test_origins=[stage.server.address])
    request = stage.provider.download(seen.outputs[0], stage.secrets)
    gone = downloader.fetch(request, tmp_path / "film", hosts=(), bytes_max=1 << 20)

    assert type(gone).__name__ == "OutputGone"
    assert not (tmp_path / "film").exists()
    assert stage.vendor.bill()["submits"] == 1
