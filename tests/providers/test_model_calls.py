"""Every model through its stand-in over real HTTP: what was asked once is asked once."""

import json
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import boto3
import pytest

from functions.adapters.model_calls import SHOW_SECONDS, STEPS_MAX, ModelCallsOverHttp
from functions.adapters.signing import RoleSigner
from functions.analysis.schema import Answer
from functions.bootstrap import AwsPorts, Settings
from functions.domain.errors import Unavailable
from functions.domain.exchange import HttpReply, HttpRequest, parsed
from functions.domain.jobs import Fault, NotSent, Rejected, Unknown
from functions.domain.models import Answered, Clip, Model, Question, Shown, Unusable, Wait
from functions.domain.providers import Secrets, configured
from functions.providers.gemini import Gemini
from local.fakes.saying import ClipEnd, Saying, Says
from local.fakes.script import Lost
from tests.doubles.world import FixedClock
from tests.providers.asking import (
    CLIP,
    MODELS,
    SECONDS,
    SHOTS,
    Asking,
    Watch,
    question,
    session,
)
from tests.providers.rude import answer, rude_server

KEYS = Secrets(values={"api_key": ("k",)})
SHOWN = Shown(uri="https://x.example/v1beta/files/a1", name="files/a1")
ANSWER = answer(
    json.dumps(
        {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "{}"}]}}]}
    ).encode()
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def calls_of(secrets: Any = lambda _name: KEYS) -> ModelCallsOverHttp:
    return ModelCallsOverHttp(secrets, FixedClock(), signer=RoleSigner(session()))


def at(address: str, name: str = "gemini", **options: Any) -> Any:
    return configured(MODELS[name], {"base_url": address, **options})


def test_a_good_answer_fits_the_schema_and_the_clip(asker: Asking) -> None:
    got = asker.asked()

    assert isinstance(got, Answered), got
    said = json.loads(got.text)
    Answer.model_validate(said)
    assert [shot["number"] for shot in said["shots"]] == [1, 2, 3]
    assert said["spoken"] == bool(said["transcript"]) == asker.model.diet.sound
    spans = [*said["transcript"], *said["selling_points"][0]["evidence"]]
    assert all(0 <= span["start"] < span["end"] <= SECONDS for span in spans)
    assert got.usage.input_tokens
    assert got.usage.output_tokens
    assert asker.fake.bill()["submits"] == asker.fake.bill()["billed"] == 1


MISHAPS: list[tuple[Saying, tuple[type[Any], str, bool]]] = [
    (Saying(says=Says.BLOCKED), (Unusable, "refused-content", False)),
    (Saying(says=Says.TRUNCATED), (Unusable, "answer-truncated", True)),
    (Saying(says=Says.EMPTY), (Unusable, "answer-empty", True)),
    (Saying(says=Says.STOPPED, stop="NEWS"), (Unusable, "answer-stopped", False)),
    (Saying(refuse=400), (Rejected, "bad-input", False)),
    (Saying(refuse=403), (Rejected, "no-access", False)),
    (Saying(refuse=404), (Rejected, "no-access", False)),
    (Saying(refuse=429, retry_after_seconds=7), (Rejected, "throttled", True)),
    (Saying(refuse=500), (Rejected, "provider-trouble", True)),
    (Saying(refuse=503), (Rejected, "provider-trouble", True)),
]


@pytest.mark.parametrize(
    ("saying", "expected"), MISHAPS, ids=[str(saying) for saying, _ in MISHAPS]
)
def test_each_mishap_is_told_apart_after_one_request(
    asker: Asking, saying: Saying, expected: tuple[type[Any], str, bool]
) -> None:
    kind, code, again = expected
    got = asker.asked(saying)

    assert isinstance(got, kind), got
    assert (got.failure.code, got.failure.again) == (code, again)
    assert "photo" not in got.failure.reason
    if kind is Rejected:
        assert got.retry_after_seconds == (saying.retry_after_seconds or None)
    bill = asker.fake.bill()
    assert bill["submits"] == 1
    assert bill["billed"] == (kind is Unusable and saying.says is not Says.BLOCKED)


