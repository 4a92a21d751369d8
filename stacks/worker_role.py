"""Who the container worker is. Here and not beside its service, so that it is the same anywhere."""

from collections.abc import Sequence

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.function import acknowledge_width
from stacks.render import Lane


class WorkerRole(Construct):
    """May take tickets of its lanes, read uploads, write outputs, and move tasks."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        lanes: Sequence[Lane],
        table_arn: str,
        writes: Sequence[str],
        bucket_arn: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.lanes = lanes
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
            description="Tallyreel worker",
        )
        self._allow(["dynamodb:GetItem", *writes], table_arn)
        self._allow(
            ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"],
            *(lane.queue.queue_arn for lane in lanes),
        )
        uploads, outputs = (f"{bucket_arn}/{prefix}/*" for prefix in ("in", "out"))
        self._allow(["s3:GetObject"], uploads)
        self._allow(["s3:PutObject"], outputs)
        acknowledge_width(
            self.role, uploads, outputs, because="Each task's files have names of their own."
        )
        # Without it S3 answers 403 for a key that is not there.
        self._allow(["s3:ListBucket"], bucket_arn)
        stack = Stack.of(self)
        CfnOutput(stack, "WorkerRole", value=self.role.role_arn)
        # What its service needs is exported wherever this is deployed, with a service or without.
        stack.export_value(self.role.role_arn)
        for lane in lanes:
            stack.export_value(lane.queue.queue_url)
            stack.export_value(lane.queue.queue_name)

    def _allow(self, actions: Sequence[str], *resources: str) -> None:
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources))
        )
