"""Who the container worker is. Here and not beside its service, so that it is the same anywhere."""

import json
from collections.abc import Sequence

from aws_cdk import ArnFormat, CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks import remote
from stacks.config import Config
from stacks.function import acknowledge_width
from stacks.render import Lane

# What names of profiles over several regions begin with.
PROFILES = frozenset({"us", "us-gov", "eu", "apac", "jp", "au", "ca", "global"})
NAMELESS = "A transcription job that is to be started is no resource that a policy could name."
ANYWHERE = "One model, in whichever region a profile over several regions sends a question to."


class WorkerRole(Construct):
    """May take tickets of its lanes, read uploads, write outputs, and move tasks."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        lanes: Sequence[Lane],
        config: Config,
        table_arn: str,
        writes: Sequence[str],
        bucket_arn: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.lanes = lanes
        self.told = self._told(config)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
            description="Tallyreel worker",
        )
        self._allow(["dynamodb:GetItem", "dynamodb:Query", *writes], table_arn)
        self._allow(
            [
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:ReceiveMessage",
                "sqs:SendMessage",  # what a model's budget puts off goes back
            ],
            *(lane.queue.queue_arn for lane in lanes),
        )
        self._models(config)
        uploads, outputs = (f"{bucket_arn}/{prefix}/*" for prefix in ("in", "out"))
        self._allow(["s3:GetObject"], uploads)
        self._allow(["s3:GetObject", "s3:PutObject"], outputs)  # a model's answers are kept there
        acknowledge_width(
            self.role, uploads, outputs, because="Each task's files have names of their own."
        )
        # Without it S3 answers 403 for a key that is not there.
        self._allow(["s3:ListBucket"], bucket_arn)
        stack = Stack.of(self)
        CfnOutput(stack, "WorkerRole", value=self.role.role_arn)
        CfnOutput(stack, "WorkerTold", value=stack.to_json_string(self.told))
        # What its service needs is exported wherever this is deployed, with a service or without.
        stack.export_value(self.role.role_arn)
        for lane in lanes:
            stack.export_value(lane.queue.queue_url)
            stack.export_value(lane.queue.queue_name)

    def _told(self, config: Config) -> dict[str, str]:
        """Say what its environment says of models, wherever it runs."""
        names = remote.secret_names(config, remote.models(config))
        secrets = {"TALLYREEL_SECRETS": json.dumps(names)} if names else {}
        return remote.options(config) | secrets

    def _models(self, config: Config) -> None:
        """Let it ask the models in use: by their keys, or by its own right on Bedrock."""
        arns = remote.secret_arns(self, remote.secret_names(config, remote.models(config)))
        if arns:
            self._allow(["secretsmanager:GetSecretValue"], *arns)
        for model in remote.models(config):
            if model.action:
                self._allow([model.action], *_model_arns(self, model.model))
                acknowledge_width(self.role, *_model_arns(self, model.model)[1:], because=ANYWHERE)
        for listener in remote.listeners(config):
            self._allow(listener.actions, "*")
            acknowledge_width(self.role, "*", because=NAMELESS)

    def _allow(self, actions: Sequence[str], *resources: str) -> None:
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources))
        )


def _model_arns(scope: Construct, name: str) -> list[str]:
    """Name a model on Bedrock: the profile that is asked, and what answers behind it."""
    stack = Stack.of(scope)
    area, _, rest = name.partition(".")
    behind = rest if area in PROFILES else name
    profile = stack.format_arn(
        service="bedrock",
        resource="inference-profile",
        resource_name=name,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )
    model = f"arn:{stack.partition}:bedrock:*::foundation-model/{behind}"
    return [profile, model]
