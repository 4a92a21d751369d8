"""One request per submit; what was sent is told from what was not; every question ends."""

import gzip
import json
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from functions.adapters.exchanged import REPLY_BYTES_MAX
from functions.adapters.key_sets import KeySets
from functions.adapters.provider_http import OBSERVE_STEPS_MAX, ProviderHttp
from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import (
    Accepted,
    Cancellation,
    CannotTell,
    Fault,
    Job,
    JobState,
    NotSent,
    Observation,
    Rejected,
    RenderOrder,
    Unknown,
)
from functions.domain.providers import Remote, Secrets, configured
from functions.providers.runway import Runway
from tests.doubles.world import FixedClock
from tests.providers.rude import answer, rude_server
from tests.providers.stage import REMOTES, TOKEN, Stage, order_for

SECRETS = Secrets(values={"api_key": ("k",)})
JOB = Job(id="t1")
GOOD = answer(json.dumps({"id": "t1", "status": "RUNNING"}).encode())


def runway_at(address: str) -> Remote:
    return configured(REMOTES["runway"], {"base_url": address})


@pytest.fixture
def calls() -> ProviderHttp:
    return ProviderHttp(lambda _name: SECRETS, FixedClock(), submit_seconds=5, query_seconds=5)


def submitted(calls: ProviderHttp, provider: Remote) -> object:
    return calls.submit(provider, order_for(provider))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_what_finds_nobody_was_not_sent(calls: ProviderHttp) -> None:
    nobody = runway_at(f"http://127.0.0.1:{free_port()}")

    assert submitted(calls, nobody) == NotSent(cause="unreachable")
    assert calls.observe(nobody, JOB).state is JobState.UNANSWERED
    assert calls.cancel(nobody, JOB) is Cancellation.UNANSWERED


def test_what_fails_before_the_secure_channel_stands_was_not_sent(
    calls: ProviderHttp, tmp_path: Path
) -> None:
    with rude_server([b"no tls here"]) as plain:
        secure = runway_at(f"https://127.0.0.1:{plain.port}")
        # Its greeting never ends as a request does, so nothing is answered and nothing was sent.
        quick = ProviderHttp(lambda _name: SECRETS, FixedClock(), submit_seconds=0.2)
        assert isinstance(submitted(quick, secure), NotSent)
    with rude_server([GOOD], tls=self_signed(tmp_path)) as strange:
        secure = runway_at(f"https://127.0.0.1:{strange.port}")
        assert submitted(calls, secure) == NotSent(cause="unreachable")
        assert strange.requests == []


@pytest.mark.parametrize(
    "piece",
    [
        None,
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"not http at all\r\n\r\n",
        answer(b'{"id":', length=100),
        answer(b'{"id":"t1"}', length=5) + b"x",
        answer(b"<html>"),
        answer(b""),
        answer(gzip.compress(b'{"id":"t1"}'), content_encoding="gzip"),
        answer(b'{"id":"t1"}', content_encoding="br"),
        answer(b'{"id":"t1"}' + b" " * REPLY_BYTES_MAX),
        answer(b"{}", status="500 Internal Server Error"),
        answer(b"{}", status="503 Service Unavailable", retry_after="1"),
    ],
    ids=lambda piece: repr(piece)[:30],
)
def test_after_the_first_byte_the_outcome_is_unknown_and_nothing_is_repeated(
    calls: ProviderHttp, piece: bytes | None
) -> None:
    with rude_server([piece]) as rude:
        outcome = submitted(calls, runway_at(rude.address))

    assert isinstance(outcome, Unknown)
    assert len(rude.requests) == 1


@pytest.mark.parametrize("piece", [b"", b"HTTP/1.1 200 OK\r\n", answer(b"{", length=9)])
def test_an_answer_that_never_ends_is_unknown(piece: bytes) -> None:
    quick = ProviderHttp(lambda _name: SECRETS, FixedClock(), submit_seconds=0.1)
    with rude_server([piece], hold=True) as rude:
        outcome = submitted(quick, runway_at(rude.address))

    assert outcome == Unknown(cause="timed-out")
    assert len(rude.requests) == 1


def test_a_redirect_of_a_submit_is_refused_and_not_followed(calls: ProviderHttp) -> None:
    with rude_server([GOOD]) as other:
        moved = answer(b"", status="307 Temporary Redirect", location=other.address)
        with rude_server([moved]) as rude:
            outcome = submitted(calls, runway_at(rude.address))

    assert isinstance(outcome, Rejected)
    assert outcome.failure.fault is Fault.NO_ACCESS
    assert (len(rude.requests), len(other.requests)) == (1, 0)


def test_each_submit_has_a_connection_of_its_own(runway: Stage) -> None:
    jobs = [runway.accepted() for _ in range(3)]
    assert runway.server.connections == runway.vendor.bill()["submits"] == 3

    for job in jobs:
        runway.calls.observe(runway.provider, job)
    assert runway.server.connections == 4  # questions share one


def test_the_request_says_what_is_accepted(calls: ProviderHttp) -> None:
    with rude_server([GOOD]) as rude:
        submitted(calls, runway_at(rude.address))

    sent = rude.requests[0].lower()
    assert b"accept-encoding: identity\r\n" in sent
    assert b"user-agent: tallyreel\r\n" in sent
    assert b"authorization: bearer k\r\n" in sent


