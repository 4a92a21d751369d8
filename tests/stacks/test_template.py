"""The properties of the template that money and data depend on."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from functions import kinds
from local.instance import ROOT
from stacks import bundle, hooks, intake
from stacks.config import Config
from stacks.function import PYTHON
from stacks.storage import OUTPUT_DAYS
from tests.stacks.conftest import Assembly, synthesize

PROPERTIES = "Properties"


def _functions(assembly: Assembly) -> dict[str, dict[str, Any]]:
    made = assembly.resources("AWS::Lambda::Function").values()
    return {each[PROPERTIES]["Handler"].split(".")[2]: each[PROPERTIES] for each in made}


def test_each_stage_is_the_same_word_in_the_pipeline_the_entrypoints_and_the_stacks(
    assembly: Assembly,
) -> None:
    for stage, properties in _functions(assembly).items():
        assert properties["Handler"] == f"functions.entrypoints.{stage}.handler"
        assert (ROOT / "functions" / "entrypoints" / f"{stage}.py").is_file()
        assert (ROOT / "functions" / "pipeline" / f"{stage}.py").is_file()
        named = properties["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        assert named == stage
        modules = {file.stem for file in (ROOT / "stacks").glob("*.py")}
        assert stage in modules | {"fetch", "verify"}  # both belong to settle.py's workflow


def test_functions_run_on_arm64_and_the_python_that_the_layers_are_for(
    assembly: Assembly,
) -> None:
    for properties in _functions(assembly).values():
        assert properties["Architectures"] == ["arm64"]
        assert properties["Runtime"] == f"python{PYTHON}"


def test_functions_share_one_code_asset_and_only_two_stages_carry_media(
    assembly: Assembly,
) -> None:
    functions = _functions(assembly)
    assert len({json.dumps(each["Code"]) for each in functions.values()}) == 1
    with_media = {stage for stage, each in functions.items() if len(each["Layers"]) > 1}
    assert with_media == {"render", "verify"}


def test_logs_end(assembly: Assembly) -> None:
    groups = assembly.resources("AWS::Logs::LogGroup")
    for name, group in groups.items():
        assert group[PROPERTIES]["RetentionInDays"] == Config().log_retention_days, name
    for properties in _functions(assembly).values():
        assert properties["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_no_function_is_told_an_endpoint_or_a_secret(assembly: Assembly) -> None:
    for properties in _functions(assembly).values():
        for name in properties["Environment"]["Variables"]:
            assert name.startswith(("TALLYREEL_", "POWERTOOLS_")), name
            assert not any(word in name for word in ("SECRET", "PASSWORD", "KEY", "ENDPOINT"))


def test_functions_are_told_only_what_they_use(assembly: Assembly) -> None:
    told = {
        stage: {
            name.removeprefix("TALLYREEL_")
            for name in each["Environment"]["Variables"]
            if name.startswith("TALLYREEL_")
        }
        for stage, each in _functions(assembly).items()
    }
    assert told == {
        "intake": {
            "TABLE",
            "BUCKET",
            "ROUTES",
            "TOKEN_CLIENTS",
            "OPERATOR_GROUP",
            "ISSUER",
            "SIGN_IN",
        },
        "submit": {"TABLE", "BUCKET", "ROUTES", "HOOK_BASE", "QUEUE_URLS"},
        "check": {"TABLE", "BUCKET", "HOOK_BASE"},
        "hooks": {"BUCKET", "QUEUE_URLS", "TOKEN_CLIENTS", "OPERATOR_GROUP"},
        "fetch": {"TABLE", "BUCKET"},
        "relay": {"QUEUE_URLS", "DLQ_URLS", "WORKFLOW_ARN"},
        "render": {"TABLE", "BUCKET"},
        "verify": {"TABLE", "BUCKET"},
        "settle": {"TABLE"},
        "measure": {"TABLE"},
        "sweep": {"TABLE", "BUCKET", "QUEUE_URLS", "WORKFLOW_ARN"},
        "audit": {"TABLE", "BUCKET"},
    }


def test_every_kind_has_a_queue_with_an_end_and_time_for_its_work(assembly: Assembly) -> None:
    queues = assembly.resources("AWS::SQS::Queue")
    with_end = {
        name: queue[PROPERTIES]
        for name, queue in queues.items()
        if "RedrivePolicy" in queue[PROPERTIES]
    }
    assert len(with_end) == len(kinds.load()) + 2  # and one each to submit and to check
    functions = _functions(assembly)
    for name, properties in with_end.items():
        stage = next((stage for stage in ("submit", "check") if stage in name), "render")
        timeout = functions[stage]["Timeout"]
        assert properties["VisibilityTimeout"] >= 6 * timeout
        assert properties["RedrivePolicy"]["maxReceiveCount"] >= 5
        (end, _) = properties["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"]
        assert queues[end][PROPERTIES]["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_every_dead_letter_queue_has_an_alarm(assembly: Assembly) -> None:
    ends = {
        name
        for name, queue in assembly.resources("AWS::SQS::Queue").items()
        if "RedrivePolicy" not in queue[PROPERTIES]
    }
    watched = {
        dimension["Value"]["Fn::GetAtt"][0]
        for alarm in assembly.resources("AWS::CloudWatch::Alarm").values()
        for dimension in alarm[PROPERTIES].get("Dimensions", [])
        if dimension["Name"] == "QueueName"
    }
    assert ends == watched


def test_what_is_stored_outlives_the_stack(assembly: Assembly) -> None:
    kept = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Cognito::UserPool")
    for kind in kept:
        (resource,) = assembly.resources(kind).values()
        assert resource["DeletionPolicy"] == "Retain"
        assert resource["UpdateReplacePolicy"] == "Retain"


def test_the_table_can_be_restored_and_not_be_deleted(assembly: Assembly) -> None:
    (table,) = assembly.resources("AWS::DynamoDB::Table").values()
    properties = table[PROPERTIES]
    assert properties["DeletionProtectionEnabled"] is True
    recovery = properties["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": True}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert properties["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    (index,) = properties["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "due"
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert [key["AttributeName"] for key in index["KeySchema"]] == ["due_shard", "due_at"]


def test_the_bucket_is_private_and_forgets(assembly: Assembly) -> None:
    (bucket,) = assembly.resources("AWS::S3::Bucket").values()
    properties = bucket[PROPERTIES]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    rules = properties["LifecycleConfiguration"]["Rules"]
    days = {rule.get("Prefix"): rule.get("ExpirationInDays") for rule in rules}
    assert days == {"in/": 2, "out/": OUTPUT_DAYS, "tmp/": 1, "hooks/": 30, None: None}
    (rule,) = properties["CorsConfiguration"]["CorsRules"]
    (origin,) = rule["AllowedOrigins"]  # only the console's: no other is configured by default
    joined = "".join(part if isinstance(part, str) else "<>" for part in origin["Fn::Join"][1])
    assert joined == "https://*.execute-api.<>.amazonaws.com"
    assert "PUT" not in rule["AllowedMethods"]


def test_every_route_asks_who_is_calling_or_is_on_the_open_list(assembly: Assembly) -> None:
    routes = assembly.resources("AWS::ApiGatewayV2::Route").values()
    seen = {route[PROPERTIES]["RouteKey"]: route[PROPERTIES] for route in routes}
    signed_in = {*intake.SIGNED_IN, *hooks.OPERATORS_ROUTES}
    assert set(seen) == signed_in | {*intake.OPEN, hooks.ROUTE}
    for key, route in seen.items():
        if key not in signed_in:
            assert route["AuthorizationType"] == "NONE"
        else:
            assert route["AuthorizationType"] == "JWT"
            assert "AuthorizerId" in route


def test_the_api_bounds_requests_and_logs_them(assembly: Assembly) -> None:
    (stage,) = assembly.resources("AWS::ApiGatewayV2::Stage").values()
    bounds = stage[PROPERTIES]["DefaultRouteSettings"]
    assert bounds == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}
    logged = json.loads(stage[PROPERTIES]["AccessLogSettings"]["Format"])
    assert not any("header" in field or "querystring" in field for field in logged.values())


def _stream_reader(assembly: Assembly, stage: str) -> dict[str, Any]:
    mappings = assembly.resources("AWS::Lambda::EventSourceMapping").values()
    readers = [each[PROPERTIES] for each in mappings if "StartingPosition" in each[PROPERTIES]]
    assert len(readers) <= 2  # as many as a shard serves without slowing down
    found: dict[str, Any]
    (found,) = (each for each in readers if f"{stage}Function" in each["FunctionName"]["Ref"])
    return found


def test_a_delivered_task_is_measured_with_others_and_blocks_nobody(assembly: Assembly) -> None:
    reader = _stream_reader(assembly, "measure")
    assert (reader["BatchSize"], reader["MaximumBatchingWindowInSeconds"]) == (1000, 30)
    assert reader["MaximumRetryAttempts"] == 1
    (pattern,) = (json.loads(each["Pattern"]) for each in reader["FilterCriteria"]["Filters"])
    assert pattern == {
        "eventName": ["MODIFY"],
        "dynamodb": {"NewImage": {"state": {"S": ["delivered"]}}},
    }


def test_the_relay_cannot_be_blocked_by_one_record(assembly: Assembly) -> None:
    reader = _stream_reader(assembly, "relay")
    assert reader["StartingPosition"] == "TRIM_HORIZON"
    assert reader["MaximumRetryAttempts"] == 10
    assert reader["MaximumRecordAgeInSeconds"] == 3600
    assert reader["BisectBatchOnFunctionError"] is True
    assert reader["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "OnFailure" in reader["DestinationConfig"]
    (pattern,) = (json.loads(each["Pattern"]) for each in reader["FilterCriteria"]["Filters"])
    assert pattern["dynamodb"]["NewImage"]["ob"] == {"S": [{"exists": True}]}


def test_renders_at_once_are_bounded(assembly: Assembly) -> None:
    mappings = assembly.resources("AWS::Lambda::EventSourceMapping").values()
    for properties in (each[PROPERTIES] for each in mappings):
        if "StartingPosition" not in properties:
            bound = properties["ScalingConfig"]["MaximumConcurrency"]
            assert bound == Config().render_concurrency_max
            assert properties["BatchSize"] == 1
            assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_workflow_logs_every_run_without_its_data(assembly: Assembly) -> None:
    (workflow,) = assembly.resources("AWS::StepFunctions::StateMachine").values()
    assert workflow[PROPERTIES]["StateMachineType"] == "EXPRESS"
    logging = workflow[PROPERTIES]["LoggingConfiguration"]
    assert logging["Level"] == "ALL"
    assert logging["IncludeExecutionData"] is False


def test_layers_describe_every_service_that_an_adapter_calls() -> None:
    called: set[str] = set()
    for file in (ROOT / "functions").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_client":
                called |= {str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)}
    assert called
    assert called <= set(bundle.AWS_SERVICES)


def test_settings_of_a_context_are_typed() -> None:
    given = {"local": "true", "cors_origins": "https://a.example, https://b.example"}
    config = Config.from_context(given.get)
    assert config.local is True
    assert config.cors_origins == ("https://a.example", "https://b.example")
    with pytest.raises(ValueError, match="say true or false"):
        Config.from_context({"local": "yes"}.get)
    with pytest.raises(ValueError, match="together"):
        Config(jwt_issuer="https://issuer.example")
    with pytest.raises(ValueError, match="log_retention_days"):
        Config(log_retention_days=13)


RESTORED = "arn:aws:dynamodb:eu-west-1:111111111111:table/restored"


def test_a_restored_table_takes_the_place_of_the_old_one_which_stays(
    assembly: Assembly, tmp_path: Path
) -> None:
    stream = f"{RESTORED}/stream/2026-11-30T10:00:00.000"
    restored = synthesize(tmp_path, table_stream_arn=stream)

    storage = "TallyreelStorage"
    assert restored.templates[storage] == assembly.templates[storage]
    for stage, properties in _functions(restored).items():
        named = properties["Environment"]["Variables"].get("TALLYREEL_TABLE", "restored")
        assert named == "restored", stage
    for stage in ("relay", "measure"):
        assert _stream_reader(restored, stage)["EventSourceArn"] == stream
    pipeline = json.dumps(restored.templates["TallyreelPipeline"])
    assert f'"{RESTORED}/index/due"' in pipeline
    assert "OutputRefTable" not in pipeline
