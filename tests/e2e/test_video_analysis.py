"""A video's way to a document, on the deployed template, with models that count their bill."""

import json
import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.domain.states import TaskState
from functions.domain.tasks import Task
from local import worker
from local.customer import Customer, RefusedByApi
from local.stack import Stack
from local.standin import StandIn
from tests.e2e.backstage import Backstage
from tests.e2e.clients import funded, ordered, until
from tests.e2e.conftest import opened
from tests.media import clips
from tests.workers import shared_folder

KIND = "video_analysis"
PRICE = 5
SECONDS = 6
CHARGED = {"available": 0, "held": 0, "spent": PRICE}
GIVEN_BACK = {"available": PRICE, "held": 0, "spent": 0}

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two shots with sound. With a few bytes behind it, it is another one to a customer."""
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    return clips.film(path, "moving", "noise", seconds=SECONDS, sound="tone").read_bytes()


@dataclass(slots=True)
class Desk:
    """A customer with a stack and its worker."""

    live: Stack
    backstage: Backstage
    customer: Customer
    folder: Path
    film: bytes

    def upload(self) -> str:
        path = self.folder / "film.mp4"
        path.write_bytes(self.film + free_box())
        return self.customer.upload(path, "video/mp4", KIND)

    def order(self, provider: str = "local", **given: Any) -> str:
        wanted = given or {"source": self.upload()}
        return ordered(self.customer, {"kind": KIND, "provider": provider, "input": wanted})

    @property
    def task(self) -> Task:
        return self.backstage.task(self.customer.account)

    def ended(self, patience: float = 25) -> Task:
        def hurried() -> bool:
            self.backstage.hurry(self.customer.account, patience=patience)
            return self.task.state.done

        until(hurried, 120)
        return self.task

    def balance(self) -> dict[str, int]:
        found: dict[str, int] = self.customer.get("/v1/credits").json()
        return found

    def document(self) -> Any:
        return self.customer.get(f"/v1/tasks/{self.task.id}/result").json()


def free_box() -> bytes:
    """Bytes at the end of a film that are no part of it, and never the same."""
    return (16).to_bytes(4, "big") + b"free" + secrets.token_bytes(8)


@pytest.fixture
def desk(
    local_stack: Stack, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, film: bytes
) -> Iterator[Desk]:
    """The stack's worker, for one test at a time. It is there again afterwards."""
    with (
        shared_folder(tmp_path_factory, "worker-turn"),
        opened(local_stack) as (backstage, operator),
        closing(funded(local_stack, operator, PRICE)) as customer,
    ):
        worker.start(local_stack)
        yield Desk(local_stack, backstage, customer, tmp_path, film)
        worker.start(local_stack)


def test_what_can_be_measured_is_delivered_without_a_model(desk: Desk) -> None:
    path = desk.order()
    assert desk.ended().state is TaskState.DELIVERED
    found = desk.document()

    assert [round(shot["start"], 1) for shot in found["shots"]] == [0.0, SECONDS / 2]
    assert found["transcript"] is None
    assert "No model" in found["absent"]["transcript"]
    assert desk.balance() == CHARGED
    shown = desk.customer.get(path).json()
    assert len(shown["result"]["thumbnails"]) == 2
    for link in shown["result"]["thumbnails"]:
        assert httpx.get(link, trust_env=False).content[:2] == b"\xff\xd8"
    page = desk.customer.get(f"{path}/result", accept="text/markdown")
    assert page.headers["content-type"].startswith("text/markdown")
    assert "# Video analysis" in page.text
    assert json.loads(httpx.get(shown["result"]["url"], trust_env=False).content) == found


def test_a_model_adds_the_words_and_is_billed_once(desk: Desk, gemini: StandIn) -> None:
    billed = gemini.billed()
    path = desk.order("gemini")
    assert desk.ended().state is TaskState.DELIVERED
    found = desk.document()

    assert all(shot["description"] for shot in found["shots"])
    assert found["transcript"]
    assert found["made_by"]["provider"] == "gemini"
    assert gemini.billed() - billed == 1
    assert desk.balance() == CHARGED
    assert {check["name"] for check in desk.customer.get(path).json()["result"]["checks"]} >= {
        "times",
        "shots",
        "descriptions",
        "transcript",
    }


def test_our_own_role_asks_a_model_that_takes_no_key(
    desk: Desk, shared_models: dict[str, StandIn]
) -> None:
    asked = [shared_models[name] for name in ("bedrock", "transcribe")]
    billed = [each.billed() for each in asked]
    desk.order("bedrock")
    assert desk.ended().state is TaskState.DELIVERED
    found = desk.document()

    assert [said["text"] for said in found["transcript"]] == ["Hello there.", "It helps."]
    assert found["made_by"]["listener"] == "transcribe"
    assert [each.billed() for each in asked] == [before + 1 for before in billed]


def test_a_client_that_is_killed_and_repeats_has_one_task_one_hold_and_one_charge(
    desk: Desk, gemini: StandIn
) -> None:
    billed = gemini.billed()
    body = {"kind": KIND, "provider": "gemini", "input": {"source": desk.upload()}}
    key = secrets.token_urlsafe(24)
    for _ in range(3):  # it goes before it has heard anything
        with pytest.raises(httpx.ReadTimeout):
            impatient(desk.customer, body, key)
    answer = desk.customer.post("/v1/tasks", body, key=key)

    assert answer.headers["idempotency-replayed"] == "true"
    assert answer.json()["id"] == desk.task.id
    assert desk.ended().state is TaskState.DELIVERED
    assert gemini.billed() - billed == 1
    assert desk.balance() == CHARGED
    assert entries(desk) == ["grant", "hold", "settle"]


