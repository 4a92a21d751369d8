"""Fetch what a provider made, verify, then settle: the last steps of a task, as a workflow."""

import json
from typing import Any

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from stacks.function import RETENTION, Package, PipelineFunction

VERIFY_MEMORY_MB = 1769  # one whole vCPU: decoding every frame is the work
VERIFY_TIMEOUT_SECONDS = 240  # with settling it has to fit into an EXPRESS run's five minutes
VERIFY_SCRATCH_MB = 1024
FETCH_MEMORY_MB = 512
FETCH_TIMEOUT_SECONDS = 150  # leaves half of the run for verifying what was fetched
SETTLE_MEMORY_MB = 256
SETTLE_TIMEOUT_SECONDS = 30
RUN_MINUTES = 5

# Lambda's own trouble only. What a stage raises ends the run: the sweeper starts another.
SERVICE_TROUBLE = [
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.TooManyRequestsException",
]


class Settle(Construct):
    """An EXPRESS workflow: it may run twice, and every transition in it is conditional."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
        media_environment: dict[str, str],
        fetch_environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.verify = PipelineFunction(
            self,
            "verify",
            package=package,
            description="Inspects an output",
            memory_mb=VERIFY_MEMORY_MB,
            timeout_seconds=VERIFY_TIMEOUT_SECONDS,
            scratch_mb=VERIFY_SCRATCH_MB,
            media=True,
            environment=media_environment,
        )
        self.fetch = PipelineFunction(
            self,
            "fetch",
            package=package,
            description="Brings a provider's file over",
            memory_mb=FETCH_MEMORY_MB,
            timeout_seconds=FETCH_TIMEOUT_SECONDS,
            scratch_mb=VERIFY_SCRATCH_MB,
            environment=media_environment | fetch_environment,
        )
        self.settle = PipelineFunction(
            self,
            "settle",
            package=package,
            description="Charges for a verified output, or tries again, or gives back",
            memory_mb=SETTLE_MEMORY_MB,
            timeout_seconds=SETTLE_TIMEOUT_SECONDS,
            environment=environment,
        )
        self.workflow = self._workflow(package.config.log_retention_days)

    def _workflow(self, retention_days: int) -> sfn.StateMachine:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
            description="Tallyreel settle workflow",
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"],
                resources=[
                    each.function.function_arn for each in (self.fetch, self.verify, self.settle)
                ],
            )
        )
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=RETENTION[retention_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        workflow = sfn.StateMachine(
            self,
            "Workflow",
            state_machine_type=sfn.StateMachineType.EXPRESS,
            role=role,
            timeout=Duration.minutes(RUN_MINUTES),
            definition_body=sfn.DefinitionBody.from_string(json.dumps(_definition())),
            definition_substitutions={
                "Fetch": self.fetch.function.function_arn,
                "Verify": self.verify.function.function_arn,
                "Settle": self.settle.function.function_arn,
            },
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False
            ),
        )
        _acknowledge(workflow, role)
        return workflow


def _definition() -> dict[str, Any]:
    return {
        "Comment": "Inspect an output, then settle by what was seen.",
        "StartAt": "Remote",
        "States": {
            "Remote": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.remote", "BooleanEquals": True, "Next": "Fetch"}],
                "Default": "Verify",
            },
            "Fetch": _call("${Fetch}") | {"Next": "Verify"},
            "Verify": _call("${Verify}") | {"Next": "Settle"},
            "Settle": _call("${Settle}") | {"End": True},
        },
    }


def _call(function: str) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": function, "Payload.$": "$"},
        "OutputPath": "$.Payload",
        "Retry": [
            {
                "ErrorEquals": SERVICE_TROUBLE,
                "IntervalSeconds": 1,
                "BackoffRate": 2,
                "MaxAttempts": 4,
                "JitterStrategy": "FULL",
            }
        ],
    }


def _acknowledge(workflow: sfn.StateMachine, role: iam.Role) -> None:
    Validations.of(role).acknowledge(
        Acknowledgment(
            id="AwsSolutions-IAM5[Resource::*]",
            reason="Delivering a workflow's logs needs CloudWatch Logs actions that take no "
            "resource; everything else names its function.",
        )
    )
    Validations.of(workflow).acknowledge(
        Acknowledgment(
            id="AwsSolutions-SF2",
            reason="Two steps, each with its log line: tracing every run would cost more than "
            "the run.",
        )
    )
