"""A photo's whole way over HTTP, on the deployed template, under the roles that it creates."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import av
import httpx
import pytest

from local.audit import audited
from local.customer import Customer, RefusedByApi, sign_in
from local.picture import draw_picture
from local.stack import Stack

PATIENCE_SECONDS = 90.0
ORDER = {"kind": "image_to_video"}

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def operator(local_stack: Stack) -> Iterator[Customer]:
    with closing(sign_in(local_stack, "operator@example.com", groups=("operators",))) as made:
        yield made


def funded(local_stack: Stack, operator: Customer) -> Customer:
    """A new customer with ten credits more than a four-second clip costs."""
    made = sign_in(local_stack, f"customer-{secrets.token_hex(4)}@example.com")
    operator.post(f"/v1/admin/accounts/{made.account}/credits", {"amount": 18})
    return made


@pytest.fixture
def customer(local_stack: Stack, operator: Customer) -> Iterator[Customer]:
    with closing(funded(local_stack, operator)) as made:
        yield made


@pytest.fixture
def stranger(local_stack: Stack, operator: Customer) -> Iterator[Customer]:
    with closing(funded(local_stack, operator)) as made:
        yield made


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    draw_picture(folder / "photo.jpg")
    whole = (folder / "photo.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    return folder


def ended(customer: Customer, path: str) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        task: dict[str, Any] = customer.get(path).json()
        if task["done"]:
            return task
        time.sleep(0.3)
    raise AssertionError(f"{path} has not ended: {task}")


def refusal(customer: Customer, body: dict[str, Any], key: str | None = None) -> RefusedByApi:
    with pytest.raises(RefusedByApi) as refused:
        customer.post("/v1/tasks", body, key=key)
    return refused.value


def test_a_photo_becomes_a_clip_that_is_charged_once(
    customer: Customer, photos: Path, tmp_path: Path
) -> None:
    source = customer.upload(photos / "photo.jpg", "image/jpeg")
    body = ORDER | {"input": {"source": source, "seconds": 4, "motion": "pan-right"}}
    key = secrets.token_urlsafe(24)

    made = customer.post("/v1/tasks", body, key=key)
    assert made.status_code == 202
    held = customer.get("/v1/credits").json()
    again = customer.post("/v1/tasks", body, key=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["id"] == made.json()["id"]
    other = refusal(customer, body | {"input": {"source": source, "seconds": 5}}, key=key)
    assert other.code == "idempotency-key-reused"
    double = refusal(customer, body)
    assert double.code == "resource-busy"
    assert double.problem["task"] == made.headers["Location"]

    task = ended(customer, made.headers["Location"])

    assert held == {"available": 10, "held": 8, "spent": 0}
    assert task["state"] == "delivered"
    assert customer.get("/v1/credits").json() == {"available": 10, "held": 0, "spent": 8}
    entries = customer.get("/v1/credits/ledger").json()["entries"]
    assert [entry["kind"] for entry in entries] == ["settle", "hold", "grant"]
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(httpx.get(task["result"]["url"], trust_env=False).content)
    assert hashlib.sha256(clip.read_bytes()).hexdigest() == task["result"]["sha256"]
    with av.open(str(clip)) as opened:
        frames = list(opened.decode(video=0))
    assert (len(frames), frames[0].width, frames[0].height) == (100, 1280, 720)
    assert all(check["verdict"] in ("pass", "info") for check in task["result"]["checks"])


def test_a_photo_that_is_cut_off_gives_the_credits_back(customer: Customer, photos: Path) -> None:
    source = customer.upload(photos / "cut.jpg", "image/jpeg")

    made = customer.post("/v1/tasks", ORDER | {"input": {"source": source, "seconds": 4}})
    task = ended(customer, made.headers["Location"])

    assert (task["state"], task["error"]["code"]) == ("failed", "photo-truncated")
    assert task["credits"] == {"amount": 8, "state": "released"}
    assert customer.get("/v1/credits").json() == {"available": 18, "held": 0, "spent": 0}


def test_without_credit_nothing_is_held(customer: Customer, photos: Path) -> None:
    source = customer.upload(photos / "photo.jpg", "image/jpeg")

    refused = refusal(customer, ORDER | {"input": {"source": source, "seconds": 30}})

    assert refused.code == "insufficient-credit"
    assert customer.get("/v1/credits").json()["held"] == 0


def test_strangers_see_nothing(customer: Customer, stranger: Customer, photos: Path) -> None:
    source = customer.upload(photos / "photo.jpg", "image/jpeg")
    made = customer.post("/v1/tasks", ORDER | {"input": {"source": source, "seconds": 1}})

    with pytest.raises(RefusedByApi) as unseen:
        stranger.get(made.headers["Location"])
    assert unseen.value.code == "not-found"
    with pytest.raises(RefusedByApi) as untouched:
        stranger.post(f"{made.headers['Location']}/cancel")
    assert untouched.value.code == "not-found"
    unowned = refusal(stranger, ORDER | {"input": {"source": source, "seconds": 1}})
    assert [fault["code"] for fault in unowned.problem["errors"]] == ["source-missing"]
    with pytest.raises(RefusedByApi) as unprivileged:
        customer.post(f"/v1/admin/accounts/{customer.account}/credits", {"amount": 5})
    assert unprivileged.value.code == "forbidden"
    assert ended(customer, made.headers["Location"])["state"] == "delivered"


def test_a_file_larger_or_of_another_type_than_agreed_is_not_taken(customer: Customer) -> None:
    asked = {"kind": "image_to_video", "content_type": "image/jpeg"}
    slot = customer.post("/v1/uploads", asked).json()

    def sent(content: bytes, **fields: str) -> int:
        files = {"file": ("photo.jpg", content, "image/jpeg")}
        return httpx.post(
            slot["url"], data=slot["fields"] | fields, files=files, trust_env=False
        ).status_code

    assert sent(b"\0" * (slot["bytes_max"] + 1)) >= 400
    assert sent(b"x", **{"Content-Type": "text/html"}) >= 400
    assert sent(b"x", key="in/somebody/else") >= 400
    assert sent(b"x") < 300


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/credits", "/v1/admin/health"])
def test_nothing_is_shown_without_a_token(local_stack: Stack, path: str) -> None:
    answer = httpx.get(f"{local_stack.api_url}{path}", trust_env=False)

    assert answer.status_code == 401


def test_what_is_open_to_all_is_open(local_stack: Stack) -> None:
    for path in ("/", "/v1/kinds", "/v1/openapi.json"):
        answer = httpx.get(f"{local_stack.api_url}{path}", trust_env=False)
        assert answer.status_code == 200, path


def test_z_the_auditor_finds_nothing(
    local_stack: Stack, operator: Customer, customer: Customer
) -> None:
    """Whatever the tests before did, the books are right. The run ends with the same."""
    report = audited(local_stack)

    assert report.differences == ()
    assert report.accounts > 0, customer.account
    assert operator.get("/v1/admin/audit").json()["found"] == 0
