"""A video that a model is asked about: each question paid once, whatever happens around it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from functions.domain.credits import Balance
from functions.domain.errors import OutcomeUnknown, Unavailable
from functions.domain.jobs import Broken, Fault, NotSent, Rejected, Unknown, failure
from functions.domain.kinds import InvalidInput
from functions.domain.media import Unreachable, source_key
from functions.domain.models import Answered, Asked, Model, Unusable
from functions.domain.outcomes import Refused
from functions.domain.results import Busy, Created
from functions.domain.rules import Rules
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Change, Route, Task
from functions.domain.work import Errand
from functions.pipeline import intake, operate
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import Rendering, render
from functions.pipeline.settle import settle
from functions.pipeline.sweep import sweep
from functions.pipeline.tend import StayOver
from functions.pipeline.verify import verify
from tests.analysis.films import header_of, text, viewing
from tests.doubles.models import ScriptedModel, ScriptedViewer
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import now_of, ref_of

KIND = "video_analysis"
VIDEO = header_of(seconds=20.0)
URL = "https://films.example/one.mp4"
ROUTES = {KIND: (Route(provider="gemini", lane=KIND), Route(provider="local", lane=KIND))}
CUT = Unusable(failure=failure(Fault.TROUBLE, "answer-truncated", again=True))
BLOCKED = Unusable(failure=failure(Fault.REFUSED_CONTENT))
BUSY = Rejected(failure=failure(Fault.THROTTLED))
BAD = Rejected(failure=failure(Fault.BAD_INPUT))


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def viewer() -> ScriptedViewer:
    return ScriptedViewer()


@pytest.fixture
def world(model: ScriptedModel, viewer: ScriptedViewer) -> World:
    world = World(models=model, workshop=viewer, rules=Rules(routes=ROUTES))
    operate.grant(world, "alice", "grant-0000000001", 20, None)
    world.media.files[source_key("alice", ulid(1))] = (VIDEO, "video/mp4")
    world.web.files[URL] = VIDEO
    return world


def order(world: World, **given: Any) -> Task:
    provider = given.pop("provider", "gemini")
    wanted = given or {"source": ulid(1)}
    key = f"key-of-{wanted}"
    made = intake.order(world, "alice", key, KIND, wanted, provider=provider)
    assert isinstance(made, Created)
    return made.task


@pytest.fixture
def ordered(world: World) -> Task:
    return order(world)


Run = Callable[..., Rendering]


@pytest.fixture
def run(world: World, tmp_path: Path) -> Run:
    """Work off a task's ticket as a worker does, in a folder of its own."""

    def once(task: Task, left: float | None = None) -> Rendering:
        now = now_of(world, task)
        world.clock.at = max(world.clock.at, now.not_before or world.clock.at)
        workdir = tmp_path / str(len(list(tmp_path.iterdir())))
        workdir.mkdir()
        errand = Errand(extend=lambda: None, seconds_left=lambda: left)
        return render(world, ticket_of(now), workdir, errand)

    return once


def ended(world: World, task: Task) -> Task:
    now = now_of(world, task)
    finding = verify(world, ref_of(task), now.attempt, Path())
    assert finding is not None
    settle(world, ref_of(task), now.attempt, finding)
    return now_of(world, task)


def document(world: World, task: Task) -> Any:
    assert task.output is not None
    return json.loads(world.media.files[task.output.key][0])


def balance(world: World) -> Balance:
    return world.store.balance("alice")


def swept(world: World, task: Task) -> Task:
    """Sweep until nothing more happens by itself."""
    for _ in range(20):
        now = now_of(world, task)
        if now.due_at is None or now.state is TaskState.QUEUED:
            return now
        world.clock.at = max(world.clock.at, now.due_at)
        sweep(world, world.clock.at.replace(year=world.clock.at.year + 1))
    raise AssertionError("it never ends")


def charged(world: World, task: Task) -> list[tuple[str | None, bool | None]]:
    return [(each.outcome, each.charged) for each in world.store.attempts(ref_of(task))]


