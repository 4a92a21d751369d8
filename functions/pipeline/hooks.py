"""Hooks: calls from providers. Kept as they came, then a reason to ask; never a reason to pay."""

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from functions.domain.attempts import HookToken, parsed_token
from functions.domain.hooks import (
    BadSignature,
    Challenge,
    Delivery,
    Hint,
    Parked,
    Unverifiable,
)
from functions.domain.ports import Ports
from functions.domain.providers import Remote, Webhook
from functions.domain.tickets import Ticket

SEEN, PARKED, REPLAYED = "hooks/seen", "hooks/parked", "hooks/replayed"
STORED_BYTES_MAX = 1 << 20
CHECK_LANE = "check"


class Reception(StrEnum):
    """How a call ended."""

    TAKEN = "taken"
    PARKED = "parked"
    CHALLENGED = "challenged"
    FORGED = "forged"
    UNVERIFIABLE = "unverifiable"
    UNKNOWN = "unknown"  # no such provider, or no token of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What to answer. `body` is a challenge's."""

    reception: Reception
    body: bytes = b""


def receive(ports: Ports, provider_name: str, call: Delivery) -> Received:
    """Judge a call; keep it unless it is forged; set off a check. It is answered at once."""
    provider = ports.providers.get(provider_name)
    token = parsed_token(call.token)
    if not isinstance(provider, Remote) or token is None:
        return Received(reception=Reception.UNKNOWN)
    judged = ports.remote.judge(provider, call)
    ports.metrics.count("Hook", provider=provider.name, judged=type(judged).__name__)
    match judged:
        case BadSignature():
            return Received(reception=Reception.FORGED)
        case Unverifiable():
            return Received(reception=Reception.UNVERIFIABLE)
        case Challenge():
            return Received(reception=Reception.CHALLENGED, body=judged.body)
        case Parked():
            _keep(ports, PARKED, provider.name, call)
            return Received(reception=Reception.PARKED)
        case Hint():
            _keep(ports, SEEN, provider.name, call)
            _ask(ports, provider, token, judged)
            return Received(reception=Reception.TAKEN)
        case _:
            assert_never(judged)


def parked(ports: Ports, *, limit: int) -> list[str]:
    """Name calls that were authentic and not understood."""
    return ports.media.keys(f"{PARKED}/", limit=limit)


def replay(ports: Ports, *, limit: int) -> dict[str, int]:
    """Judge parked calls again, after a fix; those that are understood now set off a check."""
    done = {"replayed": 0, "parked": 0}
    for key in parked(ports, limit=limit):
        outcome = "replayed" if _understood(ports, key) else "parked"
        done[outcome] += 1
    return done


def _understood(ports: Ports, key: str) -> bool:
    content = ports.media.read(key, bytes_max=STORED_BYTES_MAX)
    provider = ports.providers.get(key.removeprefix(f"{PARKED}/").partition("/")[0])
    if content is None or not isinstance(provider, Remote):
        return False
    call, at = _stored(content)
    token = parsed_token(call.token)
    judged = ports.remote.judge(provider, call, at=at)
    if token is None or not isinstance(judged, Hint):
        return False
    _ask(ports, provider, token, judged)
    ports.media.move(key, key.replace(PARKED, REPLAYED, 1))
    return True


def _ask(ports: Ports, provider: Remote, token: HookToken, hint: Hint) -> None:
    proved = provider.abilities.webhook is Webhook.SIGNED
    ports.queue.send(
        Ticket(
            account=token.account,
            id=token.id,
            kind="",
            attempt=token.attempt,
            lane=CHECK_LANE,
            lease=token.lease,
            hint=(hint.observation.job_id or None) if proved else None,
        )
    )


def _keep(ports: Ports, place: str, provider: str, call: Delivery) -> None:
    now = ports.clock.now()
    content = _storable(call, now)
    name = hashlib.sha256(call.token.encode() + call.body).hexdigest()[:32]
    key = f"{place}/{provider}/{now:%Y-%m-%d}/{name}"
    ports.media.put_bytes(content, key, content_type="application/json")


def _storable(call: Delivery, now: datetime) -> bytes:
    return json.dumps(
        {
            "at": now.isoformat(),
            "token": call.token,
            "headers": dict(call.headers),
            "body": base64.b64encode(call.body).decode(),
        }
    ).encode()


def _stored(content: bytes) -> tuple[Delivery, datetime]:
    raw = json.loads(content)
    call = Delivery(token=raw["token"], headers=raw["headers"], body=base64.b64decode(raw["body"]))
    return call, datetime.fromisoformat(raw["at"])
