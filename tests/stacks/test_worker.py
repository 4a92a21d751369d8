"""The worker's service: it costs nothing while idle, has no rights, and cannot be called."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.instance import ROOT
from stacks.config import Config
from tests.stacks.conftest import Assembly, Resources

DOCKERFILE = ROOT / "functions" / "Dockerfile"
SUM = r"\((waiting|flying)0(?: \+ \1\d+)*\)"


def _resources(assembly: Assembly, of_type: str) -> Resources:
    found = assembly.templates["TallyreelWorker"]["Resources"]
    return {name: each for name, each in found.items() if each["Type"] == of_type}


def _only(assembly: Assembly, of_type: str) -> dict[str, Any]:
    (found,) = _resources(assembly, of_type).values()
    return dict(found["Properties"])


def _container(assembly: Assembly) -> dict[str, Any]:
    (container,) = _only(assembly, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    return dict(container)


def test_only_aws_gets_the_service(assembly: Assembly, local_assembly: Assembly) -> None:
    assert "TallyreelWorker" in assembly.templates
    assert "TallyreelWorker" not in local_assembly.templates


def test_nothing_is_paid_by_the_hour(assembly: Assembly) -> None:
    assert not _resources(assembly, "AWS::EC2::NatGateway")
    kinds = {
        endpoint["Properties"].get("VpcEndpointType", "Gateway")
        for endpoint in _resources(assembly, "AWS::EC2::VPCEndpoint").values()
    }
    assert kinds == {"Gateway"}
    assert len(_resources(assembly, "AWS::EC2::VPCEndpoint")) == 2
    target = _only(assembly, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert (target["MinCapacity"], target["MaxCapacity"]) == (0, Config().worker_max)


def test_nobody_can_call_it(assembly: Assembly) -> None:
    assert "SecurityGroupIngress" not in _only(assembly, "AWS::EC2::SecurityGroup")
    assert not _resources(assembly, "AWS::EC2::SecurityGroupIngress")
    assert "PortMappings" not in _container(assembly)


def test_it_has_no_rights_and_time_to_stop(assembly: Assembly) -> None:
    container = _container(assembly)
    assert container["ReadonlyRootFilesystem"] is True
    assert container["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    assert container["StopTimeout"] == 120
    told = {each["Name"]: each["Value"] for each in container["Environment"]}
    assert float(told["TALLYREEL_GRACE_SECONDS"]) < container["StopTimeout"]
    assert {mount["ContainerPath"] for mount in container["MountPoints"]} == {
        told["TALLYREEL_SCRATCH"],
        "/tmp",  # noqa: S108 - the container's own
    }


def test_it_runs_on_arm_and_on_spare_capacity(assembly: Assembly) -> None:
    definition = _only(assembly, "AWS::ECS::TaskDefinition")
    assert definition["RuntimePlatform"]["CpuArchitecture"] == "ARM64"
    assert "Fn::ImportValue" in definition["TaskRoleArn"]  # the pipeline's, as on this machine
    strategies = _only(assembly, "AWS::ECS::Service")["CapacityProviderStrategy"]
    weights = {each["CapacityProvider"]: each["Weight"] for each in strategies}
    assert weights == {"FARGATE": 0, "FARGATE_SPOT": 1}


def test_a_deploy_does_not_set_how_many_there_are(assembly: Assembly) -> None:
    assert "DesiredCount" not in _only(assembly, "AWS::ECS::Service")


def _scaling(assembly: Assembly) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Each alarm with the policy that it sets off, by its expression over all lanes."""
    policies = _resources(assembly, "AWS::ApplicationAutoScaling::ScalingPolicy")
    found = {}
    for alarm in _resources(assembly, "AWS::CloudWatch::Alarm").values():
        (action,) = alarm["Properties"]["AlarmActions"]
        (expression,) = (
            each["Expression"] for each in alarm["Properties"]["Metrics"] if "Expression" in each
        )
        policy = policies[action["Ref"]]["Properties"]["StepScalingPolicyConfiguration"]
        found[re.sub(SUM, r"\1", expression)] = (alarm["Properties"], policy)
    return found


def test_the_first_ticket_starts_one_and_a_quiet_quarter_ends_all(assembly: Assembly) -> None:
    scaling = _scaling(assembly)
    first, policy = scaling["IF(flying == 0, waiting, 0)"]
    assert (first["Threshold"], first["EvaluationPeriods"]) == (1, 1)
    assert policy["AdjustmentType"] == "ExactCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [1]

    quiet, policy = scaling["waiting + flying"]
    assert (quiet["Threshold"], quiet["EvaluationPeriods"]) == (0, 15)
    assert policy["AdjustmentType"] == "ExactCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [0]


def test_a_backlog_for_each_worker_starts_more(assembly: Assembly) -> None:
    backlog, policy = _scaling(assembly)["IF(flying > 0, waiting / flying, 0)"]
    assert backlog["Threshold"] == 3
    assert policy["AdjustmentType"] == "ChangeInCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [1, 3]


