from collections.abc import Iterator

import pytest

from tests.simulation.cloud import Cloud
from tests.simulation.cloud import cloud as opened


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    with opened() as made:
        yield made
