"""Amazon Transcribe, by its wire and through its stand-in: one name is one job and one bill."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.config import Config

from functions.adapters.model_calls import LISTEN_SECONDS, ModelCallsOverHttp
from functions.adapters.signing import RoleSigner
from functions.domain.exchange import HttpRequest
from functions.domain.jobs import Fault, NotSent, Rejected
from functions.domain.models import Listener, Listening, Said, Transcript, Wait, Written
from functions.domain.providers import Secrets, configured
from functions.providers.transcribe import PROVIDER
from local.fakes.script import Lost
from local.fakes.server import FakeServer
from local.fakes.transcribe import Course, Transcribe
from tests.doubles.world import FixedClock
from tests.providers.asking import REGION, session
from tests.providers.wire import reply

NAME, PLACE = "01J-0-300-0", "s3://films/out/alice/part-1.mp4"
STARTED = reply({"TranscriptionJob": {"TranscriptionJobStatus": "IN_PROGRESS"}})
HEARD = Transcript(
    language="en-US",
    said=(
        Said(start=0.5, end=1.1, text="Hello there."),
        Said(start=1.4, end=1.9, text="It helps."),
    ),
)


@dataclass(slots=True)
class Ear:
    listener: Listener
    fake: Transcribe
    clock: FixedClock

    def listen(self, name: str = NAME, **changes: Any) -> Listening:
        calls = ModelCallsOverHttp(
            lambda _name: Secrets(values={}),
            self.clock,
            signer=RoleSigner(session(**changes)),
            sleep=lambda seconds: self.clock.forward(seconds=seconds),
            elapsed=lambda: self.clock.now().timestamp(),
            test_origins=[self.fake.address],
        )
        return calls.listen(self.listener, name, PLACE)


@pytest.fixture
def ear() -> Iterator[Ear]:
    clock = FixedClock()
    fake = Transcribe(clock=lambda: clock.now().timestamp())
    with FakeServer(fake):
        yield Ear(configured(PROVIDER, fake.options()), fake, clock)


def test_what_is_said_is_written_down(ear: Ear) -> None:
    assert ear.listen() == HEARD
    assert ear.fake.bill()["billed"] == 1


def test_a_name_that_was_used_is_asked_for_and_not_paid_again(ear: Ear) -> None:
    assert [ear.listen() for _ in range(3)] == [HEARD] * 3
    bill = ear.fake.bill()

    assert (bill["submits"], bill["accepted"], bill["billed"]) == (3, 1, 1)


def test_a_start_whose_answer_was_lost_is_found_by_its_name(ear: Ear) -> None:
    ear.fake.courses = [Course(lost=Lost.AFTER)]

    assert isinstance(ear.listen(), NotSent)
    assert ear.listen() == HEARD
    assert ear.fake.bill()["billed"] == 1


def test_silence_is_no_failure(ear: Ear) -> None:
    ear.fake.courses = [Course(silent=True)]

    assert ear.listen() == Transcript(language=None, said=())


@pytest.mark.parametrize(
    ("course", "fault", "again"),
    [
        (Course(fails=True), Fault.TROUBLE, False),
        (Course(refuse=400), Fault.BAD_INPUT, False),
        (Course(refuse=403), Fault.NO_ACCESS, False),
        (Course(refuse=429), Fault.THROTTLED, True),
        (Course(refuse=500), Fault.TROUBLE, True),
        (Course(seconds=LISTEN_SECONDS + 60), Fault.TROUBLE, True),
    ],
)
def test_what_goes_wrong_is_told(ear: Ear, course: Course, fault: Fault, *, again: bool) -> None:
    ear.fake.courses = [course]
    told = ear.listen()

    assert isinstance(told, Rejected)
    assert (told.failure.fault, told.failure.again) == (fault, again)
    assert "video" in told.failure.reason or "analysis" in told.failure.reason


def test_without_credentials_nothing_is_sent(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoleSigner, "_region", lambda *_: REGION)
    unknown = session(aws_access_key_id=None, aws_secret_access_key=None, aws_session_token=None)
    monkeypatch.setattr(unknown, "get_credentials", lambda: None)
    calls = ModelCallsOverHttp(
        lambda _name: Secrets(values={}), ear.clock, signer=RoleSigner(unknown)
    )

    assert isinstance(calls.listen(ear.listener, NAME, PLACE), NotSent)
    assert ear.fake.bill()["submits"] == 0


def test_a_transcript_elsewhere_is_not_fetched(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    job = {"TranscriptionJobStatus": "COMPLETED"}
    place = {"TranscriptFileUri": "http://169.254.169.254/latest/meta-data"}
    monkeypatch.setattr(Transcribe, "_job", lambda *_: {**job, "Transcript": place})

    assert ear.listen() == NotSent(cause="RefusedAddress")


def test_the_vendors_own_client_starts_and_reads_the_same_job(ear: Ear) -> None:
    client = boto3.client(
        "transcribe",
        endpoint_url=ear.fake.address,
        region_name=REGION,
        aws_access_key_id="AKIATEST",
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )
    if client.meta.service_model.resolved_protocol != "json":
        pytest.skip("this client speaks another protocol")
    ours = json.loads(_order(PROVIDER.listen(NAME, PLACE, [])).body)
    made = client.start_transcription_job(**ours)["TranscriptionJob"]

    assert made["TranscriptionJobStatus"] == "IN_PROGRESS"
    assert ear.fake.jobs[NAME].order == ours
    ear.clock.forward(seconds=2)
    seen = client.get_transcription_job(TranscriptionJobName=NAME)["TranscriptionJob"]
    assert seen["TranscriptionJobStatus"] == "COMPLETED"
    assert ear.listen() == HEARD


# --- without a server ----------------------------------------------------------------------------


def _order(step: object) -> HttpRequest:
    assert isinstance(step, HttpRequest)
    return step


@pytest.mark.parametrize(
    ("languages", "said"),
    [
        ((), {"IdentifyLanguage": True}),
        (("de-DE",), {"LanguageCode": "de-DE"}),
        (("de-DE", "fr-FR"), {"IdentifyLanguage": True, "LanguageOptions": ["de-DE", "fr-FR"]}),
    ],
)
def test_an_order_says_what_may_be_spoken(languages: tuple[str, ...], said: Any) -> None:
    listener = configured(PROVIDER, {"languages": list(languages)})
    request = _order(listener.listen(NAME, PLACE, []))

    assert request.headers["x-amz-target"] == "Transcribe.StartTranscriptionJob"
    assert request.signed_for == "transcribe"
    assert json.loads(request.body) == {
        "TranscriptionJobName": NAME,
        "Media": {"MediaFileUri": PLACE},
        "MediaFormat": "mp4",
        **said,
    }


@pytest.mark.parametrize(
    ("second", "step"),
    [
        (reply({"TranscriptionJob": {"TranscriptionJobStatus": "QUEUED"}}), Wait),
        (reply({"TranscriptionJob": {"TranscriptionJobStatus": "ARCHIVED"}}), Wait),
        (reply({"TranscriptionJob": {"TranscriptionJobStatus": "COMPLETED"}}), Rejected),
        (reply({}), Wait),
        (reply(b"no"), Wait),
        (reply({"__type": "NotFoundException"}, status=400), Rejected),
        (reply(b"<html>", status=502), Rejected),
    ],
)
def test_a_look_at_a_job_ends_or_waits(second: Any, step: type[Any]) -> None:
    assert isinstance(PROVIDER.listen(NAME, PLACE, [STARTED, second]), step)


def test_a_whole_job_says_where_its_transcript_is() -> None:
    url = "https://s3.eu-west-1.amazonaws.com/aws-transcribe/1.json?X-Amz-Signature=1"
    job = {"TranscriptionJobStatus": "COMPLETED", "Transcript": {"TranscriptFileUri": url}}

    assert PROVIDER.listen(NAME, PLACE, [STARTED, reply({"TranscriptionJob": job})]) == Written(
        url=url
    )


def word(content: str, start: float, end: float) -> dict[str, Any]:
    times = {"start_time": str(start), "end_time": str(end)}
    return {**times, "alternatives": [{"content": content}], "type": "pronunciation"}


def read(*items: Any) -> list[tuple[float, float, str]]:
    content = json.dumps({"results": {"language_code": "en-US", "items": items}}).encode()
    found = PROVIDER.read(content)
    assert found is not None
    return [(said.start, said.end, said.text) for said in found.said]


def test_sentences_end_with_punctuation_with_a_pause_or_at_length() -> None:
    stop = {"type": "punctuation", "alternatives": [{"content": "?"}]}

    assert read(word("Who", 0, 1), stop, word("I", 1, 2)) == [(0, 1, "Who?"), (1, 2, "I")]
    assert read(word("one", 0, 1), word("two", 3, 4)) == [(0, 1, "one"), (3, 4, "two")]
    endless = [word("la", n * 0.1, n * 0.1 + 0.1) for n in range(100)]
    assert len(read(*endless)) == 3


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"results": {"items": 1}}', b"\xff"])
def test_what_is_no_transcript_cannot_be_read(content: bytes) -> None:
    assert PROVIDER.read(content) is None


def test_odd_items_do_no_harm() -> None:
    odd: list[Any] = [None, 1, {}, {"alternatives": []}, {"start_time": "x", "end_time": "1"}]
    assert read(*odd, word("fine", 0, 1), *odd) == [(0, 1, "fine")]