def test_a_video_becomes_a_document(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    assert ordered.price == 5
    assert run(ordered) is Rendering.RENDERED
    task = ended(world, ordered)

    assert task.state is TaskState.DELIVERED
    assert task.output is not None
    assert (task.output.content_type, task.output.thumbnails) == ("application/json", 2)
    assert task.output.key.endswith(".json")
    assert len(document(world, task)["transcript"]) == 4
    assert len(model.asked) == 2
    assert model.kept == set()
    assert balance(world) == Balance(available=15, held=0, spent=5)
    assert charged(world, task) == [("succeeded", True)]


def test_its_key_frames_lie_beside_it(world: World, ordered: Task, run: Run) -> None:
    run(ordered)
    key = ended(world, ordered).output
    assert key is not None
    stem = key.key.removesuffix(".json")

    assert world.media.files[f"{stem}-shot-002.jpg"] == (b"shot-002.jpg", "image/jpeg")


def test_a_model_is_shown_no_more_than_it_looks_at(
    world: World, ordered: Task, run: Run, viewer: ScriptedViewer, model: ScriptedModel
) -> None:
    run(ordered)
    gemini = world.providers["gemini"]
    assert isinstance(gemini, Model)

    assert viewer.orders[0]["diet"]["side_max"] == gemini.diet.side_max
    assert viewer.orders[0]["seconds"] == 20.0
    assert [clip.data for clip in model.clips] == [b"part-1.mp4", b"part-2.mp4"]
    assert model.clips[0].place.startswith("s3://memory/out/alice/")


def test_without_a_model_what_can_be_measured_is_delivered(
    world: World, run: Run, viewer: ScriptedViewer
) -> None:
    task = order(world, source=ulid(1), provider="local")
    run(task)
    delivered = ended(world, task)

    assert delivered.state is TaskState.DELIVERED
    assert document(world, delivered)["transcript"] is None
    assert viewer.orders[0]["diet"] is None
    assert charged(world, delivered) == []


# --- what a model may answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "state", "code", "paid"),
    [
        (BLOCKED, TaskState.FAILED, "refused-content", True),
        (BAD, TaskState.FAILED, "bad-input", False),
        (BUSY, TaskState.QUEUED, "throttled", False),
        (CUT, TaskState.QUEUED, "answer-truncated", True),
        (NotSent(cause="unreachable"), TaskState.QUEUED, "provider-unreachable", False),
        (Answered(text="{"), TaskState.QUEUED, "answer-unreadable", True),
        (Answered(text=text(0, shots=[])), TaskState.QUEUED, "answer-shots", True),
    ],
)
def test_what_is_no_answer_is_never_an_empty_success(
    world: World,
    ordered: Task,
    run: Run,
    model: ScriptedModel,
    said: Asked,
    state: TaskState,
    code: str,
    *,
    paid: bool,
) -> None:
    model.next = [said]
    run(ordered)
    task = now_of(world, ordered)

    assert (task.state, task.code) == (state, code)
    assert balance(world).held == (5 if state is TaskState.QUEUED else 0)
    assert charged(world, task) == [("failed", paid)]
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        NotSent(cause="unreachable"),
        Rejected(failure=failure(Fault.TROUBLE, "clip-not-ready")),
    ],
)
def test_a_clip_that_cannot_be_shown_costs_nothing(
    world: World, ordered: Task, run: Run, model: ScriptedModel, said: Rejected | NotSent
) -> None:
    model.show_next = [said]

    assert run(ordered) is Rendering.FAILED
    assert model.asked == []
    assert charged(world, ordered) == []
    assert run(ordered) is Rendering.RENDERED


def test_a_cut_answer_is_asked_for_in_shorter_parts_once(
    world: World, ordered: Task, run: Run, model: ScriptedModel, viewer: ScriptedViewer
) -> None:
    model.next = [CUT, CUT]
    run(ordered)
    run(ordered)
    first, second = (each["diet"]["part_seconds"] for each in viewer.orders)

    assert second == first // 2
    task = now_of(world, ordered)
    assert (task.state, task.code) == (TaskState.FAILED, "answer-too-long")
    assert balance(world) == Balance(available=20, held=0, spent=0)


