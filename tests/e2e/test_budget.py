"""What one task may consume: the design's budget, counted on the emulator, which bills as AWS."""

from pathlib import Path

import pytest

from bench.task import BUDGET, consumption, figures
from local.instance import Emulator

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


def test_a_delivered_task_stays_within_its_budget(bare_emulator: Emulator, tmp_path: Path) -> None:
    found = figures(consumption(bare_emulator, tmp_path))

    assert all(0 < found[name] <= most for name, most in BUDGET.items()), found
