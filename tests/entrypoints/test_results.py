"""What was made, over HTTP: documents are shown, films are led to."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.analysis.result import result
from functions.domain.media import source_key
from functions.domain.states import Event
from functions.domain.tasks import Happening, Output
from functions.domain.tickets import TaskRef
from functions.entrypoints.http.results import SHOWN_BYTES_MAX
from functions.pipeline.advance import advance
from tests.analysis.films import header_of, viewing
from tests.doubles.world import World
from tests.entrypoints.conftest import ALICE, Answer, Call
from tests.factories import OUTPUT, ulid

KEY = "out/alice/1.json"
DOCUMENT = result(viewing(parts=[]), [], {"provider": "local"}, None)
VIDEO = {"kind": "video_analysis", "input": {"source": ulid(2), "language": "de"}}
ADDRESS = "https://example.com/film.mp4"


def order(call: Call, body: dict[str, Any]) -> Answer:
    return call("POST", "/v1/tasks", body=body, headers={"idempotency-key": "k" * 20})


@pytest.fixture
def video(call: Call, world: World) -> str:
    """An ordered analysis; the path of the task."""
    world.media.files[source_key("alice", ulid(2))] = (header_of(20.0), "video/mp4")
    world.media.files[KEY] = (DOCUMENT, "application/json")
    return order(call, VIDEO).headers["Location"]


@pytest.fixture
def film(call: Call) -> str:
    clip = {"kind": "image_to_video", "input": {"source": ulid(1), "seconds": 4}}
    return order(call, clip).headers["Location"]


def deliver(world: World, path: str, **changed: Any) -> None:
    until = world.clock.now() + timedelta(hours=24)
    output: Output = replace(OUTPUT, expires_at=until, **changed)
    for happening in (
        Happening(event=Event.CLAIMED, lease="l"),
        Happening(event=Event.RENDERED, output_key=output.key),
        Happening(event=Event.VERIFIED, output=output),
    ):
        task = world.store.get(TaskRef(account="alice", id=path.rpartition("/")[2]))
        assert task
        advance(world, task, happening)


def analysed(world: World, path: str, **changed: Any) -> None:
    given = {"key": KEY, "content_type": "application/json", "codec": "json", "thumbnails": 2}
    deliver(world, path, **(given | {"size_bytes": len(DOCUMENT)} | changed))


def code(answer: Answer) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status, answer.body["code"]


def test_a_document_is_shown_as_it_was_verified(call: Call, world: World, video: str) -> None:
    analysed(world, video)

    answer = call("GET", f"{video}/result")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Vary"] == "Accept"
    assert answer.body == json.loads(DOCUMENT)


def test_a_document_is_shown_as_a_page_with_its_key_frames(
    call: Call, world: World, video: str
) -> None:
    analysed(world, video)

    answer = call("GET", f"{video}/result", headers={"accept": "text/markdown, */*;q=0.1"})

    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert "## Storyboard" in answer.body
    assert "![shot 2](memory:out/alice/1-shot-002.jpg?" in answer.body


def test_a_task_shows_links_to_the_key_frames(call: Call, world: World, video: str) -> None:
    analysed(world, video)

    shown = call("GET", video).body["result"]

    assert [link.partition("?")[0] for link in shown["thumbnails"]] == [
        "memory:out/alice/1-shot-001.jpg",
        "memory:out/alice/1-shot-002.jpg",
    ]
    assert shown["url"].startswith(f"memory:{KEY}?filename=video_analysis-")


def test_a_film_is_led_to(call: Call, world: World, film: str) -> None:
    deliver(world, film)

    answer = call("GET", f"{film}/result")

    assert (answer.status, answer.body) == (303, "")
    assert answer.headers["Location"].startswith(f"memory:{OUTPUT.key}")


def test_a_document_too_large_to_pass_on_is_led_to(call: Call, world: World, video: str) -> None:
    analysed(world, video, size_bytes=SHOWN_BYTES_MAX + 1)

    assert call("GET", f"{video}/result").status == 303


def test_before_there_is_a_result_there_is_none(call: Call, world: World, video: str) -> None:
    assert code(call("GET", f"{video}/result")) == (409, "no-result")
    call("POST", f"{video}/cancel")
    assert code(call("GET", f"{video}/result")) == (409, "no-result")
    assert world.store.balance("alice").available == 20


def test_a_result_that_had_its_time_is_gone(call: Call, world: World, video: str) -> None:
    analysed(world, video)
    world.clock.forward(hours=25)

    assert code(call("GET", f"{video}/result")) == (410, "result-expired")


def test_a_result_whose_file_was_removed_early_is_gone(
    call: Call, world: World, video: str
) -> None:
    analysed(world, video)
    del world.media.files[KEY]

    assert code(call("GET", f"{video}/result")) == (410, "result-expired")


def test_nobody_else_reads_it(call: Call, world: World, video: str) -> None:
    analysed(world, video)
    stranger = ALICE | {"sub": "bob"}

    assert code(call("GET", f"{video}/result", claims=stranger)) == (404, "not-found")
    assert code(call("GET", f"/v1/tasks/{ulid(99)}/result")) == (404, "not-found")


def test_an_expired_analysis_can_be_ordered_again_as_it_was_asked_for(
    call: Call, world: World, video: str
) -> None:
    analysed(world, video)
    world.clock.forward(hours=25)

    again = call("GET", video).body["order_again"]

    assert again == {**VIDEO, "provider": None}
    made = call("POST", "/v1/tasks", body=again, headers={"idempotency-key": "n" * 20})
    assert made.status == 202


def test_a_quote_goes_by_the_video_that_it_names(call: Call, world: World, video: str) -> None:
    world.web.files[ADDRESS] = header_of(130.0)

    def priced(**given: str) -> tuple[int, int]:
        found = call("POST", "/v1/quotes", body={"kind": "video_analysis", "input": given}).body
        return found["units"], found["price"]

    assert priced() == (1, 5)
    assert priced(source=ulid(2)) == (1, 5)
    assert priced(url=ADDRESS) == (3, 15)
    assert video


def test_kinds_say_which_are_priced_by_their_source(call: Call) -> None:
    kinds = call("GET", "/v1/kinds").body["kinds"]

    assert {kind["name"]: kind["sized"] for kind in kinds} == {
        "image_to_video": False,
        "session_to_video": False,
        "video_analysis": True,
    }