@pytest.mark.parametrize("says", [Says.BROKEN, Says.ASTRAY, Says.GAPS])
def test_what_looks_whole_is_handed_on_to_be_judged(asker: Asking, says: Says) -> None:
    got = asker.asked(Saying(says=says))

    assert isinstance(got, Answered), got
    if says is Says.BROKEN:
        assert parsed(got.text.encode()) is None
    elif says is Says.GAPS:
        assert len(json.loads(got.text)["shots"]) == len(SHOTS) - 1
    else:
        assert json.loads(got.text)["selling_points"][0]["evidence"][0]["end"] > SECONDS
    assert asker.fake.bill()["billed"] == 1


@pytest.mark.parametrize(
    ("saying", "cause", "billed"),
    [
        (Saying(lost=Lost.AFTER), "no-answer", 1),
        (Saying(lost=Lost.BEFORE), "no-answer", 0),
        (Saying(edge=502), "http-502", 0),
        (Saying(edge=504, lost=Lost.AFTER), "http-504", 1),
    ],
    ids=str,
)
def test_an_answer_that_was_lost_is_unknown_and_not_asked_for_again(
    asker: Asking, saying: Saying, cause: str, billed: int
) -> None:
    assert asker.asked(saying) == Unknown(cause=cause)
    bill = asker.fake.bill()
    assert (bill["submits"], bill["billed"]) == (1, billed)


def test_a_slow_answer_is_waited_for_until_it_is_too_late(asker: Asking) -> None:
    assert isinstance(asker.asked(Saying(seconds=0.3)), Answered)

    asker.model = replace(asker.model, answer_seconds=0.2)
    began = time.monotonic()
    assert asker.asked(Saying(seconds=5)) == Unknown(cause="timed-out")
    assert time.monotonic() - began < 2
    assert asker.fake.bill()["submits"] == 2


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_finds_nobody_was_not_sent(name: str) -> None:
    nobody = at(f"http://127.0.0.1:{free_port()}", name)

    assert calls_of().ask(nobody, question(SHOWN)) == NotSent(cause="unreachable")


@pytest.mark.parametrize(
    "piece",
    [
        None,
        b"HTTP/1.1 200 OK\r\ncontent-le",
        answer(b'{"candidates"', length=99),
        answer(b"<html>"),
    ],
    ids=str,
)
def test_after_the_first_byte_the_outcome_is_unknown(piece: bytes | None) -> None:
    with rude_server([piece]) as rude:
        got = calls_of().ask(at(rude.address), question(SHOWN))

    assert isinstance(got, Unknown), got
    assert len(rude.requests) == rude.connections == 1


def test_a_redirect_is_refused_and_not_followed() -> None:
    with rude_server([ANSWER]) as other:
        moved = answer(b"", status="307 Temporary Redirect", location=other.address)
        with rude_server([moved]) as rude:
            got = calls_of().ask(at(rude.address), question(SHOWN))

    assert isinstance(got, Rejected)
    assert got.failure.fault is Fault.NO_ACCESS
    assert other.connections == 0


def test_each_question_has_a_connection_of_its_own(bedrock: Asking) -> None:
    for _ in range(3):
        bedrock.asked()

    assert bedrock.server.connections == bedrock.fake.bill()["submits"] == 3


def test_secrets_that_cannot_be_read_are_nothing_sent() -> None:
    def unreadable(_name: str) -> Secrets:
        raise Unavailable

    calls = calls_of(unreadable)
    model = at("http://127.0.0.1:9")

    assert calls.ask(model, question(SHOWN)) == NotSent(cause="Unavailable")
    assert calls.show(model, CLIP) == NotSent(cause="Unavailable")
    calls.forget(model, SHOWN)


def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    calls = ModelCallsOverHttp(lambda _name: KEYS, FixedClock())

    with rude_server([ANSWER]) as rude:
        assert calls.ask(at(rude.address, "bedrock"), question(SHOWN)) == NotSent(
            cause="no-credentials"
        )
    assert rude.connections == 0


