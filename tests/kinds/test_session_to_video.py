"""What can be ordered of a recorded session, and what is refused before credits are held."""

import gzip
from typing import Any

import pytest

from functions.domain.kinds import InvalidInput, Order, Runs
from functions.domain.media import HEAD_BYTES, MediaHead
from functions.kinds import session_to_video as kind
from functions.media import recording
from functions.media.replay_plan import price_credits
from tests.factories import ulid
from tests.media.sessions import simple


def ordered(**more: Any) -> Order | InvalidInput:
    return kind.order({"source": ulid(1), **more})


def seen(content: bytes) -> MediaHead:
    return MediaHead(
        key="in/alice/1",
        size_bytes=len(content),
        etag='"1"',
        content_type="application/json",
        head=content[:HEAD_BYTES],
    )


def test_every_recording_that_is_accepted_can_be_ordered_whole() -> None:
    assert recording.BOUNDS.seconds_max == 60 * kind.MINUTES_MAX
    assert kind.KIND.runs is Runs.WORKER


def test_the_minutes_are_the_price_and_bound_what_is_promised() -> None:
    order = ordered(minutes=3, size="1280x720")

    assert isinstance(order, Order)
    assert order.units * order.unit_price == price_credits(180)
    assert (order.promise.seconds, order.promise.width, order.promise.height) == (180, 1280, 720)
    assert order.promise.held_allowed


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"minutes": 0}, "/input/minutes"),
        ({"minutes": 241}, "/input/minutes"),
        ({"fps": 61}, "/input/fps"),
        ({"size": "1281x720"}, "/input/size"),
        ({"size": "62x720"}, "/input/size"),
        ({"size": "wide"}, "/input/size"),
        ({"speed": 17}, "/input/speed"),
        ({"skip_inactivity": 0.1}, "/input/skip_inactivity"),
        ({"colour": "red"}, "/input/colour"),
    ],
)
def test_what_cannot_be_made_is_named(more: dict[str, Any], pointer: str) -> None:
    refused = ordered(**more)

    assert isinstance(refused, InvalidInput)
    assert [fault.pointer for fault in refused.faults] == [pointer]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (simple().json(), None),
        (gzip.compress(simple().json()), None),
        (b"[]", "recording-empty"),
        (b"<html>", "recording-invalid-json"),
        (simple().json()[:-40], "recording-invalid-json"),
        (b"<html>" * HEAD_BYTES, "recording-invalid-json"),
    ],
)
def test_a_recording_is_looked_at_before_credits_are_held(content: bytes, code: str | None) -> None:
    refused = kind.examine(seen(content))

    assert (refused.code if refused else None) == code
