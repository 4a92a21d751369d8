from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.cloud import Cloud
from tests.simulation.cloud import cloud as opened
from tests.simulation.scenarios import town
from tests.simulation.story import Story


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    with opened() as made:
        yield made


@pytest.fixture
def story(cloud: Cloud, tmp_path: Path) -> Story:
    """A customer with credits and a photo, before the first order."""
    cloud.reset({})
    begun = Story(town=town(cloud, tmp_path))
    begun.begin()
    return begun
