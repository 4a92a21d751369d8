"""How far renders are, whoever keeps it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.adapters.dynamodb_progress import DynamoProgress
from functions.domain.stores import ProgressStore
from functions.domain.work import Progress
from tests.contracts.conftest import BACKENDS, TABLE, table_client
from tests.doubles.world import START, MemoryProgress
from tests.factories import task

TASK = replace(task(), lease="lease-1")


@pytest.fixture(params=BACKENDS)
def progress(request: pytest.FixtureRequest, aws_environment: None) -> Iterator[ProgressStore]:
    assert aws_environment is None
    if request.param == "memory":
        yield MemoryProgress()
        return
    with table_client(request.param, request) as client:
        yield DynamoProgress(client, TABLE)


def test_the_newest_note_is_read(progress: ProgressStore) -> None:
    assert progress.read(TASK) is None

    progress.write(TASK, Progress(done=1, total=9), START)
    progress.write(TASK, Progress(done=5, total=9), START + timedelta(seconds=10))

    assert progress.read(TASK) == Progress(done=5, total=9)


def test_a_note_of_another_lease_says_nothing(progress: ProgressStore) -> None:
    progress.write(TASK, Progress(done=5, total=9), START)

    assert progress.read(replace(TASK, lease="lease-2")) is None


def test_an_older_note_does_not_replace_a_newer_one(progress: ProgressStore) -> None:
    progress.write(TASK, Progress(done=5, total=9), START + timedelta(seconds=10))
    progress.write(TASK, Progress(done=1, total=9), START)

    assert progress.read(TASK) == Progress(done=5, total=9)
