"""Duration sketches, whoever keeps them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from functions.adapters.dynamodb_durations import DynamoDurations
from functions.adapters.dynamodb_keys import plain, wire
from functions.domain.stores import DurationStore
from functions.domain.windows import SECONDS, Sample, Sketch, added
from tests.contracts.conftest import BACKENDS, TABLE, table_client
from tests.doubles.world import START, MemoryDurations

WRITE_UNIT_BYTES = 1024


@pytest.fixture(params=BACKENDS)
def durations(request: pytest.FixtureRequest, aws_environment: None) -> Iterator[DurationStore]:
    assert aws_environment is None
    if request.param == "memory":
        yield MemoryDurations()
        return
    with table_client(request.param, request) as client:
        yield DynamoDurations(client, TABLE)


SKETCH = added(
    Sketch(since=START),
    [Sample(seconds=2.0**each, at=START + timedelta(hours=each)) for each in range(16)],
)


def test_nothing_is_there_before_it_was_written(durations: DurationStore) -> None:
    assert durations.read("image_to_video", "fal") is None


def test_gives_back_what_was_written_and_counts_versions(durations: DurationStore) -> None:
    assert durations.write("image_to_video", "fal", SKETCH)

    found = durations.read("image_to_video", "fal")
    assert found is not None
    assert (found.since, found.weights, found.version) == (SKETCH.since, SKETCH.weights, 1)
    assert durations.write("image_to_video", "fal", found)
    again = durations.read("image_to_video", "fal")
    assert again is not None
    assert again.version == 2


def test_the_slower_of_two_rivals_is_told(durations: DurationStore) -> None:
    assert durations.write("image_to_video", "fal", SKETCH)
    assert not durations.write("image_to_video", "fal", SKETCH)

    known = durations.read("image_to_video", "fal")
    assert known is not None
    assert durations.write("image_to_video", "fal", known)
    assert not durations.write("image_to_video", "fal", known)


def test_kinds_and_providers_are_kept_apart(durations: DurationStore) -> None:
    assert durations.write("image_to_video", "fal", SKETCH)

    assert durations.read("image_to_video", "veo") is None
    assert durations.read("session_to_video", "fal") is None


def test_the_largest_sketch_there_can_be_fits_into_two_write_units() -> None:
    low, high = SECONDS
    every = [
        Sample(seconds=low * (high / low) ** (step / 3000), at=START)
        for step in range(3001)
        for _ in range(40)
    ]
    full = added(Sketch(since=START), every)
    sizes = [len(str(bucket)) + 1 + _number_bytes(of) for bucket, of in full.weights.items()]

    assert len(full.weights) == 191
    assert sum(sizes) + 120 < 2 * WRITE_UNIT_BYTES  # and its keys, date, version and braces
    assert plain(wire({"weights": {"1": 2}})) == {"weights": {"1": 2}}


def _number_bytes(of: int) -> int:
    """As DynamoDB counts: two digits a byte, one more, and one for the map's entry."""
    return (len(str(of)) + 1) // 2 + 1 + 1
