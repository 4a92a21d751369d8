"""The client against an API that loses answers, breaks off and lies."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import tallyreel
from tallyreel import errors
from tallyreel.wire import located

BASE = "https://api.example"
FILE = bytes(range(256)) * 40
Answers = Callable[[httpx.Request], httpx.Response]


class Script:
    """Answers from a list, and what was asked for them."""

    def __init__(self, *answers: httpx.Response | Answers | None) -> None:
        self.answers: Iterator[httpx.Response | Answers | None] = iter(answers)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = next(self.answers)
        if answer is None:
            raise httpx.ReadTimeout("too late", request=request)
        return answer(request) if callable(answer) else answer

    def client(self) -> tallyreel.Client:
        transport = httpx.MockTransport(self)
        return tallyreel.Client(BASE, "token", transport=transport, sleep=self.slept.append)

    def keys(self) -> list[str]:
        return [each.headers["idempotency-key"] for each in self.asked]


def shown(state: str = "rendering", **more: Any) -> dict[str, Any]:
    task = {
        "id": "T1",
        "state": state,
        "message": state,
        "timeline": [],
        "credits": {"amount": 2, "state": "released"},
    }
    ended = {"error": None, "result": None, "done": state in ("delivered", "failed")}
    return {**task, **ended, **more}


def delivered(**more: Any) -> dict[str, Any]:
    whole = {"url": f"{BASE}/file", "sha256": hashlib.sha256(FILE).hexdigest(), "bytes": len(FILE)}
    return shown("delivered", result={**whole, **more})


def answer(status: int, body: Any = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=body, headers=named)


def test_an_order_is_repeated_under_one_key_until_it_is_answered() -> None:
    script = Script(None, answer(503, {}, Retry_After="7"), answer(202, shown("queued")))

    with script.client() as client:
        task = client.create("image_to_video", {"source": "S"})

    assert task["state"] == "queued"
    assert len(set(script.keys())) == 1
    assert script.slept == [1.0, 7.0]
    assert script.asked[0].headers["authorization"] == "Bearer token"


def test_an_order_without_any_answer_gives_its_key_back() -> None:
    script = Script(*[None] * 6)

    with script.client() as client, pytest.raises(errors.Unreachable) as lost:
        client.create("image_to_video", {})

    assert {lost.value.key} == set(script.keys())


@pytest.mark.parametrize(("code", "error"), sorted(errors.CODES.items()))
def test_every_code_has_its_own_error(code: str, error: type[errors.Problem]) -> None:
    script = Script(answer(400, {"code": code, "detail": "No.", "retryable": False}))

    with script.client() as client, pytest.raises(error) as refused:
        client.credits()

    assert type(refused.value) is error
    assert (refused.value.code, refused.value.retryable) == (code, False)


def test_what_was_in_the_way_is_told() -> None:
    problems = [
        {"code": "insufficient-credit", "available": 3, "price": 8},
        {"code": "resource-busy", "task": "/v1/tasks/T9"},
        {"code": "photo-truncated", "detail": "cut off"},
    ]
    script = Script(*(answer(400, each) for each in problems), answer(401, {"message": "who?"}))
    found = []
    with script.client() as client:
        for _ in range(4):
            with pytest.raises(errors.Problem) as refused:
                client.credits()
            found.append(refused.value)

    poor, busy, cut, unknown = found
    assert isinstance(poor, errors.NoCredit)
    assert (poor.available, poor.price) == (3, 8)
    assert isinstance(busy, errors.Busy)
    assert busy.task_id == "T9"
    assert isinstance(cut, errors.SourceRefused)
    assert isinstance(unknown, errors.NotSignedIn)


def test_waiting_asks_when_it_is_told_to_and_survives_all_trouble() -> None:
    script = Script(
        answer(200, shown(), ETag='"1"', Retry_After="2"),
        None,
        answer(500, {}),
        httpx.Response(304, headers={"ETag": '"1"', "Retry-After": "5"}),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        answer(200, delivered()),
    )
    seen: list[str] = []

    with script.client() as client:
        task = client.wait("T1", on_news=lambda task: seen.append(task["state"]))

    assert task["state"] == "delivered"
    assert seen == ["rendering", "delivered"]
    assert script.slept == [2.0, 1.0, 2.0, 5.0, 1.0]
    assert [each.headers.get("if-none-match") for each in script.asked] == [None, *['"1"'] * 5]


def test_waiting_for_what_does_not_exist_ends() -> None:
    script = Script(answer(404, {"code": "not-found"}))

    with script.client() as client, pytest.raises(errors.NotFound):
        client.wait("T1")


def part(request: httpx.Request, most: int = len(FILE)) -> httpx.Response:
    begun = int(request.headers.get("range", "bytes=0-")[6:-1])
    status = 206 if begun else 200
    return httpx.Response(status, content=FILE[begun : begun + most])


def test_a_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    to = tmp_path / "clip.mp4"
    script = Script(
        answer(200, delivered()),
        lambda request: part(request, most=1000),
        answer(200, delivered()),
        None,
        answer(200, delivered()),
        part,
    )

    with script.client() as client:
        assert client.download("T1", to) == to

    assert to.read_bytes() == FILE
    assert list(tmp_path.iterdir()) == [to]
    assert script.asked[-1].headers["range"] == "bytes=1000-"


def test_a_file_that_is_not_the_verified_one_is_not_kept(tmp_path: Path) -> None:
    to = tmp_path / "clip.mp4"
    wrong = FILE[:-1] + b"!"
    script = Script(*[answer(200, delivered()), httpx.Response(200, content=wrong)] * 6)

    with script.client() as client, pytest.raises(errors.Damaged):
        client.download("T1", to)

    assert list(tmp_path.iterdir()) == []


def test_there_is_nothing_to_download_of_a_failed_task(tmp_path: Path) -> None:
    why = {"code": "photo-truncated", "reason": "The photo is cut off."}
    script = Script(answer(200, shown("failed", error=why)))

    with script.client() as client, pytest.raises(errors.TaskEnded) as ended:
        client.download("T1", tmp_path / "clip.mp4")

    assert ended.value.code == "photo-truncated"


def test_a_document_is_read_as_values_or_as_markdown() -> None:
    page = httpx.Response(200, text="# Video analysis", headers={"content-type": "text/markdown"})
    script = Script(None, answer(200, {"version": 1}), page)

    with script.client() as client:
        assert client.result("T1") == {"version": 1}
        assert client.result("T1", format="markdown") == "# Video analysis"

    assert [each.url.path for each in script.asked] == ["/v1/tasks/T1/result"] * 3
    accepted = [each.headers["accept"] for each in script.asked]
    assert accepted == ["application/json", "application/json", "text/markdown"]


def test_a_document_too_large_to_be_passed_on_is_fetched_and_checked() -> None:
    document = json.dumps({"version": 1}).encode()
    told = delivered(
        content_type="application/json",
        bytes=len(document),
        sha256=hashlib.sha256(document).hexdigest(),
    )
    led = httpx.Response(303, headers={"location": f"{BASE}/file"})
    file = httpx.Response(200, content=document)
    script = Script(led, answer(200, told), answer(200, told), file)

    with script.client() as client:
        assert client.result("T1") == {"version": 1}

    assert script.asked[-1].url == f"{BASE}/file"
    assert "authorization" not in script.asked[-1].headers


def test_a_film_is_no_document() -> None:
    led = httpx.Response(303, headers={"location": f"{BASE}/file"})
    script = Script(led, answer(200, delivered(content_type="video/mp4")))

    with script.client() as client, pytest.raises(errors.Problem) as refused:
        client.result("T1")

    assert refused.value.code == "no-document"
    assert "Download it" in str(refused.value)


@pytest.mark.parametrize(
    ("code", "error"), [("no-result", errors.NoResult), ("result-expired", errors.Expired)]
)
def test_a_result_that_is_not_there_has_its_own_error(
    code: str, error: type[errors.Problem]
) -> None:
    script = Script(answer(409, {"code": code, "detail": "Not there."}))

    with script.client() as client, pytest.raises(error):
        client.result("T1")


def test_what_is_wrong_with_an_address_is_the_sources_fault() -> None:
    script = Script(answer(400, {"code": "url-refused"}), answer(400, {"code": "length-unknown"}))

    with script.client() as client:
        for _ in range(2):
            with pytest.raises(errors.SourceRefused):
                client.create("video_analysis", {"url": "https://example.com/video.mp4"})


def test_the_asynchronous_client_reads_documents_too() -> None:
    script = Script(answer(200, {"version": 1}))

    async def read() -> dict[str, Any]:
        transport = httpx.MockTransport(script)
        async with tallyreel.AsyncClient(BASE, "t", transport=transport) as client:
            return await client.result("T1")

    assert asyncio.run(read()) == {"version": 1}


def test_the_ledger_is_read_page_by_page() -> None:
    first = {"entries": [{"id": "2"}], "cursor": "c"}
    script = Script(answer(200, first), answer(200, {"entries": [{"id": "1"}], "cursor": None}))

    with script.client() as client:
        assert [entry["id"] for entry in client.ledger()] == ["2", "1"]

    assert dict(script.asked[1].url.params) == {"cursor": "c"}


def test_the_asynchronous_client_runs_the_same_flows(tmp_path: Path) -> None:
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(FILE)
    slot = {"url": "https://files.example/", "fields": {"key": "k"}, "upload": "S"}
    script = Script(
        answer(201, slot),
        httpx.Response(204),
        None,
        answer(202, shown("queued")),
        answer(200, delivered()),
        answer(200, delivered()),
        part,
    )

    async def sleep(seconds: float) -> None:
        script.slept.append(seconds)

    async def whole() -> Path:
        transport = httpx.MockTransport(script)
        async with tallyreel.AsyncClient(BASE, lambda: "t", transport=transport, sleep=sleep) as c:
            source = await c.upload(photo, kind="image_to_video")
            task = await c.create("image_to_video", {"source": source})
            await c.wait(task["id"])
            return await c.download(task["id"], tmp_path / "clip.mp4")

    assert asyncio.run(whole()).read_bytes() == FILE
    form = script.asked[1]
    assert "authorization" not in form.headers
    assert form.content.index(b'name="key"') < form.content.index(b'name="file"')
    assert json.loads(script.asked[2].content)["input"] == {"source": "S"}


def test_names_below_localhost_are_reached() -> None:
    address, headers = located("http://abc.execute-api.localhost:4590/")

    assert (address, headers) == (
        "http://127.0.0.1:4590",
        {"Host": "abc.execute-api.localhost:4590"},
    )
    assert located("https://api.example/v/") == ("https://api.example/v", {})
