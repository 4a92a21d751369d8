"""The one place where a function's runtime, code, role, logs and environment are decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import (
    Acknowledgment,
    Duration,
    IgnoreMode,
    RemovalPolicy,
    Size,
    Stack,
    Validations,
)
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.config import Config

ROOT = Path(__file__).resolve().parent.parent

# The newest runtime that CDK and cdk-nag know; the layers are built for the same version.
RUNTIME = lambda_.Runtime.PYTHON_3_14
PYTHON = "3.14"

RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What every function shares: one copy of the code, the layers, the settings."""

    config: Config
    code: lambda_.Code
    runtime_layer: lambda_.ILayerVersion
    media_layer: lambda_.ILayerVersion


def pipeline_code() -> lambda_.Code:
    """Take the package `functions/` and the console that the API serves, and nothing else."""
    return lambda_.Code.from_asset(
        str(ROOT),
        ignore_mode=IgnoreMode.GIT,
        exclude=[
            "*",
            "!functions",
            "!functions/**",
            "!console",
            "!console/**",
            "__pycache__",
            "node_modules",  # the player's, which only the worker's image needs
            "*.pyc",
            "functions/**/*.md",
            "functions/requirements*",
            "functions/Dockerfile",
        ],
    )


class PipelineFunction(Construct):
    """One stage of the pipeline as one function with a role of its own."""

    def __init__(
        self,
        scope: Construct,
        stage: str,
        *,
        package: Package,
        description: str,
        memory_mb: int,
        timeout_seconds: int,
        environment: Mapping[str, str],
        scratch_mb: int = 512,
        media: bool = False,
    ) -> None:
        super().__init__(scope, stage)
        config = package.config
        self.stage = stage
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            retention=RETENTION[config.log_retention_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"Tallyreel {stage}",
        )
        self.function = lambda_.Function(
            self,
            "Function",
            description=description,
            runtime=RUNTIME,
            architecture=lambda_.Architecture.ARM_64,
            code=package.code,
            handler=f"functions.entrypoints.{stage}.handler",
            layers=[package.runtime_layer, *([package.media_layer] if media else [])],
            role=self.role,
            memory_size=memory_mb,
            timeout=Duration.seconds(timeout_seconds),
            ephemeral_storage_size=Size.mebibytes(scratch_mb),
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            # START, END and REPORT lines of every invocation would be most of the log bill.
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            environment={
                "POWERTOOLS_SERVICE_NAME": stage,
                "POWERTOOLS_LOG_LEVEL": config.log_level,
                **environment,
            },
        )
        # Instead of the managed policy, which may write to every log group of the account.
        self.allow(["logs:CreateLogStream", "logs:PutLogEvents"], self.log_group.log_group_arn)

    def allow(self, actions: Sequence[str], *resources: str) -> None:
        """Add one explicit statement to this function's own role."""
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources))
        )

    def allow_below(self, actions: Sequence[str], *resources: str, because: str) -> None:
        """Add a statement on everything below some resources, and say why it must be so wide.

        The resources start with what the storage stack exports.
        """
        self.allow(actions, *resources)
        acknowledge_width(self.role, *resources, because=because)


def _flat(part: Mapping[str, str]) -> str:
    return part["Fn::ImportValue"] if "Fn::ImportValue" in part else f"<{part['Ref']}>"


def acknowledge_width(role: iam.Role, *resources: str, because: str) -> None:
    """Say why a role may reach everything below some resources."""
    for resource in resources:
        # cdk-nag takes no patterns: the finding is named by the resource as it flattens it.
        resolved = Stack.of(role).resolve(resource)
        delimiter, parts = ("", [resolved]) if resolved == resource else resolved["Fn::Join"]
        flat = delimiter.join(part if isinstance(part, str) else _flat(part) for part in parts)
        Validations.of(role).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{flat}]", reason=because)
        )
