"""Who is calling, from claims that the gateway has verified, and what it does not check."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from functions.bootstrap import settings
from functions.entrypoints.http.problems import FORBIDDEN, Refusal

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller. `account` is the partition that all its items live in."""

    account: str
    operator: bool


def caller_of(event: Mapping[str, Any]) -> Caller:
    """Read the caller; the gateway has checked signature, issuer, audience and expiry only."""
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    if claims.get("token_use", "access") != "access":
        raise Refusal(FORBIDDEN)
    clients = settings().words("TOKEN_CLIENTS")
    client = claims.get("client_id") or claims.get("azp")
    if clients and client not in clients:
        raise Refusal(FORBIDDEN)
    groups = _groups(claims.get("cognito:groups") or claims.get("groups") or "")
    operators = settings().words("OPERATOR_GROUP")
    return Caller(account=account_of(str(claims["sub"])), operator=bool(operators & groups))


def operator_of(event: Mapping[str, Any]) -> Caller:
    """Read the caller and insist on the operators' group."""
    caller = caller_of(event)
    if not caller.operator:
        raise Refusal(FORBIDDEN)
    return caller


def account_of(subject: str) -> str:
    """Name a subject's partition: itself where plain, so that keys and paths stay simple."""
    if _PLAIN.fullmatch(subject):
        return subject
    return "h-" + hashlib.sha256(subject.encode()).hexdigest()[:40]


def _groups(claim: Any) -> frozenset[str]:
    if isinstance(claim, list):
        return frozenset(map(str, claim))
    return frozenset(re.split(r"[\s,]+", str(claim).strip("[]")))  # HTTP APIs flatten lists
