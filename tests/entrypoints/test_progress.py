"""How far a worker is, as its customer sees it."""

from dataclasses import replace

from functions.domain.media import source_key
from functions.domain.states import Event
from functions.domain.tasks import Happening, Task
from functions.domain.work import Progress
from functions.pipeline.advance import advance
from tests.doubles.world import World
from tests.entrypoints.conftest import Call
from tests.factories import ulid
from tests.media.sessions import simple
from tests.pipeline.conftest import now_of

KIND = "session_to_video"


def rendering(world: World, call: Call) -> Task:
    world.media.files[source_key("alice", ulid(2))] = (simple().json(), "application/json")
    body = {"kind": KIND, "input": {"source": ulid(2)}}
    made = call("POST", "/v1/tasks", body=body, headers={"idempotency-key": "key-0000000000001"})
    (task,) = (each for each in world.store.tasks("alice", limit=9, cursor=None).items)
    assert task.id == made.body["id"]
    advance(world, task, Happening(event=Event.CLAIMED, lease="lease-1"))
    return now_of(world, task)


def test_progress_is_shown_while_it_renders_and_changes_the_etag(world: World, call: Call) -> None:
    task = rendering(world, call)
    path = f"/v1/tasks/{task.id}"
    before = call("GET", path)
    assert before.body["progress"] is None

    world.progress.write(task, Progress(done=10, total=40), world.clock.now())

    seen = call("GET", path, headers={"if-none-match": before.headers["ETag"]})
    assert (seen.status, seen.body["progress"]) == (200, {"done": 10, "total": 40})
    again = call("GET", path, headers={"if-none-match": seen.headers["ETag"]})
    assert again.status == 304


def test_what_another_worker_had_done_is_not_shown(world: World, call: Call) -> None:
    task = rendering(world, call)
    another = replace(task, lease="lease-0")
    world.progress.write(another, Progress(done=30, total=40), world.clock.now())

    assert call("GET", f"/v1/tasks/{task.id}").body["progress"] is None
