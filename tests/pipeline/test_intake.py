from pathlib import Path
from typing import Any

import pytest

from functions.domain.credits import Balance
from functions.domain.errors import OutcomeUnknown, Unavailable
from functions.domain.kinds import InvalidInput
from functions.domain.media import source_key
from functions.domain.outcomes import Refused
from functions.domain.results import Busy, Creation, KeyReused, NoCredit, Replayed
from functions.domain.states import TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import NewTask, TaskRef
from functions.pipeline import intake
from functions.pipeline.relay import ticket_of
from functions.pipeline.render import render
from tests.doubles.store import MemoryStore
from tests.doubles.world import World
from tests.factories import ulid
from tests.pipeline.conftest import now_of, ref_of

KEY = "key-0000000000001"


def place(world: World, order: dict[str, Any], *, key: str = KEY, account: str = "alice") -> object:
    return intake.order(world, account, key, "image_to_video", order)


def pointers(result: object) -> list[str]:
    assert isinstance(result, InvalidInput)
    return [fault.pointer for fault in result.faults]


def test_an_order_holds_its_price(world: World, ordered: Task) -> None:
    assert ordered.state is TaskState.QUEUED
    assert ordered.price == 8
    assert world.store.balance("alice") == Balance(available=12, held=8, open=1)
    assert ordered.due_at is not None


def test_a_double_click_is_told_which_task_runs(
    world: World, ordered: Task, order: dict[str, Any]
) -> None:
    assert place(world, order, key="key-0000000000002") == Busy(id=ordered.id)


def test_the_same_photo_uploaded_again_is_the_same_source(
    world: World, ordered: Task, order: dict[str, Any]
) -> None:
    same = world.media.files[source_key("alice", ulid(1))]
    world.media.files[source_key("alice", ulid(2))] = same

    again = place(world, order | {"source": ulid(2)}, key="key-0000000000002")

    assert again == Busy(id=ordered.id)


def test_a_repeat_gets_the_same_task_even_when_its_source_is_gone(
    world: World, ordered: Task, order: dict[str, Any]
) -> None:
    world.media.files.clear()

    assert place(world, order) == Replayed(id=ordered.id)


def test_a_key_is_for_one_request(world: World, ordered: Task, order: dict[str, Any]) -> None:
    assert ordered.price == 8
    assert place(world, order | {"seconds": 5}) == KeyReused()


def test_without_credit_nothing_is_held(world: World, order: dict[str, Any]) -> None:
    assert place(world, order | {"seconds": 11}) == NoCredit(available=20, price=22)
    assert world.store.balance("alice") == Balance(available=20)


def test_another_accounts_upload_does_not_exist(world: World, order: dict[str, Any]) -> None:
    assert pointers(place(world, order, account="bob")) == ["/input/source"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"colour": "red"}, "/input/colour"),
        ({"seconds": 0}, "/input/seconds"),
        ({"seconds": 31}, "/input/seconds"),
        ({"seconds": "4"}, "/input/seconds"),
        ({"motion": "spin"}, "/input/motion"),
        ({"aspect": "4:3"}, "/input/aspect"),
        ({"source": "../../etc"}, "/input/source"),
    ],
)
def test_bad_input_is_pointed_at(
    world: World, order: dict[str, Any], change: dict[str, Any], pointer: str
) -> None:
    assert pointers(place(world, order | change)) == [pointer]
    assert world.store.balance("alice") == Balance(available=20)


def test_an_unknown_kind_is_pointed_at(world: World, order: dict[str, Any]) -> None:
    assert pointers(intake.order(world, "alice", KEY, "song", order)) == ["/kind"]


def test_what_is_no_photo_is_refused_before_credits_are_held(
    world: World, order: dict[str, Any]
) -> None:
    world.media.files[source_key("alice", ulid(1))] = (b"<html>no photo</html>", "image/png")

    refused = place(world, order)

    assert isinstance(refused, Refused)
    assert refused.code == "photo-not-an-image"
    assert world.store.balance("alice") == Balance(available=20)


class LosesAnswers(MemoryStore):
    """Writes, or does not, and never says so."""

    writes = True

    def create(self, new: NewTask) -> Creation:
        if self.writes:
            super().create(new)
        raise OutcomeUnknown


def test_a_lost_answer_is_looked_up(world: World, order: dict[str, Any]) -> None:
    store = LosesAnswers()
    store.balances["alice"] = world.store.balance("alice")
    world.store = store

    made = place(world, order)

    assert isinstance(made, Replayed)
    store.writes = False
    with pytest.raises(Unavailable):
        place(world, order | {"seconds": 5}, key="key-0000000000002")


class TestUpload:
    def test_signs_for_one_key_type_and_size(self, world: World) -> None:
        slot = intake.upload(world, "alice", "image_to_video", "image/jpeg")

        assert isinstance(slot, intake.Slot)
        assert slot.form.fields["key"] == f"in/alice/{slot.id}"
        assert slot.form.fields["Content-Type"] == "image/jpeg"

    @pytest.mark.parametrize(
        ("kind", "content_type", "pointer"),
        [
            ("image_to_video", "image/gif", "/content_type"),
            ("image_to_video", "text/html", "/content_type"),
            ("song", "image/jpeg", "/kind"),
        ],
    )
    def test_refuses_what_no_kind_takes(
        self, world: World, kind: str, content_type: str, pointer: str
    ) -> None:
        assert pointers(intake.upload(world, "alice", kind, content_type)) == [pointer]


class TestCancel:
    def test_returns_the_credits(self, world: World, ordered: Task) -> None:
        canceled = intake.cancel(world, ref_of(ordered))

        assert canceled is not None
        assert canceled.state is TaskState.CANCELED
        assert world.store.balance("alice") == Balance(available=20)

    def test_twice_is_once(self, world: World, ordered: Task) -> None:
        first, second = intake.cancel(world, ref_of(ordered)), intake.cancel(world, ref_of(ordered))

        assert first == second
        assert world.store.balance("alice") == Balance(available=20)

    def test_comes_too_late_for_a_result_that_is_being_checked(
        self, world: World, ordered: Task, tmp_path: Path
    ) -> None:
        render(world, ticket_of(ordered), tmp_path)

        found = intake.cancel(world, ref_of(ordered))

        assert found == now_of(world, ordered)
        assert found is not None
        assert found.state is TaskState.VERIFYING

    def test_does_not_know_foreign_tasks(self, world: World, ordered: Task) -> None:

        assert intake.cancel(world, TaskRef(account="bob", id=ordered.id)) is None