def test_a_function_asks_with_what_it_was_told(
    bedrock: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAROLE",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_SESSION_TOKEN": "of-the-role",
        "AWS_DEFAULT_REGION": "ap-southeast-2",
    }.items():
        monkeypatch.setenv(name, value)
    options = {"bedrock": {"base_url": bedrock.server.address, "answer_seconds": 20}}
    told = {"TALLYREEL_PROVIDER_OPTIONS": json.dumps(options)}
    ports = AwsPorts(Settings(environment=told))
    model = ports.providers["bedrock"]
    assert isinstance(model, Model)
    shown = ports.models.show(model, CLIP)
    assert isinstance(shown, Shown)

    assert isinstance(ports.models.ask(model, question(shown)), Answered)
    (request,) = bedrock.fake.heard
    assert "Credential=AKIAROLE/" in request.headers["authorization"]
    assert "/ap-southeast-2/bedrock/" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "of-the-role"


def test_the_address_is_that_of_our_region_unless_another_is_named() -> None:
    signer, model = RoleSigner(session()), MODELS["bedrock"]
    for region, host in (("", "eu-west-1"), ("us-west-2", "us-west-2")):
        request = configured(model, {"region": region}).question(question(SHOWN), KEYS)
        assert isinstance(request, HttpRequest)
        place = signer.placed(request.url, request)
        assert place.startswith(f"https://bedrock-runtime.{host}.amazonaws.com/model/")
    nowhere = RoleSigner(Nowhere())
    assert ModelCallsOverHttp(lambda _name: KEYS, FixedClock(), signer=nowhere).ask(
        model, question(SHOWN)
    ) == NotSent(cause="no-region")


class Nowhere(boto3.Session):
    """A session that was told no region."""

    region_name = None  # type: ignore[assignment]


# --- showing ---


def test_a_clip_is_shown_whole_and_removed(gemini: Asking) -> None:
    shown = gemini.shown(Saying(looks=3))
    (kept,) = gemini.fake.clips.values()  # type: ignore[attr-defined]

    assert (bytes(kept.data), kept.kind) == (CLIP.data, "video/mp4")
    assert shown.name == kept.name
    assert gemini.watch.slept == [2.0, 2.0]
    assert gemini.fake.bill()["billed"] == 0
    gemini.calls.forget(gemini.model, shown)
    assert not gemini.fake.clips  # type: ignore[attr-defined]
    gemini.calls.forget(gemini.model, shown)  # that it is gone is no error


def test_a_clip_of_twenty_megabytes_is_shown(gemini: Asking) -> None:
    large = replace(CLIP, data=CLIP.data * 1221)
    shown = gemini.calls.show(gemini.model, large)

    assert isinstance(shown, Shown)
    assert len(large.data) > 20_000_000
    (kept,) = gemini.fake.clips.values()  # type: ignore[attr-defined]
    assert bytes(kept.data) == large.data


@pytest.mark.parametrize(
    ("saying", "code"),
    [(ClipEnd.FAILED, "clip-not-shown"), (ClipEnd.STUCK, "clip-not-ready")],
)
def test_a_clip_that_is_never_ready_is_tried_again(
    gemini: Asking, saying: ClipEnd, code: str
) -> None:
    gemini.fake.sayings.append(Saying(clip=saying))
    refused = gemini.calls.show(gemini.model, CLIP)

    assert isinstance(refused, Rejected)
    assert (refused.failure.code, refused.failure.again) == (code, True)
    assert sum(gemini.watch.slept) < SHOW_SECONDS
    assert gemini.fake.bill()["submits"] == 0


def test_a_clip_that_is_dropped_on_the_way_owes_nothing(gemini: Asking) -> None:
    gemini.fake.sayings.append(Saying(clip=ClipEnd.DROPPED))

    assert gemini.calls.show(gemini.model, CLIP) == NotSent(cause="no-answer")
    assert isinstance(gemini.calls.show(gemini.model, CLIP), Shown)


