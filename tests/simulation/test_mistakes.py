"""The search of faults is worth what it finds: each mistake in the stages must be found by it."""

from pathlib import Path

import pytest

from tests.simulation.cloud import Cloud
from tests.simulation.mistakes import MISTAKES, Mistake, caught


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_mistake_is_found(cloud: Cloud, mistake: Mistake, tmp_path: Path) -> None:
    assert caught(mistake, cloud, tmp_path)
