"""Standard Webhooks: HMAC-SHA256 over id, time stamp and body, under a shared secret."""

import base64
import binascii
import hmac
from collections.abc import Iterable
from datetime import UTC, datetime

from functions.domain.hooks import BadSignature, Delivery
from functions.signatures.stamps import is_current, seconds_of

_VERSION = "v1,"


def refusal(hook: Delivery, secrets: Iterable[str], now: datetime) -> BadSignature | None:
    """Say why a call is not to be believed; None if it is. Any one secret and signature will do."""
    message = hook.headers.get("webhook-id", "")
    signatures = hook.headers.get("webhook-signature", "")
    stamp = seconds_of(hook.headers.get("webhook-timestamp", ""))
    if not message or not signatures or stamp is None:
        return BadSignature(code="headers-missing")
    if not is_current(stamp, now):
        return BadSignature(code="stamp-out-of-tolerance")
    try:
        body = hook.body.decode()
    except UnicodeDecodeError:  # JSON is UTF-8, and so is what is signed
        return BadSignature(code="not-utf-8")
    given = [_decoded(one) for one in signatures.split() if one.startswith(_VERSION)]
    good = False
    for secret in secrets:
        expected = _expected(secret, message, stamp, body)
        for one in given:  # no early end: how long it takes tells nothing
            good |= hmac.compare_digest(expected, one)
    return None if good else BadSignature(code="no-signature-matches")


def _expected(secret: str, message: str, stamp: int, body: str) -> bytes:
    # Only where hooks are judged: the declarations of providers are read everywhere.
    from standardwebhooks import Webhook  # noqa: PLC0415

    signed = Webhook(secret).sign(message, datetime.fromtimestamp(stamp, UTC), body)
    return base64.b64decode(signed.removeprefix(_VERSION))


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature.removeprefix(_VERSION), validate=True)
    except (binascii.Error, ValueError):
        return b""
