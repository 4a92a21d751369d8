"""The alarms that mean a person has to look."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from stacks.config import Config
from stacks.function import PipelineFunction

RELAY_LAG_SECONDS = 60
PERIOD = Duration.minutes(5)


class Watch(Construct):
    """Ten cents a month each, so only what never clears by itself."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Config) -> None:
        super().__init__(scope, construct_id)
        topic = config.alarm_topic_arn
        self._action = (
            actions.SnsAction(sns.Topic.from_topic_arn(self, "Topic", topic)) if topic else None
        )

    def dead_letters(self, queues: Mapping[str, sqs.IQueue]) -> None:
        """Alarm on the first message that nothing could be done with."""
        for name, queue in queues.items():
            self._alarm(
                f"{name}-dead-letters",
                f"Tallyreel: messages wait in the dead-letter queue of {name}",
                queue.metric_approximate_number_of_messages_visible(period=PERIOD),
                above=0,
            )

    def relay_lag(self, relay: PipelineFunction) -> None:
        """Alarm when the fast path is slow; the sweeper carries on meanwhile."""
        self._alarm(
            "relay-lag",
            f"Tallyreel: the relay is more than {RELAY_LAG_SECONDS} s behind the table",
            relay.function.metric("IteratorAge", statistic="Maximum", period=PERIOD),
            above=RELAY_LAG_SECONDS * 1000,
        )

    def errors(self, *functions: PipelineFunction) -> None:
        """Alarm on unexpected exceptions: a task that fails by rule raises none."""
        for each in functions:
            self._alarm(
                f"{each.stage}-errors",
                f"Tallyreel: {each.stage} raised an unexpected error",
                each.function.metric_errors(period=PERIOD),
                above=0,
            )

    def failed_runs(self, workflow: sfn.StateMachine) -> None:
        """Alarm on settle runs that died; each is started again by the sweeper."""
        self._alarm(
            "settle-runs-failed",
            "Tallyreel: runs of the settle workflow failed",
            workflow.metric_failed(period=PERIOD),
            above=0,
        )

    def _alarm(
        self, name: str, description: str, metric: cloudwatch.IMetric, *, above: float
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_description=description,
            metric=metric,
            threshold=above,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        if self._action:
            alarm.add_alarm_action(self._action)
