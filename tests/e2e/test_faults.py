"""Orders under faults: throttles, errors, resets, lost answers, timeouts, conflicts, power cuts."""

from collections.abc import Callable

import pytest

from local import faults
from local.faults import FaultProxy, Rule
from local.stack import Stack
from tests.e2e.storm import PRICE, Outcome, Storm, Weather

FIFTH: tuple[list[Rule], ...] = (
    faults.throttle(0.05),
    faults.failure(0.03),
    faults.reset(0.04),
    faults.lost_answer(0.04),
    faults.conflict(0.03),
    faults.timeout(0.01),
)
KINDS = {
    "reset",
    "response:abort",
    "timeout:7000ms",
    "error:InternalServerError",
    "error:ProvisionedThroughputExceededException",
    "error:TransactionCanceledException",
}

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


def check(outcome: Outcome, *, each: int) -> None:
    """Every acknowledged order is there and has ended, and its account says what it cost."""
    assert all(task.state.done for task in outcome.tasks)
    for account, paths in outcome.acknowledged.items():
        theirs = [task for task in outcome.tasks if task.account == account]
        assert {f"/v1/tasks/{task.id}" for task in theirs} == paths
        spent = PRICE * sum(task.state == "delivered" for task in theirs)
        assert outcome.balances[account] == {
            "available": PRICE * each - spent,
            "held": 0,
            "spent": spent,
        }


def test_few_tasks_end_under_faults_and_a_power_cut(
    rough: tuple[Stack, FaultProxy], photo: bytes, record_property: Callable[[str, object], None]
) -> None:
    weather = Weather(rules=FIFTH[:-1], power_cuts=1, patience=4.0)

    outcome = Storm(*rough, photo, weather).run(accounts=2, each=2)

    record_property("faults", outcome.figures())
    print(outcome.figures())  # noqa: T201 - `make prove` shows it
    check(outcome, each=2)
    assert outcome.killed
    assert outcome.faults


@pytest.mark.slow
def test_two_hundred_tasks_end_under_a_fifth_of_faults(
    rough: tuple[Stack, FaultProxy], photo: bytes, record_property: Callable[[str, object], None]
) -> None:
    weather = Weather(rules=FIFTH, outages=3, power_cuts=8, patience=30.0, most_seconds=3000.0)

    outcome = Storm(*rough, photo, weather).run(accounts=10, each=20)

    record_property("faults", outcome.figures())
    print(outcome.figures())  # noqa: T201 - `make prove` shows it
    check(outcome, each=20)
    assert len(outcome.tasks) == 200
    assert outcome.killed
    assert outcome.faults.keys() >= KINDS
    assert sum(outcome.faults.values()) > outcome.calls / 8
