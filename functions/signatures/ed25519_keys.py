"""Ed25519 signatures under a published set of public keys (a JWKS)."""

import base64
import binascii
from collections.abc import Iterator

from functions.domain.exchange import at, parsed, text

_KEY_BYTES = 32
_KEYS_MAX = 16  # a set that is longer is no set of signing keys


def is_signed(message: bytes, signature: bytes, key_set: bytes) -> bool:
    """Whether any key of the set made the signature. Keys have no names here: each is tried."""
    # Only where hooks are judged: the declarations of providers are read everywhere.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    for key in _public_keys(key_set):
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        except (InvalidSignature, ValueError):
            continue
        return True
    return False


def _public_keys(key_set: bytes) -> Iterator[bytes]:
    keys = at(parsed(key_set), "keys")
    for key in keys[:_KEYS_MAX] if isinstance(keys, list) else []:
        if at(key, "kty") != "OKP" or at(key, "crv") != "Ed25519":
            continue
        written = text(at(key, "x"))
        try:
            raw = base64.urlsafe_b64decode(written + "=" * (-len(written) % 4))
        except (binascii.Error, ValueError):
            continue
        if len(raw) == _KEY_BYTES:
            yield raw
