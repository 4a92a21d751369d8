"""What CloudWatch reads in the log."""

import json
from typing import Any

import pytest

from functions.adapters.metrics import LogMetrics


@pytest.fixture(autouse=True)
def _as_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "sweep")


def logged(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return dict(json.loads(capsys.readouterr().out))


def test_a_metric_is_split_by_nothing_but_what_its_signal_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    LogMetrics().count("Transition", state="failed", kind="image_to_video", code="refused")

    line = logged(capsys)
    (told,) = line["_aws"]["CloudWatchMetrics"]
    assert told["Namespace"] == "Tallyreel"
    assert told["Dimensions"] == [["state"]]
    assert told["Metrics"] == [{"Name": "Transition", "Unit": "Count"}]
    assert (line["Transition"], line["state"]) == ([1.0], "failed")
    assert (line["kind"], line["code"]) == ("image_to_video", "refused")  # for log queries


def test_a_gauge_has_its_own_unit_and_no_split(capsys: pytest.CaptureFixture[str]) -> None:
    LogMetrics().gauge("OldestUnfinished", 90.5)

    line = logged(capsys)
    (told,) = line["_aws"]["CloudWatchMetrics"]
    assert told["Dimensions"] == [[]]
    assert told["Metrics"] == [{"Name": "OldestUnfinished", "Unit": "Seconds"}]
    assert line["OldestUnfinished"] == [90.5]


def test_nothing_that_no_signal_names_is_reported() -> None:
    with pytest.raises(KeyError):
        LogMetrics().count("Misspelt")
