"""Every AWS call of every scenario, broken in every way, one at a time: see docs/recovery.md.

So is every request to a provider or a model. The classes only spread the work: the test runner
gives each to a process of its own.
"""

from pathlib import Path

import pytest

from tests.simulation.cloud import Cloud
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.search import Search

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


# Of the long ones every so many faults here; the proof makes all.
EVERY = {
    "webhook_first": 2,
    "answer_lost": 2,
    "answer_and_webhook_lost": 2,
    "request_lost": 3,
    "provider_failed": 3,
    "expiry": 2,
    "asked": 9,
    "asked_answer_lost": 7,
    "asked_truncated": 25,
    "asked_turned_away": 25,
    "asked_worker_dies": 7,
    "asked_worker_stopped": 7,
    "asked_worker_dies_with_an_answer": 25,
}


def assert_survives(cloud: Cloud, name: str, workdir: Path) -> None:
    every = EVERY.get(name, 1)
    figures = Search(cloud, BY_NAME[name], workdir, depth=1, every=every).run()

    assert not figures.wrongs, figures.wrongs[0]
    assert figures.runs * every > 4 * figures.calls


class TestDelivery:
    @pytest.mark.parametrize(
        "name", ["happy", "retry", "relay_off", "everything_twice", "rejected_once", "repacked"]
    )
    def test_ends_delivered_and_charged_once(self, cloud: Cloud, name: str, tmp_path: Path) -> None:
        assert_survives(cloud, name, tmp_path)


class TestLoss:
    @pytest.mark.parametrize(
        "name", ["worker_lost_after_upload", "worker_lost_before_upload", "workflow_lost"]
    )
    def test_costs_time_and_not_the_result(self, cloud: Cloud, name: str, tmp_path: Path) -> None:
        assert_survives(cloud, name, tmp_path)


class TestPaid:
    @pytest.mark.parametrize("name", ["webhook", "webhook_lost", "webhook_first"])
    def test_is_delivered_unless_nobody_can_know_of_it(
        self, cloud: Cloud, name: str, tmp_path: Path
    ) -> None:
        assert_survives(cloud, name, tmp_path)

    @pytest.mark.parametrize("name", ["answer_lost", "request_lost", "provider_failed"])
    def test_is_ordered_again_only_where_nothing_runs(
        self, cloud: Cloud, name: str, tmp_path: Path
    ) -> None:
        assert_survives(cloud, name, tmp_path)

    def test_is_never_ordered_again_in_the_dark(self, cloud: Cloud, tmp_path: Path) -> None:
        assert_survives(cloud, "answer_and_webhook_lost", tmp_path)


class TestAsked:
    @pytest.mark.parametrize("name", ["asked", "asked_truncated", "asked_turned_away"])
    def test_is_delivered_unless_an_answer_is_lost(
        self, cloud: Cloud, name: str, tmp_path: Path
    ) -> None:
        assert_survives(cloud, name, tmp_path)


class TestUnanswered:
    @pytest.mark.parametrize(
        "name",
        [
            "asked_answer_lost",
            "asked_worker_dies",
            "asked_worker_stopped",
            "asked_worker_dies_with_an_answer",
        ],
    )
    def test_is_never_asked_again_and_never_paid_twice(
        self, cloud: Cloud, name: str, tmp_path: Path
    ) -> None:
        assert_survives(cloud, name, tmp_path)


class TestExpiry:
    def test_is_shown_and_audited_as_it_is(self, cloud: Cloud, tmp_path: Path) -> None:
        assert_survives(cloud, "expiry", tmp_path)


class TestFailure:
    @pytest.mark.parametrize("name", ["refused", "cancel_queued", "cancel_during_render", "dead"])
    def test_gives_the_credits_back(self, cloud: Cloud, name: str, tmp_path: Path) -> None:
        assert_survives(cloud, name, tmp_path)


class TestWaiting:
    def test_ends_when_no_worker_comes(self, cloud: Cloud, tmp_path: Path) -> None:
        assert_survives(cloud, "no_worker", tmp_path)


class TestRedrive:
    def test_starts_a_new_round_with_a_hold_of_its_own(self, cloud: Cloud, tmp_path: Path) -> None:
        assert_survives(cloud, "redriven", tmp_path)


def test_every_scenario_is_searched() -> None:
    searched = {
        name
        for group in (TestDelivery, TestLoss, TestPaid, TestAsked, TestUnanswered, TestFailure)
        for method in vars(group).values()
        for mark in getattr(method, "pytestmark", ())
        for name in mark.args[1]
    }
    alone = {"no_worker", "redriven", "answer_and_webhook_lost", "expiry"}
    assert searched | alone == BY_NAME.keys()
