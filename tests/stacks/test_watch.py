"""Alarms and dashboard: about what is really reported, and each with its page in the guide."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from functions.domain import hooks
from functions.domain.credits import EntryKind
from functions.domain.signals import NAMESPACE, SIGNALS
from functions.domain.states import TaskState
from functions.domain.verdicts import Ruling
from local.instance import ROOT
from tests.stacks.conftest import Assembly

GUIDE = ROOT / "docs" / "operating.md"
VALUES: dict[str, set[Any]] = {
    "state": set(TaskState),
    "entry": set(EntryKind),
    "ruling": set(Ruling),
    "judged": {each.__name__ for each in get_args(hooks.Judgement)},
}
# What operators are promised to be told, whatever else there is.
PROMISED = {
    "api-errors",
    "audit-differences",
    "dead-letters",
    "dead-letters-growing",
    "failure-rate",
    "late-results",
    "oldest-unfinished",
    "overdue",
    "possible-spend",
    "relay-lag",
    "stuck",
    "sweep-stopped",
    "webhooks-lost",
    "webhooks-parked",
    "worker-stopped",
}


def _for_people(assembly: Assembly) -> list[dict[str, Any]]:
    """Leave out those that scale workers."""
    policies = assembly.resources("AWS::ApplicationAutoScaling::ScalingPolicy")
    return [
        alarm
        for alarm in assembly.resources("AWS::CloudWatch::Alarm").values()
        if not any(act["Ref"] in policies for act in alarm["Properties"].get("AlarmActions", []))
    ]


def _alarms(assembly: Assembly) -> dict[str, dict[str, Any]]:
    found = _for_people(assembly)
    return {each["Properties"]["AlarmName"]: each["Properties"] for each in found}


def _alarm(assembly: Assembly, name: str) -> dict[str, Any]:
    return _alarms(assembly)[f"Tallyreel-{name}"]


def _sections(assembly: Assembly) -> set[str]:
    return {
        each["AlarmDescription"].partition("docs/operating.md#")[2]
        for each in _alarms(assembly).values()
    }


def test_every_alarm_has_its_section_and_every_section_its_alarm(assembly: Assembly) -> None:
    text = GUIDE.read_text("utf-8").partition("\n## Alarms\n")[2].partition("\n## ")[0]

    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) == _sections(assembly)


def test_each_section_says_what_it_means_what_to_look_at_and_what_to_do() -> None:
    text = GUIDE.read_text("utf-8").partition("\n## Alarms\n")[2].partition("\n## ")[0]
    for section in text.split("\n### ")[1:]:
        for word in ("**Means**", "**Look**", "**Do**"):
            assert section.count(word) == 1, section


def test_what_was_promised_is_watched(assembly: Assembly) -> None:
    assert _sections(assembly) >= PROMISED


def _metrics(value: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Find references to our own metrics, in alarms as in dashboards."""
    if isinstance(value, dict):
        if value.get("Namespace") == NAMESPACE:
            given = value.get("Dimensions", [])
            yield value["MetricName"], {each["Name"]: each["Value"] for each in given}
        for inner in value.values():
            yield from _metrics(inner)
    elif isinstance(value, list):
        if value[:1] == [NAMESPACE]:
            words = [word for word in value[2:] if isinstance(word, str)]
            yield value[1], dict(zip(words[::2], words[1::2], strict=True))
        for inner in value:
            yield from _metrics(inner)


def _dashboard(assembly: Assembly) -> dict[str, Any]:
    (found,) = assembly.resources("AWS::CloudWatch::Dashboard").values()
    parts = found["Properties"]["DashboardBody"]["Fn::Join"][1]
    return dict(json.loads("".join(part if isinstance(part, str) else "x" for part in parts)))


def test_watched_metrics_are_split_as_they_are_reported(assembly: Assembly) -> None:
    alarmed = list(_metrics(list(_alarms(assembly).values())))
    shown = list(_metrics(_dashboard(assembly)))

    assert alarmed
    assert shown
    for name, split in alarmed + shown:
        assert set(split) == set(SIGNALS[name].split), name
        for key, value in split.items():
            assert value in VALUES[key], (name, value)


def test_the_dashboard_leaves_no_signal_out(assembly: Assembly) -> None:
    assert {name for name, _ in _metrics(_dashboard(assembly))} == set(SIGNALS)


def test_the_pipeline_reports_each_signal_and_no_other() -> None:
    reported: dict[str, set[str]] = {}
    for file in (ROOT / "functions" / "pipeline").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("count", "gauge") and "metrics" in ast.dump(node.func.value):
                name = ast.literal_eval(node.args[0])
                reported.setdefault(name, set()).update(str(each.arg) for each in node.keywords)
    assert set(reported) == set(SIGNALS)
    for name, said in reported.items():
        assert said >= set(SIGNALS[name].split), name


def test_the_dashboard_shows_the_state_of_every_alarm(assembly: Assembly) -> None:
    first = _dashboard(assembly)["widgets"][0]

    shown = {arn.rpartition(":")[2] for arn in first["properties"]["alarms"]}
    assert shown == set(_alarms(assembly))


def test_a_sweep_that_does_not_run_is_an_alarm(assembly: Assembly) -> None:
    stopped = _alarm(assembly, "sweep-stopped")
    assert (stopped["MetricName"], stopped["Statistic"]) == ("Overdue", "SampleCount")
    assert stopped["TreatMissingData"] == "breaching"
    assert stopped["ComparisonOperator"] == "LessThanThreshold"


def test_overdue_tasks_are_an_alarm_after_three_sweeps(assembly: Assembly) -> None:
    overdue = _alarm(assembly, "overdue")
    assert (overdue["Period"], overdue["EvaluationPeriods"]) == (60, 3)
    assert (overdue["Threshold"], overdue["Statistic"]) == (0, "Maximum")


def test_one_stuck_task_is_no_alarm_and_ten_within_an_hour_are(assembly: Assembly) -> None:
    stuck = _alarm(assembly, "stuck")
    assert (stuck["Statistic"], stuck["Period"], stuck["EvaluationPeriods"]) == ("Sum", 3600, 1)
    assert stuck["ComparisonOperator"] == "GreaterThanThreshold"
    assert stuck["Threshold"] == 9


def test_a_failure_rate_needs_more_than_a_few_tasks(assembly: Assembly) -> None:
    first = _alarm(assembly, "failure-rate")["Metrics"][0]["Expression"]
    assert re.match(r"IF\(.* >= 10, ", first)


@pytest.mark.parametrize("name", ["failure-rate", "late-results", "api-errors"])
def test_alarms_on_expressions_exist_unless_a_deploy_declines_them(
    assembly: Assembly, name: str
) -> None:
    found = _for_people(assembly)
    template = assembly.templates["TallyreelPipeline"]
    assert template["Parameters"]["ExpressionAlarms"]["Default"] == "yes"
    assert any(each["Properties"]["AlarmName"] == f"Tallyreel-{name}" for each in found)
    for each in found:
        assert ("Metrics" in each["Properties"]) == ("Condition" in each)
        if "Condition" in each:
            asked = template["Conditions"][each["Condition"]]
            assert asked == {"Fn::Equals": [{"Ref": "ExpressionAlarms"}, "yes"]}
