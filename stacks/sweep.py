"""The schedule that finds overdue tasks, and the function that applies their remedies."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.render import dead_letter_queue

MEMORY_MB = 512
TIMEOUT_SECONDS = 60  # no longer than the schedule's period: two sweeps seldom meet
# The next minute brings another sweep anyway, so a late one is worth little.
RETRIES = 2
EVENT_AGE_SECONDS = 120


class Sweep(Construct):
    """The guarantee that every task ends."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.sweep = PipelineFunction(
            self,
            "sweep",
            package=package,
            description="Finds overdue tasks and applies their remedies",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        self.failures = dead_letter_queue(self, "failures")
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description="Tallyreel sweep schedule",
        )
        for action, resource in (
            ("lambda:InvokeFunction", self.sweep.function.function_arn),
            ("sqs:SendMessage", self.failures.queue_arn),
        ):
            role.add_to_policy(iam.PolicyStatement(actions=[action], resources=[resource]))
        schedule = scheduler.CfnSchedule(
            self,
            "Schedule",
            description="Tallyreel: sweep overdue tasks",
            schedule_expression="rate(1 minute)",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=self.sweep.function.function_arn,
                role_arn=role.role_arn,
                input="{}",
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_retry_attempts=RETRIES,
                    maximum_event_age_in_seconds=EVENT_AGE_SECONDS,
                ),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(
                    arn=self.failures.queue_arn
                ),
            ),
        )
        schedule.node.add_dependency(role)
