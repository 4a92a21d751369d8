"""Workers that ended as they should not: noted, with ECS's reason, and counted for an alarm."""

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.config import Config
from stacks.function import RETENTION
from stacks.watch import worker_stops_rule

# EventBridge writes only to groups of such names.
LOGS_BELOW = "/aws/events"


class WorkerStops(Construct):
    """A worker that is told to end, or is taken away, ends with 0; all else is somebody's fault."""

    def __init__(
        self, scope: Construct, construct_id: str, *, config: Config, cluster: ecs.Cluster
    ) -> None:
        super().__init__(scope, construct_id)
        name = worker_stops_rule(config.name)
        # ECS itself forgets a stopped task within the hour.
        kept = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"{LOGS_BELOW}/{name}",
            retention=RETENTION[config.log_retention_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        written = kept.grant_write(iam.ServicePrincipal("events.amazonaws.com"))
        rule = events.CfnRule(
            self,
            "Rule",
            name=name,
            description="Tallyreel: workers that crashed, were killed or did not start",
            event_pattern={
                "source": ["aws.ecs"],
                "detail-type": ["ECS Task State Change"],
                "detail": {
                    "clusterArn": [cluster.cluster_arn],
                    "lastStatus": ["STOPPED"],
                    "$or": [
                        {"containers": {"exitCode": [{"anything-but": [0]}]}},
                        {"stopCode": ["TaskFailedToStart"]},
                    ],
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id="Logs",
                    arn=Stack.of(self).format_arn(
                        service="logs",
                        resource="log-group",
                        resource_name=kept.log_group_name,
                        arn_format=ArnFormat.COLON_RESOURCE_NAME,
                    ),
                )
            ],
        )
        written.apply_before(rule)