def test_the_shell_s_proxies_are_not_used(
    calls: ProviderHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with rude_server([GOOD]) as rude:
        assert isinstance(submitted(calls, runway_at(rude.address)), Accepted)


@pytest.mark.parametrize(
    "piece", [None, b"rubbish\r\n\r\n", answer(b"x" * 9), answer(b"", length=9)]
)
def test_a_question_without_an_answer_says_nothing(
    calls: ProviderHttp, piece: bytes | None
) -> None:
    with rude_server([piece]) as rude:
        assert calls.observe(runway_at(rude.address), JOB).state is JobState.UNANSWERED


def test_a_question_is_sent_to_the_provider_or_nobody(calls: ProviderHttp) -> None:
    with rude_server([GOOD]) as other, rude_server([answer(b"{}")]) as rude:
        fal = configured(REMOTES["fal"], {"base_url": rude.address})
        job = Job(id="r1", handles={"status_url": f"{other.address}/status"})
        calls.observe(fal, job)

    assert (len(rude.requests), len(other.requests)) == (1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Straying(Runway):
    """A provider that asks elsewhere, keys and all."""

    elsewhere: str = ""

    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        request = Runway.submission(self, order, secrets, now)
        assert isinstance(request, HttpRequest)
        return replace(request, url=self.elsewhere)

    def observe(
        self,
        job: Job,  # noqa: ARG002
        replies: Sequence[HttpReply],  # noqa: ARG002
        secrets: Secrets,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> HttpRequest | Observation:
        return HttpRequest(method="GET", url=self.elsewhere)

    def cancellation(
        self,
        job: Job,  # noqa: ARG002
        secrets: Secrets,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> HttpRequest | None:
        return HttpRequest(method="DELETE", url=self.elsewhere)


def test_no_request_leaves_for_another_place_than_the_provider(calls: ProviderHttp) -> None:
    with rude_server([GOOD]) as other:
        abilities = REMOTES["runway"].abilities
        straying = Straying(
            name="straying",
            base_url="https://provider.example",
            secrets=("api_key",),
            abilities=abilities,
            elsewhere=other.address,
        )
        assert submitted(calls, straying) == NotSent(cause="address-refused")
        assert calls.observe(straying, JOB).word == "address-refused"
        assert calls.cancel(straying, JOB) is Cancellation.UNANSWERED

    assert other.connections == 0


def test_a_question_of_endless_steps_is_given_up(calls: ProviderHttp) -> None:
    with rude_server([GOOD]) as rude:
        runway = REMOTES["runway"]
        straying = Straying(
            name="straying",
            base_url=rude.address,
            secrets=("api_key",),
            abilities=runway.abilities,
            elsewhere=rude.address,
        )
        seen = calls.observe(straying, JOB)

    assert (seen.state, seen.word) == (JobState.UNANSWERED, "too-many-steps")
    assert len(rude.requests) == OBSERVE_STEPS_MAX


def test_a_search_without_an_answer_or_a_token_tells_nothing(calls: ProviderHttp) -> None:
    with rude_server([None]) as rude:
        replicate = configured(REMOTES["replicate"], {"base_url": rude.address})
        since = FixedClock().now()

        assert isinstance(calls.find(replicate, TOKEN, since), CannotTell)
        with pytest.raises(ValueError, match="no token"):
            calls.find(replicate, "", since)


def test_a_length_that_is_refused_is_never_sent(runway: Stage) -> None:
    refused = runway.calls.submit(runway.provider, runway.order(seconds=7919))

    assert isinstance(refused, Rejected)
    assert runway.vendor.bill()["submits"] == 0


class Published:
    """A key set that can be changed, and that counts."""

    def __init__(self) -> None:
        self.keys: bytes | None = b'{"keys":[1]}'
        self.asked = 0

    def __call__(self, url: str) -> bytes | None:
        assert url == "https://keys.example"
        self.asked += 1
        return self.keys


@pytest.fixture
def published() -> Published:
    return Published()


def test_keys_are_kept_for_a_day(published: Published) -> None:
    clock = FixedClock()
    sets = KeySets(published, clock)
    moments: list[timedelta] = [timedelta(0), timedelta(hours=23, minutes=59), timedelta(hours=24)]
    start = clock.now()
    for moment in moments:
        clock.at = start + moment
        assert sets.current("https://keys.example") == published.keys

    assert published.asked == 2


def test_keys_that_cannot_be_had_are_never_old_ones(published: Published) -> None:
    clock = FixedClock()
    sets = KeySets(published, clock)
    sets.current("https://keys.example")
    published.keys = None
    clock.forward(hours=25)

    assert [sets.current("https://keys.example") for _ in range(3)] == [None] * 3
    assert published.asked == 2  # not asked again at once
    published.keys = b'{"keys":[2]}'
    clock.forward(seconds=11)
    assert sets.current("https://keys.example") == published.keys


def test_forged_calls_do_not_make_us_ask_all_the_time(published: Published) -> None:
    clock = FixedClock()
    sets = KeySets(published, clock)
    sets.current("https://keys.example")

    assert [sets.renewed("https://keys.example") for _ in range(3)] == [None] * 3
    clock.forward(minutes=6)
    published.keys = b'{"keys":[2]}'
    assert sets.renewed("https://keys.example") == published.keys
    assert sets.renewed("https://keys.example") is None
    assert published.asked == 2


def self_signed(folder: Path) -> ssl.SSLContext:
    """Make a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    day: Callable[[int], datetime] = lambda n: datetime.now(UTC) + timedelta(days=n)  # noqa: E731
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(day(-1))
        .not_valid_after(day(1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = folder / "self-signed.pem"
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
