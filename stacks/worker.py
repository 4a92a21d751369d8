"""The container worker as a service that costs nothing while there is nothing to do."""

import re
from collections.abc import Sequence
from typing import cast

from aws_cdk import (
    Acknowledgment,
    Aws,
    Duration,
    IStackSynthesizer,
    RemovalPolicy,
    Stack,
    Validations,
)
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.config import Config
from stacks.function import RETENTION, ROOT
from stacks.render import Lane
from stacks.storage import StorageStack
from stacks.worker_role import WorkerRole
from stacks.worker_stops import WorkerStops

# Two cores film two parts at a time, each with a browser of its own.
CPU, MEMORY_MB, DISK_GB = 2048, 6144, 40
STOP_SECONDS = 120  # the longest that Fargate waits, and as long as Spot warns before
GRACE_SECONDS = 100  # the rest is for the last writes
SCRATCH, TMP = "/scratch", "/tmp"  # noqa: S108 - the container's own
ZONES_MAX = 2
MINUTE = Duration.minutes(1)
QUIET_MINUTES = 15  # a start takes a minute, so a worker waits a while for the next order
# Tickets that wait for each worker that is at work: so many are worth another, so many three.
BACKLOG, BACKLOG_LARGE, MORE_AT_ONCE = 3, 10, 3
COOLDOWN = Duration.minutes(2)  # until a worker that was started takes its first ticket

ABOVE_OR_AT = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
BELOW_OR_AT = cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD


class WorkerStack(Stack):
    """What only AWS can run; the emulator has neither the service nor its scaling."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        storage: StorageStack,
        worker: WorkerRole,
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, description="Tallyreel: the worker", synthesizer=synthesizer
        )
        self._config = config
        self.vpc = self._network()
        self.cluster = ecs.Cluster(
            self,
            "Cluster",
            vpc=self.vpc,
            enable_fargate_capacity_providers=True,
            container_insights_v2=ecs.ContainerInsights.DISABLED,
        )
        definition = self._definition(storage, worker)
        self.service = self._service(definition)
        self._scaling(worker.lanes)
        WorkerStops(self, "Stops", config=config, cluster=self.cluster)
        self._acknowledge(definition)

    def _network(self) -> ec2.Vpc:
        """Public addresses to call from, so that no gateway is paid by the hour."""
        vpc = ec2.Vpc(
            self,
            "Network",
            max_azs=ZONES_MAX,
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)
            ],
            restrict_default_security_group=False,
        )
        vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        vpc.add_gateway_endpoint("DynamoDb", service=ec2.GatewayVpcEndpointAwsService.DYNAMODB)
        return vpc

    def _definition(self, storage: StorageStack, worker: WorkerRole) -> ecs.FargateTaskDefinition:
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=RETENTION[self._config.log_retention_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        definition = ecs.FargateTaskDefinition(
            self,
            "Task",
            cpu=CPU,
            memory_limit_mib=MEMORY_MB,
            ephemeral_storage_gib=DISK_GB,
            runtime_platform=ecs.RuntimePlatform(
                cpu_architecture=ecs.CpuArchitecture.ARM64,
                operating_system_family=ecs.OperatingSystemFamily.LINUX,
            ),
            task_role=worker.role,
            volumes=[ecs.Volume(name="scratch"), ecs.Volume(name="tmp")],
        )
        queues = {lane.name: lane.queue.queue_url for lane in worker.lanes}
        container = definition.add_container(
            "worker",
            image=ecs.ContainerImage.from_docker_image_asset(self._image()),
            readonly_root_filesystem=True,
            stop_timeout=Duration.seconds(STOP_SECONDS),
            linux_parameters=self._no_rights(),
            logging=ecs.LogDrivers.aws_logs(stream_prefix="worker", log_group=log_group),
            environment={
                "POWERTOOLS_SERVICE_NAME": "worker",
                "POWERTOOLS_LOG_LEVEL": self._config.log_level,
                "AWS_DEFAULT_REGION": Aws.REGION,
                "TALLYREEL_TABLE": storage.table.table_name,
                "TALLYREEL_BUCKET": storage.bucket.bucket_name,
                "TALLYREEL_QUEUE_URLS": self.to_json_string(queues),
                "TALLYREEL_SCRATCH": SCRATCH,
                "TALLYREEL_GRACE_SECONDS": str(GRACE_SECONDS),
            }
            | worker.told,
        )
        for volume, path in (("scratch", SCRATCH), ("tmp", TMP)):
            container.add_mount_points(
                ecs.MountPoint(container_path=path, source_volume=volume, read_only=False)
            )
        return definition

    def _image(self) -> ecr_assets.DockerImageAsset:
        """Build it when it is deployed, where Docker is; a synth only hashes what goes in."""
        return ecr_assets.DockerImageAsset(
            self,
            "Image",
            directory=str(ROOT),
            file="functions/Dockerfile",
            platform=ecr_assets.Platform.LINUX_ARM64,
            exclude=[
                "*",
                "!functions",
                "!functions/**",
                "functions/media/player/node_modules",
                "**/__pycache__",
                "**/*.pyc",
            ],
        )

    def _no_rights(self) -> ecs.LinuxParameters:
        parameters = ecs.LinuxParameters(self, "NoRights", init_process_enabled=True)
        parameters.drop_capabilities(ecs.Capability.ALL)
        return parameters

    def _service(self, definition: ecs.FargateTaskDefinition) -> ecs.FargateService:
        nobody_in = ec2.SecurityGroup(
            self, "NobodyIn", vpc=self.vpc, description="Calls out, is never called"
        )
        service = ecs.FargateService(
            self,
            "Service",
            cluster=self.cluster,
            task_definition=definition,
            desired_count=0,
            assign_public_ip=True,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
            security_groups=[nobody_in],
            capacity_provider_strategies=self._capacity(),
            # Nobody waits at a door: a deploy may stop all, they give back what they are at.
            min_healthy_percent=0,
            max_healthy_percent=200,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
        )
        # Scaling owns the number, and a deploy that names one would stop workers. The first deploy
        # starts one, which proves the image, and ends after the quiet time.
        cast("ecs.CfnService", service.node.default_child).add_property_deletion_override(
            "DesiredCount"
        )
        return service

    def _capacity(self) -> list[ecs.CapacityProviderStrategy]:
        """Take spare capacity, which may be taken back, but for so many workers as configured."""
        config = self._config
        on_demand = ecs.CapacityProviderStrategy(
            capacity_provider="FARGATE",
            base=config.worker_on_demand_base,
            weight=0 if config.worker_spot else 1,
        )
        spot = ecs.CapacityProviderStrategy(capacity_provider="FARGATE_SPOT", weight=1)
        return [on_demand, spot] if config.worker_spot else [on_demand]

    def _scaling(self, lanes: Sequence[Lane]) -> None:
        """From none to one at the first ticket, then by tickets per worker, to none when quiet.

        Each worker is at one ticket, so the tickets in flight are the workers at work. Metrics of
        the service itself would have to be paid.
        """
        target = cast(
            "autoscaling.ScalableTarget",
            self.service.auto_scale_task_count(
                min_capacity=0, max_capacity=self._config.worker_max
            ).node.find_child("Target"),
        )
        to_exactly = autoscaling.AdjustmentType.EXACT_CAPACITY
        first = autoscaling.StepScalingAction(
            self, "First", scaling_target=target, adjustment_type=to_exactly
        )
        first.add_adjustment(adjustment=1, lower_bound=0)
        waiting = _tickets(lanes, "IF(flying == 0, waiting, 0)")
        self._alarm("Waiting", waiting, ABOVE_OR_AT, threshold=1, minutes=1, does=first)

        more = autoscaling.StepScalingAction(
            self,
            "More",
            scaling_target=target,
            adjustment_type=autoscaling.AdjustmentType.CHANGE_IN_CAPACITY,
            cooldown=COOLDOWN,
        )
        step = BACKLOG_LARGE - BACKLOG
        more.add_adjustment(adjustment=1, lower_bound=0, upper_bound=step)
        more.add_adjustment(adjustment=MORE_AT_ONCE, lower_bound=step)
        backlog = _tickets(lanes, "IF(flying > 0, waiting / flying, 0)")
        self._alarm("Backlog", backlog, ABOVE_OR_AT, threshold=BACKLOG, minutes=1, does=more)

        none = autoscaling.StepScalingAction(
            self, "None", scaling_target=target, adjustment_type=to_exactly
        )
        none.add_adjustment(adjustment=0, upper_bound=0)
        unfinished = _tickets(lanes, "waiting + flying")
        self._alarm("Quiet", unfinished, BELOW_OR_AT, threshold=0, minutes=QUIET_MINUTES, does=none)

    def _alarm(
        self,
        name: str,
        of: cloudwatch.MathExpression,
        when: cloudwatch.ComparisonOperator,
        *,
        threshold: float,
        minutes: int,
        does: autoscaling.StepScalingAction,
    ) -> None:
        cloudwatch.Alarm(
            self,
            name,
            alarm_description=f"Tallyreel: scales the worker ({name.lower()}); nobody has to look.",
            metric=of,
            comparison_operator=when,
            threshold=threshold,
            evaluation_periods=minutes,
            # A queue that nobody uses for hours says nothing more; nothing is to be done then.
            treat_missing_data=cloudwatch.TreatMissingData.IGNORE,
        ).add_alarm_action(actions.ApplicationScalingAction(does))

    def _acknowledge(self, definition: ecs.FargateTaskDefinition) -> None:
        everything = [
            ("VPC7", "Nothing listens in it, and what goes out is in the worker's own log."),
            ("ECS4", "The queue's metrics tell how it goes; Container Insights are paid each."),
        ]
        for construct, (name, reason) in zip((self.vpc, self.cluster), everything, strict=True):
            Validations.of(construct).acknowledge(
                Acknowledgment(id=f"AwsSolutions-{name}", reason=reason)
            )
        Validations.of(definition).acknowledge(
            Acknowledgment(
                id="AwsSolutions-ECS2", reason="Names of a table, a bucket and queues: no secret."
            )
        )
        Validations.of(definition.obtain_execution_role()).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="The token to pull images with takes no resource; the image is named.",
            )
        )


def _tickets(lanes: Sequence[Lane], expression: str) -> cloudwatch.MathExpression:
    """Count the tickets that wait and those in flight, over all lanes."""
    using: dict[str, cloudwatch.IMetric] = {}
    for number, lane in enumerate(lanes):
        using[f"waiting{number}"] = lane.queue.metric_approximate_number_of_messages_visible(
            period=MINUTE, statistic="Maximum"
        )
        using[f"flying{number}"] = lane.queue.metric_approximate_number_of_messages_not_visible(
            period=MINUTE, statistic="Maximum"
        )
    for name in ("waiting", "flying"):
        every = " + ".join(f"{name}{number}" for number in range(len(lanes)))
        expression = re.sub(rf"\b{name}\b", f"({every})", expression)
    return cloudwatch.MathExpression(expression=expression, using_metrics=using, period=MINUTE)
