"""Customers who do as the API's documentation says: repeat what may be repeated, nothing else."""

import secrets
import time
from collections.abc import Callable
from typing import Any

import httpx

from local.customer import Customer, RefusedByApi, sign_in
from local.stack import Stack

TRIES = 100
PAUSE_SECONDS = 0.3
PATIENCE_SECONDS = 90.0
JPEG = {"kind": "image_to_video", "content_type": "image/jpeg"}


def funded(live: Stack, operator: Customer, credits_given: int) -> Customer:
    """A new customer with some credits."""
    made = sign_in(live, f"customer-{secrets.token_hex(4)}@example.com")
    path, key = f"/v1/admin/accounts/{made.account}/credits", secrets.token_urlsafe(24)
    insisted(lambda: operator.post(path, {"amount": credits_given}, key=key))
    return made


def insisted(call: Callable[[], httpx.Response]) -> httpx.Response:
    for _ in range(TRIES):
        try:
            return call()
        except RefusedByApi as refusal:
            server_fault = refusal.code.startswith("5")  # from the gateway, which says no more
            if not (refusal.problem.get("retryable") or server_fault):
                raise
        except httpx.TransportError:
            pass
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(f"not answered after {TRIES} tries")


def uploaded(customer: Customer, photo: bytes) -> str:
    """Upload a photo, whatever it takes."""
    slot = insisted(lambda: customer.post("/v1/uploads", JPEG)).json()
    files = {"file": ("photo.jpg", photo, "image/jpeg")}
    httpx.post(
        slot["url"], data=slot["fields"], files=files, trust_env=False, timeout=30
    ).raise_for_status()
    return str(slot["upload"])


def ordered(customer: Customer, body: dict[str, Any]) -> str:
    """Order under one key until it is acknowledged; the path of the task."""
    key = secrets.token_urlsafe(24)
    return insisted(lambda: customer.post("/v1/tasks", body, key=key)).headers["Location"]


def clip_of(source: str, **more: Any) -> dict[str, Any]:
    """The body of an order for the shortest clip."""
    return {"kind": "image_to_video", "input": {"source": source, "seconds": 1}} | more


def until(seen: Callable[[], bool], patience: float = PATIENCE_SECONDS) -> None:
    """Wait for something that is sure to come."""
    end = time.monotonic() + patience
    while not seen():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.1)
