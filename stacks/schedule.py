"""A function that runs at intervals, with what it takes to notice when it cannot."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.function import PipelineFunction

RETRIES = 2


class Schedule(Construct):
    """EventBridge Scheduler is at-least-once: what it calls must not mind being called twice."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: PipelineFunction,
        failures: sqs.IQueue,
        rate: str,
        event_age_seconds: int,
    ) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description=f"Tallyreel {stage.stage} schedule",
        )
        for action, resource in (
            ("lambda:InvokeFunction", stage.function.function_arn),
            ("sqs:SendMessage", failures.queue_arn),
        ):
            role.add_to_policy(iam.PolicyStatement(actions=[action], resources=[resource]))
        schedule = scheduler.CfnSchedule(
            self,
            "Schedule",
            description=f"Tallyreel: {stage.stage}",
            schedule_expression=f"rate({rate})",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=stage.function.function_arn,
                role_arn=role.role_arn,
                input="{}",
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_retry_attempts=RETRIES,
                    maximum_event_age_in_seconds=event_age_seconds,
                ),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(
                    arn=failures.queue_arn
                ),
            ),
        )
        schedule.node.add_dependency(role)
