"""The function that sends what the table's stream says must be sent."""

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.render import dead_letter_queue

MEMORY_MB = 512
TIMEOUT_SECONDS = 30
BATCH = 25
# Bounded, because an image that cannot be sent would hold its shard up; the sweeper does its
# work again after that.
RETRIES = 10
RECORD_AGE_SECONDS = 3600
SHARD_BATCHES = 2


def may_read_stream(stage: PipelineFunction, *, table_arn: str, stream_arn: str) -> None:
    """Let Lambda read a table's stream for a function."""
    stage.allow(
        ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
        stream_arn,
    )
    stage.allow_below(
        ["dynamodb:ListStreams"],
        f"{table_arn}/stream/*",
        because="Lambda's reader lists a table's streams; it cannot be given only one.",
    )


class Relay(Construct):
    """The fast path. Switched off, tasks still end, by the sweeper."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        table_arn: str,
        stream_arn: str,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.relay = PipelineFunction(
            self,
            "relay",
            package=package,
            description="Sends the effects of state changes",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        # Holds positions in the stream, not records: an alarm, nothing to redrive.
        self.failures = dead_letter_queue(self, "failures")
        may_read_stream(self.relay, table_arn=table_arn, stream_arn=stream_arn)
        lambda_.EventSourceMapping(
            self,
            "reader",
            target=self.relay.function,
            event_source_arn=stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=BATCH,
            max_batching_window=Duration.seconds(0),
            parallelization_factor=SHARD_BATCHES,
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            retry_attempts=RETRIES,
            max_record_age=Duration.seconds(RECORD_AGE_SECONDS),
            on_failure=event_sources.SqsDlq(self.failures),
            # The attribute is there only while its image has an effect to send, so every
            # other write costs no invocation.
            filters=[
                lambda_.FilterCriteria.filter(
                    {
                        "eventName": lambda_.FilterRule.or_("INSERT", "MODIFY"),
                        "dynamodb": {"NewImage": {"ob": {"S": lambda_.FilterRule.exists()}}},
                    }
                )
            ],
        )
