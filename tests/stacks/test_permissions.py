"""What each function may do, as a list that a review can read."""

from typing import Any

from tests.stacks.conftest import Assembly, Resources

WIDE_ALLOWED = {
    # Everything below one prefix of the media bucket, or the streams of the one table.
    "/in/*",
    "/out/*",
    "/hooks/*",
    "/stream/*",
}
TAKE_NO_RESOURCE = {
    "logs:CreateLogDelivery",
    "ecr:GetAuthorizationToken",
    "transcribe:StartTranscriptionJob",
}


def _statements(assembly: Assembly) -> list[tuple[str, dict[str, Any]]]:
    roles = assembly.resources("AWS::IAM::Policy")
    return [
        (name, statement)
        for name, policy in roles.items()
        for statement in _list(policy["Properties"]["PolicyDocument"]["Statement"])
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(resource: Any) -> str:
    if isinstance(resource, dict) and "Fn::Join" in resource:
        return "".join(part if isinstance(part, str) else "<>" for part in resource["Fn::Join"][1])
    return resource if isinstance(resource, str) else "<>"


def test_no_action_is_a_pattern(assembly: Assembly) -> None:
    for name, statement in _statements(assembly):
        assert "NotAction" not in statement
        for action in _list(statement["Action"]):
            assert "*" not in action, (name, action)


def test_no_resource_is_wider_than_a_listed_prefix(assembly: Assembly) -> None:
    for name, statement in _statements(assembly):
        for resource in map(_text, _list(statement["Resource"])):
            if TAKE_NO_RESOURCE & set(_list(statement["Action"])):
                continue
            assert "*" not in resource or resource.removeprefix("<>") in WIDE_ALLOWED, (
                name,
                resource,
            )


def test_no_managed_policy_is_used(assembly: Assembly) -> None:
    for name, role in assembly.resources("AWS::IAM::Role").items():
        assert "ManagedPolicyArns" not in role["Properties"], name


def test_every_function_has_a_role_of_its_own(assembly: Assembly) -> None:
    functions = assembly.resources("AWS::Lambda::Function")
    roles = [str(function["Properties"]["Role"]) for function in functions.values()]
    assert len(set(roles)) == len(functions)


def _actions(assembly: Assembly, stage: str) -> set[str]:
    return {
        action
        for name, statement in _statements(assembly)
        if f"{stage}RoleDefaultPolicy" in name
        for action in _list(statement["Action"])
    }


LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
WRITES = {
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
}


def test_the_relay_reads_the_stream_and_sends_and_never_touches_the_table(
    assembly: Assembly,
) -> None:
    stream = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
    got = {action for action in _actions(assembly, "relay") if action.startswith("dynamodb:")}
    assert got == {f"dynamodb:{action}" for action in stream}
    assert {"sqs:SendMessage", "states:StartExecution"} <= _actions(assembly, "relay")
    assert not any(action.startswith("s3:") for action in _actions(assembly, "relay"))


def test_only_the_stages_that_must_may_start_work(assembly: Assembly) -> None:
    for stage in ("intake", "render", "check", "fetch", "verify", "settle", "audit"):
        assert "states:StartExecution" not in _actions(assembly, stage)
        assert "sqs:SendMessage" not in _actions(assembly, stage)


def test_a_call_from_outside_can_reach_no_table(assembly: Assembly) -> None:
    got = _actions(assembly, "hooks")
    assert not any(action.startswith(("dynamodb:", "states:")) for action in got)
    assert "sqs:SendMessage" in got


def test_verify_can_only_add_reports_and_settle_cannot_read_media(assembly: Assembly) -> None:
    assert WRITES & _actions(assembly, "verify") == {"dynamodb:PutItem"}
    assert not any(action.startswith("s3:") for action in _actions(assembly, "settle"))


def test_what_is_measured_is_all_that_measuring_can_write(assembly: Assembly) -> None:
    assert WRITES & _actions(assembly, "measure") == {"dynamodb:PutItem"}
    assert not any(
        action.startswith(("s3:", "sqs:", "states:")) for action in _actions(assembly, "measure")
    )


def test_the_auditor_reads_all_and_can_only_add_its_report(assembly: Assembly) -> None:
    assert WRITES & _actions(assembly, "audit") == {"dynamodb:PutItem"}
    assert not {"sqs:SendMessage", "states:StartExecution", "s3:GetObject"} & _actions(
        assembly, "audit"
    )


def test_only_the_auditor_may_scan_and_none_may_change_a_table(assembly: Assembly) -> None:
    for name, statement in _statements(assembly):
        for action in _list(statement["Action"]):
            assert action != "dynamodb:Scan" or "auditRole" in name
            assert action != "dynamodb:BatchWriteItem"
            assert not action.startswith(("dynamodb:Create", "dynamodb:DeleteTable"))


def test_queues_and_buckets_refuse_plain_http(assembly: Assembly) -> None:
    guarded: list[str] = []
    for kind in ("AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"):
        policies: Resources = assembly.resources(kind)
        for policy in policies.values():
            statements = policy["Properties"]["PolicyDocument"]["Statement"]
            assert any(
                statement["Effect"] == "Deny"
                and statement["Condition"].get("Bool") == {"aws:SecureTransport": "false"}
                for statement in statements
            )
            guarded.append(kind)
    assert guarded.count("AWS::SQS::QueuePolicy") == len(assembly.resources("AWS::SQS::Queue"))


def test_the_worker_takes_tickets_and_moves_tasks_and_starts_nothing(assembly: Assembly) -> None:
    (statements,) = (
        policy["Properties"]["PolicyDocument"]["Statement"]
        for name, policy in assembly.resources("AWS::IAM::Policy").items()
        if name.startswith("WorkerRoleDefaultPolicy")
    )
    got = {action for statement in statements for action in _list(statement["Action"])}
    assert got == WRITES | {
        "dynamodb:GetItem",
        "dynamodb:Query",  # a task's attempts
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:ReceiveMessage",
        "sqs:SendMessage",
    }