def test_a_clip_is_gone_after_two_days(gemini: Asking) -> None:
    shown = gemini.shown()
    gemini.clock.forward(hours=49)
    got = gemini.calls.ask(gemini.model, question(shown))

    assert isinstance(got, Rejected)
    assert gemini.fake.bill()["submits"] == 0


def test_where_it_lies_is_all_that_is_shown_in_our_bucket(bedrock: Asking) -> None:
    assert bedrock.shown() == Shown(uri=CLIP.place)
    bedrock.calls.forget(bedrock.model, Shown(uri=CLIP.place))
    assert bedrock.server.connections == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Straying(Gemini):
    """A model that asks elsewhere, keys and all, or never comes to an end."""

    elsewhere: str = ""
    waits: bool = False

    def show(
        self,
        clip: Clip,  # noqa: ARG002
        replies: Sequence[HttpReply],
        secrets: Secrets,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> HttpRequest | Wait | Shown | Rejected:
        if self.waits and replies:
            return Wait(seconds=0)
        return HttpRequest(method="GET", url=self.elsewhere)

    def question(self, question: Question, secrets: Secrets) -> HttpRequest | Rejected:
        request = Gemini.question(self, question, secrets)
        assert isinstance(request, HttpRequest)
        return replace(request, url=self.elsewhere)

    def forget(self, shown: Shown, secrets: Secrets) -> HttpRequest | None:  # noqa: ARG002
        return HttpRequest(method="DELETE", url=self.elsewhere)


def straying(base_url: str, elsewhere: str, *, waits: bool = False) -> Straying:
    return Straying(
        name="straying",
        base_url=base_url,
        secrets=("api_key",),
        model="m",
        diet=MODELS["gemini"].diet,
        elsewhere=elsewhere,
        waits=waits,
    )


def test_no_request_leaves_for_another_place_than_the_model() -> None:
    with rude_server([ANSWER]) as other:
        model = straying("https://model.example", other.address)

        assert calls_of().ask(model, question(SHOWN)) == NotSent(cause="address-refused")
        assert calls_of().show(model, CLIP) == NotSent(cause="address-refused")
        calls_of().forget(model, SHOWN)
    assert other.connections == 0


@pytest.mark.parametrize("waits", [False, True])
def test_a_showing_of_endless_steps_is_given_up(*, waits: bool) -> None:
    with rude_server([answer(b"{}")]) as rude:
        got = calls_of().show(straying(rude.address, rude.address, waits=waits), CLIP)

    assert isinstance(got, Rejected)
    assert got.failure.code == "clip-not-ready"
    assert len(rude.requests) == (STEPS_MAX // 2 if waits else STEPS_MAX)


def test_time_that_has_run_out_starts_no_further_request() -> None:
    watch = Watch()

    def elapsed() -> float:
        watch.at += SHOW_SECONDS
        return watch.at

    calls = ModelCallsOverHttp(lambda _name: KEYS, FixedClock(), elapsed=elapsed)
    with rude_server([ANSWER]) as rude:
        got = calls.show(at(rude.address), CLIP)

    assert isinstance(got, Rejected)
    assert rude.connections == 0


@pytest.mark.parametrize("pace", [0, 1 << 16])
def test_a_body_that_is_read_too_slowly_has_an_end_in_time(pace: int) -> None:
    def read_slowly(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with suppress(OSError), line:
            while not over.wait(0.02):
                if pace and not line.recv(pace):
                    return

    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as slow:
        thread = threading.Thread(target=read_slowly, args=(slow,), daemon=True)
        thread.start()
        model = at(f"http://127.0.0.1:{slow.getsockname()[1]}", answer_seconds=0.5)
        large = Question(shown=SHOWN, prompt="x" * 30_000_000, schema={})
        began = time.monotonic()
        got = calls_of().ask(model, large)
        took = time.monotonic() - began
        over.set()
        thread.join()

    assert got == Unknown(cause="timed-out")
    assert took < 3