def impatient(customer: Customer, body: Any, key: str) -> None:
    headers = {"Idempotency-Key": key, "Authorization": customer.http.headers["authorization"]}
    with httpx.Client(
        base_url=customer.http.base_url,
        headers=headers,
        timeout=httpx.Timeout(30, read=0.0001),
        trust_env=False,
    ) as client:
        client.post("/v1/tasks", json=body)


def entries(desk: Desk) -> list[str]:
    found = desk.customer.get("/v1/credits/ledger").json()["entries"]
    return sorted(entry["kind"] for entry in found)


def test_a_double_click_is_one_task(desk: Desk, gemini: StandIn) -> None:
    gemini.script({"seconds": 3})
    body = {"kind": KIND, "provider": "gemini", "input": {"source": desk.upload()}}
    first = desk.customer.post("/v1/tasks", body).json()["id"]
    with pytest.raises(RefusedByApi) as refused:
        desk.customer.post("/v1/tasks", body)

    assert refused.value.code == "resource-busy"
    assert refused.value.problem["task"] == f"/v1/tasks/{first}"
    assert desk.ended().state is TaskState.DELIVERED
    assert entries(desk) == ["grant", "hold", "settle"]


def test_a_worker_that_is_killed_while_a_model_thinks_ends_the_task_without_a_charge(
    desk: Desk, gemini: StandIn
) -> None:
    billed = gemini.billed()
    gemini.script({"seconds": 30})
    desk.order("gemini")
    until(lambda: desk.task.job is not None)
    pid = worker.running(desk.live.instance)
    assert pid is not None

    os.kill(pid, signal.SIGKILL)

    worker.start(desk.live)
    desk.backstage.sweep([desk.task])
    task = desk.ended(patience=1)
    assert (task.state, task.code) == (TaskState.FAILED, "answer-lost")
    assert gemini.billed() - billed <= 1
    assert desk.balance() == GIVEN_BACK
    assert entries(desk) == ["grant", "hold", "release"]


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [
        ({"says": "blocked"}, TaskState.FAILED, "refused-content"),
        ({"lost": "after"}, TaskState.FAILED, "answer-lost"),
    ],
)
def test_what_goes_wrong_is_told_and_not_charged(
    desk: Desk, gemini: StandIn, script: dict[str, Any], state: TaskState, code: str
) -> None:
    gemini.script(script)
    desk.order("gemini")
    until(lambda: desk.task.state not in (TaskState.QUEUED, TaskState.RENDERING))
    task = desk.ended(patience=1)

    assert (task.state, task.code) == (state, code)
    assert desk.balance() == GIVEN_BACK


def test_a_half_answer_is_tried_again_and_charged_once(desk: Desk, gemini: StandIn) -> None:
    gemini.script({"says": "truncated"}, {"says": "broken"})
    desk.order("gemini")
    task = desk.ended(patience=1)

    assert (task.state, task.attempt) == (TaskState.DELIVERED, 3)
    reasons = [step.reason for step in task.history]
    assert "answer-truncated" in reasons
    assert "answer-unreadable" in reasons
    assert desk.balance() == CHARGED


# --- a video elsewhere ---------------------------------------------------------------------------


class Films(BaseHTTPRequestHandler):
    """Serves one film, whole or in parts."""

    film: bytes

    def do_GET(self) -> None:
        start, end = 0, len(self.film)
        asked = self.headers.get("range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) + 1, len(self.film))
        self.send_response(206 if asked else 200)
        self.send_header("content-type", "video/mp4")
        self.send_header("content-length", str(end - start))
        if asked:
            self.send_header("content-range", f"bytes {start}-{end - 1}/{len(self.film)}")
        self.end_headers()
        self.wfile.write(self.film[start:end])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(film: bytes, port: int) -> Iterator[str]:
    handler = type("OneFilm", (Films,), {"film": film})
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{port}/film.mp4"
        server.shutdown()


def test_a_video_is_fetched_from_its_address(desk: Desk, film_port: int) -> None:
    with served(desk.film, film_port) as url:
        quoted = desk.customer.post("/v1/quotes", {"kind": KIND, "input": {"url": url}}).json()
        desk.order(url=url)
        task = desk.ended()

    assert quoted["price"] == PRICE
    assert task.state is TaskState.DELIVERED
    assert desk.balance() == CHARGED


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/film.mp4",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/film.mp4",
    ],
)
def test_an_address_of_our_own_is_refused_before_anything_is_held(desk: Desk, url: str) -> None:
    with pytest.raises(RefusedByApi) as refused:
        desk.customer.post("/v1/tasks", {"kind": KIND, "input": {"url": url}})

    assert (refused.value.problem["status"], refused.value.code) == (400, "url-refused")
    assert desk.balance() == GIVEN_BACK
    assert entries(desk) == ["grant"]


def test_what_is_no_video_is_refused_before_anything_is_held(desk: Desk) -> None:
    desk.film = b"<html>" + bytes(2000)
    with pytest.raises(RefusedByApi) as refused:
        desk.customer.post("/v1/tasks", {"kind": KIND, "input": {"source": desk.upload()}})

    assert refused.value.code == "type-unsupported"
    assert entries(desk) == ["grant"]
