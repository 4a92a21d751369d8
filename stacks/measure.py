"""The function that learns from delivered tasks how long providers take."""

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from functions.domain.states import TaskState
from stacks.function import Package, PipelineFunction
from stacks.relay import may_read_stream

MEMORY_MB = 512
TIMEOUT_SECONDS = 60
# Deliveries of half a minute cost one call, and one write per kind and provider.
BATCH = 1000
BATCH_SECONDS = 30
RETRIES = 1
RECORD_AGE_SECONDS = 3600


class Measure(Construct):
    """The stream's second reader; with the relay it has as many as it serves at full speed."""

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
        self.measure = PipelineFunction(
            self,
            "measure",
            package=package,
            description="Learns how long renders take",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        may_read_stream(self.measure, table_arn=table_arn, stream_arn=stream_arn)
        # What fails is dropped, and kept nowhere: a lost sample does no harm.
        lambda_.EventSourceMapping(
            self,
            "reader",
            target=self.measure.function,
            event_source_arn=stream_arn,
            starting_position=lambda_.StartingPosition.LATEST,
            batch_size=BATCH,
            max_batching_window=Duration.seconds(BATCH_SECONDS),
            retry_attempts=RETRIES,
            max_record_age=Duration.seconds(RECORD_AGE_SECONDS),
            filters=[
                lambda_.FilterCriteria.filter(
                    {
                        "eventName": lambda_.FilterRule.is_equal("MODIFY"),
                        "dynamodb": {
                            "NewImage": {
                                "state": {"S": lambda_.FilterRule.is_equal(TaskState.DELIVERED)}
                            }
                        },
                    }
                )
            ],
        )
