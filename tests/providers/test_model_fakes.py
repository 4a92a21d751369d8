"""The stand-ins for models themselves: scripted over HTTP, counting, run as programs."""

import os
from typing import Any

import httpx
import pytest

from functions.domain.jobs import Rejected, Unknown
from functions.domain.models import Answered, Unusable
from functions.domain.providers import Secrets
from local import standin
from local.fakes import model, vendor
from local.fakes.saying import ClipEnd, Saying, Says, saying_of
from local.fakes.script import Lost
from local.trouble import LocalTrouble
from tests.providers.asking import CLIP, MODELS, Asking, question


def posted(asker: Asking, control: str, content: Any) -> httpx.Response:
    return httpx.post(f"{asker.server.address}/_fake/{control}", json=content, trust_env=False)


def got(asker: Asking, control: str) -> httpx.Response:
    return httpx.get(f"{asker.server.address}/_fake/{control}", trust_env=False)


def test_the_next_clips_are_scripted_in_turn(asker: Asking) -> None:
    sayings = [{"lost": "after"}, {"says": "truncated"}, {"refuse": 500}]
    assert posted(asker, "script", {"next": sayings}).json() == {"waiting": 3}
    seen = [type(asker.asked()) for _ in range(4)]
    posted(asker, "script", {"default": {"says": "empty"}})

    assert seen == [Unknown, Unusable, Rejected, Answered]
    assert isinstance(asker.asked(), Unusable)
    bill = got(asker, "billed").json()
    assert (bill["submits"], bill["accepted"], bill["billed"]) == (5, 4, 4)


def test_a_second_question_about_a_clip_has_a_script_of_its_own(gemini: Asking) -> None:
    shown = gemini.shown(Saying(says=Says.TRUNCATED))
    gemini.fake.sayings.append(Saying(refuse=503))
    asked = [gemini.calls.ask(gemini.model, question(shown)) for _ in range(3)]

    assert [type(each) for each in asked] == [Unusable, Rejected, Answered]


def test_its_clock_can_be_moved(gemini: Asking) -> None:
    shown = gemini.shown()
    posted(gemini, "advance", {"seconds": 48 * 3600 + 1})

    assert isinstance(gemini.calls.ask(gemini.model, question(shown)), Rejected)


@pytest.mark.parametrize(
    ("control", "content"),
    [
        ("script", {"next": [{"nonsense": 1}]}),
        ("script", {"default": {"says": "nonsense"}}),
        ("jobs", {}),
        ("nonsense", {}),
    ],
)
def test_what_means_nothing_is_refused(asker: Asking, control: str, content: Any) -> None:
    assert posted(asker, control, content).status_code in (400, 404)


def test_a_script_reads_as_it_is_written() -> None:
    read = saying_of({"says": "astray", "lost": "before", "clip": "stuck", "looks": 2})

    assert read == Saying(says=Says.ASTRAY, lost=Lost.BEFORE, clip=ClipEnd.STUCK, looks=2)
    assert saying_of({}) == Saying()


def test_a_stranger_without_the_key_gets_nothing(gemini: Asking) -> None:
    shown = gemini.shown()
    gemini.fake.key = "another"  # type: ignore[misc]
    calls = type(gemini.calls)(lambda _name: Secrets(values={"api_key": ("k",)}), gemini.clock)
    got = calls.ask(gemini.model, question(shown))
    refused = calls.show(gemini.model, CLIP)

    for each in (got, refused):
        assert isinstance(each, Rejected)
        assert each.failure.fault == "no-access"
    assert gemini.fake.bill()["submits"] == 0


def test_a_clip_must_be_whole_and_ready_to_be_asked_about(gemini: Asking) -> None:
    stuck = gemini.fake
    gemini.fake.sayings.append(Saying(clip=ClipEnd.STUCK))
    gemini.calls.show(gemini.model, CLIP)
    (kept,) = stuck.clips.values()  # type: ignore[attr-defined]
    place = f"{gemini.server.address}/v1/{kept.name}"
    shown = type(gemini.shown())(uri=place, name=kept.name)
    refused = gemini.calls.ask(gemini.model, question(shown))

    assert isinstance(refused, Rejected)
    assert refused.failure.detail == "FAILED_PRECONDITION"


def test_only_what_it_is_can_be_asked_of_a_stand_in() -> None:
    with pytest.raises(TypeError, match="is no model"):
        model("fal")
    with pytest.raises(TypeError, match="renders nothing"):
        vendor("gemini")


@pytest.mark.parametrize("name", sorted(MODELS))
def test_each_runs_as_a_program_that_a_deployment_can_use(name: str) -> None:
    with standin.running(name, seconds=0.0) as played:
        settings = played.settings("local")

        assert settings["providers"] == {"video_analysis": ["local", name]}
        assert settings["provider_options"] == {name: {"base_url": played.address}}
        assert set(played.secrets) == set(MODELS[name].secrets)
        assert played.billed() == 0
        played.script({"says": "empty"})
        joined = standin.together(
            {"providers": {"x": ["y"]}, "provider_options": {}, "test_origins": "http://y"},
            settings,
        )
    assert set(joined["providers"]) == {"x", "video_analysis"}
    assert joined["test_origins"] == f"http://y,{settings['test_origins']}"
    with pytest.raises(httpx.ConnectError):
        played.billed()


def test_a_stand_in_for_renders_still_needs_its_clip(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LocalTrouble, match="did not start"):
        standin.started("fal", guardian=os.getpid())
    standin.stop_all()
    assert "--clip is needed" in capfd.readouterr().err
