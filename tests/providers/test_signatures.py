"""Signatures against published vectors, and everything that must not pass."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook as Signer

from functions.domain.hooks import (
    BadSignature,
    Delivery,
    Hint,
    Judgement,
    Parked,
    Unverifiable,
    delivery,
)
from functions.domain.jobs import JobState
from functions.domain.providers import Secrets, configured
from functions.signatures.ed25519_keys import is_signed
from local.fakes.fal import signed as fal_signed
from local.fakes.replicate import signed as replicate_signed
from tests.providers.stage import REMOTES, TOKEN

NOW = datetime.fromtimestamp(1750000000, UTC)
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OLD_SECRET = "whsec_" + base64.b64encode(b"an older secret, still valid....").decode()

REPLICATE = Delivery(
    token=TOKEN,
    headers={
        "webhook-id": "msg_2aXvF0000000000000000000001",
        "webhook-timestamp": "1750000000",
        "webhook-signature": "v1,AlHGkGPOsULozexcMIMF/xXToAvh7LJmH2UzxK3I/FE=",
    },
    body=(
        b'{"id":"ufawqhfynnddngldkgtslldrkq","status":"succeeded",'
        b'"output":"https://replicate.delivery/x/out.mp4","error":null}'
    ),
)
REQUEST = "024ca5b1-45d3-4afd-883e-ad3abe2a1c4d"
KEY_SET = (
    b'{"keys":[{"kty":"OKP","crv":"Ed25519","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}]}'
)
OTHER_KEYS = (
    b'{"keys":[{"kty":"RSA"},{"kty":"OKP","crv":"Ed25519","x":"!"},7,'
    b'{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'
)
FAL = Delivery(
    token=TOKEN,
    headers={
        "x-fal-webhook-request-id": REQUEST,
        "x-fal-webhook-user-id": "user_test",
        "x-fal-webhook-timestamp": "1750000000",
        "x-fal-webhook-signature": (
            "a739aa9d5747c84125e5b634e635d14fb81511dacc9754930cc5bdd055ae9957"
            "2b91c88165fb0bafd5a8f2be17c0225d75940813329bca287de4e98c17105f0b"
        ),
    },
    body=(
        f'{{"request_id":"{REQUEST}","gateway_request_id":"{REQUEST}","status":"OK",'
        '"payload":{"video":{"url":"https://v3.fal.media/files/x/out.mp4"}},"error":null}'
    ).encode(),
)
SIGNED = {"replicate": REPLICATE, "fal": FAL}
TIMES = {"replicate": "webhook-timestamp", "fal": "x-fal-webhook-timestamp"}
SIGNATURES = {"replicate": "webhook-signature", "fal": "x-fal-webhook-signature"}

both = pytest.mark.parametrize("name", ["replicate", "fal"])


def judge(
    name: str,
    hook: Delivery,
    *,
    now: datetime = NOW,
    secrets: tuple[str, ...] = (SECRET,),
    keys: bytes | None = KEY_SET,
    user: str = "user_test",
) -> Judgement:
    remote = configured(REMOTES[name], {"user_id": user} if name == "fal" else {})
    return remote.receive(hook, Secrets(values={"hook_secret": secrets}), keys, now)


def headed(hook: Delivery, **headers: str | None) -> Delivery:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {name: value for name, value in hook.headers.items() if name not in named}
    return replace(hook, headers=kept | {k: v for k, v in named.items() if v is not None})


@both
def test_the_vector_passes(name: str) -> None:
    judged = judge(name, SIGNED[name])

    assert isinstance(judged, Hint)
    assert judged.observation.state is JobState.SUCCEEDED
    assert judged.observation.job_id in (REQUEST, "ufawqhfynnddngldkgtslldrkq")
    assert judged.delivery_id


def test_the_vectors_are_what_the_stand_ins_and_the_library_sign() -> None:
    message = REPLICATE.headers["webhook-id"]
    by_library = Signer(SECRET).sign(message, NOW, REPLICATE.body.decode())

    assert by_library == REPLICATE.headers["webhook-signature"]
    assert replicate_signed(message, "1750000000", REPLICATE.body, SECRET) == REPLICATE.headers
    assert fal_signed(REQUEST, "user_test", "1750000000", FAL.body) == FAL.headers


@both
@pytest.mark.parametrize("seconds", [-300, 300])
def test_a_stamp_at_the_edge_of_the_tolerance_passes(name: str, seconds: int) -> None:
    assert isinstance(judge(name, SIGNED[name], now=NOW + timedelta(seconds=seconds)), Hint)


@both
@pytest.mark.parametrize("seconds", [-301, 301, -86400, 86400 * 365])
def test_a_stale_or_future_stamp_is_refused(name: str, seconds: int) -> None:
    judged = judge(name, SIGNED[name], now=NOW + timedelta(seconds=seconds))

    assert judged == BadSignature(code="stamp-out-of-tolerance")


@both
def test_any_flipped_bit_of_the_body_is_refused(name: str) -> None:
    hook = SIGNED[name]
    for place in range(0, len(hook.body), 7):
        for bit in (1, 16, 128):
            changed = bytearray(hook.body)
            changed[place] ^= bit
            assert isinstance(judge(name, replace(hook, body=bytes(changed))), BadSignature)


@both
@pytest.mark.parametrize("what", ["time", "signature"])
@pytest.mark.parametrize(
    "value", [None, "", "0", "-1", "1e9", "1750000001", "01750000000", "٣", "v1,", "v2,AAAA", "zz"]
)
def test_a_broken_header_is_refused(name: str, what: str, value: str | None) -> None:
    header = (TIMES if what == "time" else SIGNATURES)[name]
    changed = headed(SIGNED[name], **{header.replace("-", "_"): value})

    assert isinstance(judge(name, changed), BadSignature)


@both
def test_another_body_or_id_under_the_signature_is_refused(name: str) -> None:
    longer = replace(SIGNED[name], body=SIGNED[name].body + b" ")
    renamed = headed(SIGNED[name], webhook_id="other", x_fal_webhook_request_id="other")

    assert isinstance(judge(name, longer), BadSignature)
    assert isinstance(judge(name, renamed), BadSignature)


def test_a_body_that_came_encoded_is_judged_by_its_bytes() -> None:
    headers = {name.title(): value for name, value in REPLICATE.headers.items()}
    encoded = base64.b64encode(REPLICATE.body).decode()
    hook = delivery(TOKEN, headers, encoded, is_base64=True)

    assert hook == REPLICATE
    assert delivery(TOKEN, headers, "%%%", is_base64=True) is None
    plain = delivery(TOKEN, headers, REPLICATE.body.decode(), is_base64=False)
    assert plain is not None
    assert isinstance(judge("replicate", plain), Hint)


def test_a_call_about_another_attempt_is_parked() -> None:
    body = b'{"id":"p1","status":"succeeded","webhook":"https://x.example/another-token"}'
    headers = replicate_signed("msg_1", "1750000000", body, SECRET)
    hook = replace(REPLICATE, headers=headers, body=body)

    assert judge("replicate", hook) == Parked(code="another-attempt")


def test_while_a_secret_is_rotated_both_are_good() -> None:
    old = replicate_signed("msg_1", "1750000000", REPLICATE.body, OLD_SECRET)
    hook = replace(REPLICATE, headers=old)

    assert isinstance(judge("replicate", hook, secrets=(SECRET, OLD_SECRET)), Hint)
    assert isinstance(judge("replicate", hook, secrets=(OLD_SECRET, SECRET)), Hint)
    assert judge("replicate", hook) == BadSignature(code="no-signature-matches")


def test_while_the_sender_rotates_any_of_its_signatures_is_good() -> None:
    good = REPLICATE.headers["webhook-signature"]
    several = headed(REPLICATE, webhook_signature=f"v1,AAAA v1a,zzz v1,%% {good}")

    assert isinstance(judge("replicate", several), Hint)


def test_a_signature_of_another_version_does_not_count() -> None:
    good = REPLICATE.headers["webhook-signature"]
    other = headed(REPLICATE, webhook_signature=good.replace("v1,", "v1a,"))

    assert judge("replicate", other) == BadSignature(code="no-signature-matches")


def test_without_a_secret_nothing_can_be_judged() -> None:
    assert judge("replicate", REPLICATE, secrets=()) == Unverifiable(code="no-hook-secret")


def test_a_body_that_is_no_text_is_refused() -> None:
    hook = replace(REPLICATE, body=b"\xff\xfe{}")

    assert judge("replicate", hook) == BadSignature(code="not-utf-8")


def test_another_customer_of_the_same_keys_is_refused() -> None:
    foreign = replace(FAL, headers=fal_signed(REQUEST, "user_other", "1750000000", FAL.body))

    assert judge("fal", foreign) == BadSignature(code="another-customer")
    assert isinstance(judge("fal", foreign, user="user_other"), Hint)


def test_without_our_own_name_or_keys_nothing_can_be_judged() -> None:
    assert judge("fal", FAL, user="") == Unverifiable(code="user-id-not-configured")
    assert judge("fal", FAL, keys=None) == Unverifiable(code="no-key-set")


def test_a_signature_that_fits_no_key_may_fit_newer_ones() -> None:
    judged = judge("fal", FAL, keys=OTHER_KEYS)

    assert judged == BadSignature(code="no-signature-matches", keys_may_be_old=True)


@pytest.mark.parametrize("keys", [b"", b"[]", b'{"keys":{}}', b'{"keys":[null]}', b"\xff"])
def test_a_key_set_of_another_shape_holds_no_keys(keys: bytes) -> None:
    assert not is_signed(b"message", bytes(64), keys)


def test_every_key_of_a_set_is_tried() -> None:
    merged = OTHER_KEYS[:-2] + b"," + KEY_SET[len(b'{"keys":[') :]

    assert isinstance(judge("fal", FAL, keys=merged), Hint)