def test_a_paid_answer_is_not_paid_twice(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    model.next = [Answered(text=text(0)), BUSY]
    run(ordered)
    assert run(ordered) is Rendering.RENDERED

    assert len(model.asked) == 3
    assert document(world, ended(world, ordered))["made_by"]["questions"] == 2
    assert charged(world, ordered) == [("failed", True), ("succeeded", True)]


# --- what a model does not hear -------------------------------------------------------------------


@pytest.fixture
def deaf(world: World) -> None:
    """Models that only see, and somebody who writes down what is said."""
    gemini = world.providers["gemini"]
    assert isinstance(gemini, Model)
    sees = replace(gemini, listener="transcribe", diet=replace(gemini.diet, sound=False))
    world.providers = {**world.providers, "gemini": sees}


QUIET = {"spoken": False, "transcript": [], "language": None}


@pytest.mark.usefixtures("deaf")
def test_what_a_model_does_not_hear_is_written_down_beside_it(
    world: World, ordered: Task, run: Run, model: ScriptedModel, viewer: ScriptedViewer
) -> None:
    model.next = [Answered(text=text(part, **QUIET)) for part in (0, 1)]
    assert run(ordered) is Rendering.RENDERED
    found = document(world, ended(world, ordered))

    assert [said["start"] for said in found["transcript"]] == [1.0, 11.0]
    assert found["language"] == "fr-FR"
    assert found["made_by"]["listener"] == "transcribe"
    assert viewer.orders[0]["diet"]["sound"] is True
    assert "do not hear" in model.asked[0].prompt
    assert len(set(model.listened)) == 2


@pytest.mark.usefixtures("deaf")
def test_what_was_listened_to_is_asked_for_under_its_name_again(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    model.hear_next = [NotSent(cause="timed-out")]
    model.next = [Answered(text=text(part, **QUIET)) for part in (0, 1)]
    assert run(ordered) is Rendering.FAILED
    assert model.asked == []
    assert run(ordered) is Rendering.RENDERED

    assert model.listened[0] == model.listened[1]
    assert charged(world, ordered) == [("succeeded", True)]


@pytest.mark.usefixtures("deaf")
def test_nobody_listens_to_silence(
    world: World, ordered: Task, run: Run, model: ScriptedModel, viewer: ScriptedViewer
) -> None:
    viewer.seen = viewing(sound=None)
    model.next = [Answered(text=text(part, **QUIET)) for part in (0, 1)]
    assert run(ordered) is Rendering.RENDERED

    assert model.listened == []
    assert document(world, ended(world, ordered))["transcript"] is None


@pytest.mark.usefixtures("deaf")
def test_a_transcript_that_cannot_be_had_ends_the_task_without_a_charge(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    model.hear_next = [Rejected(failure=failure(Fault.TROUBLE, "transcript-failed", again=False))]
    assert run(ordered) is Rendering.REFUSED

    assert model.asked == []
    assert balance(world) == Balance(available=20, held=0, spent=0)


# --- what may be lost ----------------------------------------------------------------------------


def test_an_answer_that_is_lost_is_not_asked_for_again(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    model.next = [Unknown(cause="timed-out")]
    assert run(ordered) is Rendering.UNKNOWN
    assert now_of(world, ordered).state is TaskState.CHECKING
    task = swept(world, ordered)

    assert (task.state, task.code) == (TaskState.FAILED, "answer-lost")
    assert len(model.asked) == 1
    assert balance(world) == Balance(available=20, held=0, spent=0)
    assert charged(world, task) == [(None, None)]
    assert world.metrics.counts["PossibleSpend"] == 1


class Died(Exception):
    """The worker, at once."""


def test_a_worker_that_dies_while_a_model_thinks_ends_without_a_charge(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    def dies() -> None:
        raise Died

    model.before = dies
    with pytest.raises(Died):
        run(ordered)
    task = swept(world, ordered)

    assert (task.state, task.code) == (TaskState.FAILED, "answer-lost")
    assert len(model.asked) == 1
    assert balance(world).held == 0


def test_a_worker_that_dies_before_it_asked_is_replaced(
    world: World, ordered: Task, run: Run, model: ScriptedModel, viewer: ScriptedViewer
) -> None:
    def dies() -> None:
        raise Died

    viewer.between = dies
    with pytest.raises(Died):
        run(ordered)
    assert swept(world, ordered).state is TaskState.QUEUED

    viewer.between = None
    assert run(ordered) is Rendering.RENDERED
    assert len(model.asked) == 2


def test_a_worker_that_dies_with_an_answer_in_the_bucket_is_replaced_and_nothing_asked_again(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = world.media.put_bytes

    def keeps_and_dies(content: bytes, key: str, *, content_type: str) -> None:
        kept(content, key, content_type=content_type)
        if len(model.asked) == 2:
            raise Died

    monkeypatch.setattr(
        type(world.media), "put_bytes", lambda _self, *a, **k: keeps_and_dies(*a, **k)
    )
    with pytest.raises(Died):
        run(ordered)
    monkeypatch.undo()
    assert swept(world, ordered).code == "worker-lost"
    assert run(ordered) is Rendering.RENDERED

    assert len(model.asked) == 2
    assert ended(world, ordered).state is TaskState.DELIVERED
    assert balance(world).spent == 5


def test_a_worker_that_has_to_go_does_not_ask_what_it_cannot_wait_for(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    assert run(ordered, left=float("inf")) is Rendering.RENDERED
    model.asked.clear()
    other = order(world, url=URL)
    assert run(other, left=60.0) is Rendering.GIVEN_BACK

    assert model.asked == []
    assert now_of(world, other).attempt == 1


def test_a_worker_whose_time_ends_while_a_model_thinks_leaves_it_unknown(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    def over() -> None:
        raise StayOver

    model.before = over
    assert run(ordered) is Rendering.UNKNOWN
    assert swept(world, ordered).code == "answer-lost"


def test_a_task_that_is_withdrawn_while_a_model_thinks_is_not_charged(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    model.before = lambda: intake.cancel(world, ref_of(ordered))

    assert run(ordered) is Rendering.SUPERSEDED
    assert now_of(world, ordered).state is TaskState.CANCELED
    assert balance(world) == Balance(available=20, held=0, spent=0)


def test_an_answer_that_comes_when_its_worker_was_given_up_is_kept_and_not_paid_again(
    world: World, ordered: Task, run: Run, model: ScriptedModel
) -> None:
    def lapses() -> None:
        model.before = None
        world.clock.forward(seconds=91)
        sweep(world, world.clock.at.replace(year=2099))

    model.before = lapses
    assert run(ordered) is Rendering.SUPERSEDED
    assert swept(world, ordered).code == "worker-lost"
    assert run(ordered) is Rendering.RENDERED

    assert len(model.asked) == 2
    assert charged(world, ordered) == [("worker-lost", True), ("succeeded", True)]


def test_a_used_up_budget_puts_the_ticket_off(world: World, ordered: Task, run: Run) -> None:
    gemini = world.providers["gemini"]
    assert isinstance(gemini, Model)
    world.providers = {**world.providers, "gemini": replace(gemini, submits_per_minute=0)}

    assert run(ordered) is Rendering.DEFERRED
    assert now_of(world, ordered).state is TaskState.QUEUED
    ((ticket, delay),) = world.queue.tickets
    assert ticket.lane == KIND
    assert 20 <= delay <= 40


# --- what is written down, whatever comes between -----------------------------------------------


def troubled(
    monkeypatch: pytest.MonkeyPatch, of: object, name: str, *troubles: BaseException | None
) -> None:
    """Let the next calls of a method end in trouble, after they were made; None spares one."""
    method, left = getattr(type(of), name), list(troubles)

    def broken(*given: Any, **named: Any) -> Any:
        trouble = left.pop(0) if left else None
        done = method(*given, **named)
        if trouble is not None:
            raise trouble
        return done

    monkeypatch.setattr(type(of), name, broken)


def test_a_question_that_is_in_the_books_is_asked_though_nobody_said_that_it_is(
    world: World, ordered: Task, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubled(monkeypatch, world.store, "apply", None, OutcomeUnknown())  # a claim, then a note

    assert run(ordered) is Rendering.RENDERED
    assert charged(world, ordered) == [("succeeded", True)]


def test_a_question_that_is_not_in_the_books_is_not_asked(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = type(world.store).apply

    def forgetful(store: Any, change: Change, *given: Any) -> Any:
        if change.row.event is Event.ASKING:
            raise OutcomeUnknown
        return apply(store, change, *given)

    monkeypatch.setattr(type(world.store), "apply", forgetful)
    with pytest.raises(OutcomeUnknown):
        run(ordered)
    monkeypatch.undo()

    assert model.asked == []
    assert swept(world, ordered).code == "worker-lost"
    assert run(ordered) is Rendering.RENDERED


def test_a_question_is_not_asked_by_a_worker_that_is_taken_for_lost(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = type(world.store).apply

    def late(store: Any, change: Change, *given: Any) -> Any:
        done = apply(store, change, *given)
        if change.row.event is Event.ASKING:
            world.clock.forward(seconds=91)
            sweep(world, world.clock.at.replace(year=2099))
            raise OutcomeUnknown
        return done

    monkeypatch.setattr(type(world.store), "apply", late)
    with pytest.raises(OutcomeUnknown):
        run(ordered)

    assert model.asked == []


def test_an_answer_is_kept_at_the_next_try(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, busy = type(world.media).put_bytes, [Unavailable(), OutcomeUnknown()]

    def puts(*given: Any, **named: Any) -> None:
        if busy:
            raise busy.pop()
        put(*given, **named)

    monkeypatch.setattr(type(world.media), "put_bytes", puts)

    assert run(ordered) is Rendering.RENDERED
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("said", "code"), [(CUT, "answer-truncated"), (BUSY, "throttled"), (BLOCKED, "refused-content")]
)
def test_what_came_of_a_question_is_written_down_at_the_next_try(
    world: World,
    ordered: Task,
    run: Run,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    said: Asked,
    code: str,
) -> None:
    model.next = [said]
    troubled(monkeypatch, world.store, "attempts", Unavailable(), Unavailable())
    run(ordered)

    assert now_of(world, ordered).code == code
    assert charged(world, ordered) == [("failed", said is not BUSY)]


@pytest.mark.parametrize(
    ("said", "how", "code", "books"),
    [
        (Unknown(cause="timed-out"), Rendering.UNKNOWN, "answer-lost", (None, None)),
        (CUT, Rendering.FAILED, "answer-truncated", ("failed", True)),
        (BUSY, Rendering.FAILED, "throttled", ("failed", False)),
        (BAD, Rendering.REFUSED, "bad-input", ("failed", False)),
        (Answered(text="{"), Rendering.FAILED, "answer-unreadable", ("failed", True)),
    ],
)
def test_a_worker_that_has_to_go_after_it_asked_says_what_came_of_it(
    world: World,
    ordered: Task,
    run: Run,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    said: Asked,
    how: Rendering,
    code: str,
    books: tuple[str | None, bool | None],
) -> None:
    model.next = [said]
    troubled(monkeypatch, model, "forget", StayOver())

    assert run(ordered) is how
    assert now_of(world, ordered).code == code
    assert charged(world, ordered) == [books]


def test_a_worker_that_has_to_go_before_an_answer_is_kept_leaves_it_unknown(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over(*_given: Any, **_named: Any) -> None:
        raise StayOver

    monkeypatch.setattr(type(world.media), "put_bytes", over)

    assert run(ordered) is Rendering.UNKNOWN
    assert swept(world, ordered).code == "answer-lost"
    assert len(model.asked) == 1


def test_what_was_answered_before_a_worker_had_to_go_stays_in_the_books(
    world: World, ordered: Task, run: Run, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubled(monkeypatch, model, "forget", StayOver())
    assert run(ordered) is Rendering.GIVEN_BACK
    assert charged(world, ordered) == [("given-back", True)]

    model.next = [BUSY]
    assert run(ordered) is Rendering.FAILED
    assert (now_of(world, ordered).attempt, charged(world, ordered)) == (2, [("failed", True)])
    assert run(ordered) is Rendering.RENDERED
    assert charged(world, ordered) == [("failed", True), ("succeeded", True)]
    assert len(model.asked) == 3


# --- where the video is --------------------------------------------------------------------------


def test_a_video_elsewhere_is_fetched_by_the_worker(world: World, run: Run) -> None:
    task = order(world, url=URL)
    assert run(task) is Rendering.RENDERED
    assert ended(world, task).state is TaskState.DELIVERED


def test_a_video_that_changed_after_it_was_priced_is_refused(world: World, run: Run) -> None:
    task = order(world, url=URL)
    world.web.files[URL] = VIDEO + b"more"

    assert run(task) is Rendering.REFUSED
    assert now_of(world, task).code == "source-changed"
    assert balance(world).held == 0


def test_a_video_that_is_gone_is_refused_and_one_out_of_reach_tried_again(
    world: World, run: Run
) -> None:
    task = order(world, url=URL)
    world.web.broken = Broken(code="timed-out")
    assert run(task) is Rendering.FAILED
    world.web.broken = None
    del world.web.files[URL]
    assert run(task) is Rendering.REFUSED


@pytest.mark.parametrize("seconds", [12.0, 17.8])
def test_a_video_whose_end_is_missing_is_refused(
    world: World, ordered: Task, run: Run, viewer: ScriptedViewer, seconds: float
) -> None:
    viewer.seen = viewing(seconds=seconds)

    assert run(ordered) is Rendering.REFUSED
    assert now_of(world, ordered).code == "video-cut-short"
    assert balance(world).held == 0


@pytest.mark.parametrize(
    "given", [{}, {"source": ulid(1), "url": URL}, {"url": "ftp://x"}, {"url": "https://a b"}]
)
def test_a_video_is_named_in_one_way(world: World, given: dict[str, Any]) -> None:
    made = intake.order(world, "alice", "key-0000000000001", KIND, given)

    assert isinstance(made, InvalidInput)
    assert balance(world).held == 0


def test_one_at_a_time_for_each_video(world: World, ordered: Task) -> None:
    again = intake.order(world, "alice", "key-0000000000002", KIND, {"source": ulid(1)})
    assert again == Busy(id=ordered.id)

    first = order_with_key(world, "key-0000000000003")
    assert isinstance(first, Created)
    assert order_with_key(world, "key-0000000000004") == Busy(id=first.task.id)


def order_with_key(world: World, key: str) -> Any:
    return intake.order(world, "alice", key, KIND, {"url": URL})


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (header_of(seconds=0.0), "video-unreadable"),
        (header_of(seconds=3 * 3600.0), "video-too-long"),
        (b"<html>not found</html>", "type-unsupported"),
        (VIDEO[:40], "video-unreadable"),
    ],
)
def test_what_has_no_usable_length_is_refused_before_anything_is_held(
    world: World, content: bytes, code: str
) -> None:
    world.media.files[source_key("alice", ulid(1))] = (content, "video/mp4")
    world.web.files[URL] = content
    for given in ({"source": ulid(1)}, {"url": URL}):
        made = intake.order(world, "alice", "key-0000000000001", KIND, given)
        assert isinstance(made, Refused)
        assert made.code == code
    assert balance(world) == Balance(available=20, held=0, spent=0)


def test_an_address_that_is_not_followed_is_refused_before_anything_is_held(world: World) -> None:
    world.web.trouble = Unreachable(code="url-refused", reason="No.")
    made = intake.order(world, "alice", "key-0000000000001", KIND, {"url": URL})

    assert made == Refused(code="url-refused", reason="No.")


def test_the_price_goes_by_the_length(world: World) -> None:
    world.media.files[source_key("alice", ulid(1))] = (header_of(seconds=61.0), "video/mp4")
    quoted = intake.quote(world, "alice", KIND, {"source": ulid(1)})
    unseen = intake.quote(world, "alice", KIND, {})

    assert isinstance(quoted, intake.Quote)
    assert isinstance(unseen, intake.Quote)
    assert (quoted.price, unseen.price) == (10, 5)
    assert order(world, source=ulid(1)).price == 10
