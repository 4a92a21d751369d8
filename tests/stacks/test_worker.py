"""The worker's service: it costs nothing while idle, has no rights, and cannot be called."""

import shlex
from typing import Any

from local.instance import ROOT
from stacks.config import Config
from tests.stacks.conftest import Assembly, Resources

DOCKERFILE = ROOT / "functions" / "Dockerfile"


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
    """Each alarm with the policy that it sets off, by its expression."""
    policies = _resources(assembly, "AWS::ApplicationAutoScaling::ScalingPolicy")
    found = {}
    for alarm in _resources(assembly, "AWS::CloudWatch::Alarm").values():
        (action,) = alarm["Properties"]["AlarmActions"]
        (expression,) = (
            each["Expression"] for each in alarm["Properties"]["Metrics"] if "Expression" in each
        )
        policy = policies[action["Ref"]]["Properties"]["StepScalingPolicyConfiguration"]
        found[expression] = (alarm["Properties"], policy)
    return found


def test_the_first_ticket_starts_one_and_a_quiet_quarter_ends_all(assembly: Assembly) -> None:
    scaling = _scaling(assembly)
    first, policy = scaling["IF((flying0) == 0, (waiting0), 0)"]
    assert (first["Threshold"], first["EvaluationPeriods"]) == (1, 1)
    assert policy["AdjustmentType"] == "ExactCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [1]

    quiet, policy = scaling["(waiting0) + (flying0)"]
    assert (quiet["Threshold"], quiet["EvaluationPeriods"]) == (0, 15)
    assert policy["AdjustmentType"] == "ExactCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [0]


def test_a_backlog_for_each_worker_starts_more(assembly: Assembly) -> None:
    backlog, policy = _scaling(assembly)["IF((flying0) > 0, (waiting0) / (flying0), 0)"]
    assert backlog["Threshold"] == 3
    assert policy["AdjustmentType"] == "ChangeInCapacity"
    assert [step["ScalingAdjustment"] for step in policy["StepAdjustments"]] == [1, 3]


def _lines() -> list[list[str]]:
    text = DOCKERFILE.read_text("utf-8").replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line and line[0] != "#"]


def test_everything_that_the_image_copies_is_there() -> None:
    copied = [
        source
        for word, *rest in _lines()
        if word == "COPY" and not rest[0].startswith("--from")
        for source in rest[:-1]
    ]
    assert copied
    assert [source for source in copied if not (ROOT / source).exists()] == []


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