def test_a_worker_that_ends_badly_is_noted_and_an_alarm(assembly: Assembly) -> None:
    rule = _only(assembly, "AWS::Events::Rule")
    pattern = rule["EventPattern"]
    assert (pattern["source"], pattern["detail-type"]) == (["aws.ecs"], ["ECS Task State Change"])
    (cluster,) = pattern["detail"]["clusterArn"]
    assert cluster["Fn::GetAtt"][0] in _resources(assembly, "AWS::ECS::Cluster")
    group = next(
        each["Properties"]
        for each in _resources(assembly, "AWS::Logs::LogGroup").values()
        if each["Properties"].get("LogGroupName") == f"/aws/events/{rule['Name']}"
    )
    assert group["RetentionInDays"]
    policy = json.dumps(_only(assembly, "AWS::Logs::ResourcePolicy"))
    assert "events.amazonaws.com" in policy
    (alarm,) = (
        each["Properties"]
        for each in assembly.resources("AWS::CloudWatch::Alarm").values()
        if each["Properties"].get("AlarmName") == "Tallyreel-worker-stopped"
    )
    assert alarm["Dimensions"] == [{"Name": "RuleName", "Value": rule["Name"]}]
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 0)


# As ECS says it; what is left out does not matter to the rule.
ENDS = [
    ({"stopCode": "EssentialContainerExited", "containers": [{"exitCode": 1}]}, True),
    ({"stopCode": "EssentialContainerExited", "containers": [{"exitCode": 137}]}, True),
    ({"stopCode": "ServiceSchedulerInitiated", "containers": [{"exitCode": 0}]}, False),
    ({"stopCode": "SpotInterruption", "containers": [{"exitCode": 0}]}, False),
    ({"stopCode": "TaskFailedToStart", "containers": [{}]}, True),
]


@pytest.mark.parametrize(("end", "noted"), ENDS)
def test_only_bad_ends_are_noted(assembly: Assembly, end: dict[str, Any], noted: bool) -> None:  # noqa: FBT001 - a case of the table
    detail = _only(assembly, "AWS::Events::Rule")["EventPattern"]["detail"]
    assert any(_matches(way, end) for way in detail["$or"]) is noted


def _matches(pattern: Any, value: Any) -> bool:
    """As EventBridge does: each field named has one of the values, in any member of a list."""
    if isinstance(value, list):
        return any(_matches(pattern, each) for each in value)
    if isinstance(pattern, dict):
        return all(name in value and _matches(of, value[name]) for name, of in pattern.items())
    return any(
        value not in each["anything-but"] if isinstance(each, dict) else value == each
        for each in pattern
    )


def _lines() -> list[list[str]]:
    text = DOCKERFILE.read_text("utf-8").replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line and line[0] != "#"]


def _copied() -> list[str]:
    return [
        source
        for word, *rest in _lines()
        if word == "COPY" and not rest[0].startswith("--from")
        for source in rest[:-1]
    ]


def _context(assembly: Assembly) -> Path:
    """Where the files lie that Docker would be given."""
    told = json.loads((assembly.folder / "TallyreelWorker.assets.json").read_text("utf-8"))
    (image,) = told["dockerImages"].values()
    assert image["source"]["dockerFile"] == "functions/Dockerfile"
    return assembly.folder / str(image["source"]["directory"])


def test_docker_is_given_what_the_image_copies_and_nothing_else(assembly: Assembly) -> None:
    context = _context(assembly)
    assert _copied()
    assert [each for each in _copied() if not (context / each).exists()] == []
    assert [path.name for path in context.iterdir()] == ["functions"]
    there = {path.relative_to(context) for path in context.rglob("*")}
    assert not {part for path in there for part in path.parts} & {"node_modules", "__pycache__"}
    ours = {
        path.relative_to(ROOT)
        for path in (ROOT / "functions").rglob("*")
        if not {"node_modules", "__pycache__"} & set(path.parts)
    }
    assert ours - there == set()


def test_what_docker_is_given_is_enough_to_start(assembly: Assembly) -> None:
    modules = "entrypoints.worker", "adapters.workshop_child", "media.replay_part", "kinds"
    named = ", ".join(f"functions.{each}" for each in modules)
    code = f"import {named}; functions.kinds.load(); print(functions.kinds.__file__)"
    context = _context(assembly)
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=context,
        env={"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "eu-west-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(context)


def test_the_image_is_hashed_not_roots_and_ends_in_the_worker(assembly: Assembly) -> None:
    lines = _lines()
    (user,) = (rest for word, *rest in lines if word == "USER")
    (volumes,) = (rest for word, *rest in lines if word == "VOLUME")
    assert user == ["worker"]
    assert lines[-1][0] == "ENTRYPOINT"
    assert "functions.entrypoints.worker]" in lines[-1]
    said = " ".join(word for line in lines for word in line)
    assert "--require-hashes" in said
    assert "npm ci" in said
    for package in ("chromium-headless-shell", "fonts-noto-cjk", "fonts-noto-color-emoji"):
        assert package in said
    mounted = {mount["ContainerPath"] for mount in _container(assembly)["MountPoints"]}
    assert {volume.strip("[],") for volume in volumes} == mounted
