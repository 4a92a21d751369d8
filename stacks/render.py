"""A queue for each kind of task, and the function that works on those that fit into one."""

from collections.abc import Iterable
from dataclasses import dataclass

from aws_cdk import Acknowledgment, Duration, Validations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from functions.domain.kinds import Kind, Runs
from stacks.config import Config
from stacks.function import Package, PipelineFunction

# The largest that every account may use at once without a quota request; about 1.7 vCPUs.
MEMORY_MB = 3008
TIMEOUT_SECONDS = 300
SCRATCH_MB = 1024  # the photo, the clip and the encoder's second pass

# AWS's advice for a queue that a function reads: a message stays hidden through retries of
# the invocation itself, so that no second worker starts while the first may be at it.
VISIBILITY_FACTOR = 6
VISIBILITY_SECONDS_MAX = 12 * 60 * 60
# Throttled invocations count as receptions; fewer would bury work that no one has tried.
RECEPTIONS_MAX = 5
DEAD_LETTER_DAYS = 14  # the longest that SQS keeps; the task itself waits in the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Where messages wait for one kind of work, and where they end when nothing helps."""

    name: str
    queue: sqs.Queue
    dead_letters: sqs.Queue


def dead_letter_queue(scope: Construct, construct_id: str) -> sqs.Queue:
    """Make a queue that is only looked at by people and alarms."""
    queue = sqs.Queue(
        scope,
        construct_id,
        enforce_ssl=True,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        retention_period=Duration.days(DEAD_LETTER_DAYS),
    )
    Validations.of(queue).acknowledge(
        Acknowledgment(id="AwsSolutions-SQS3", reason="It is where dead letters end.")
    )
    return queue


def work_queue(scope: Construct, name: str, *, seconds: int) -> Lane:
    """Make a queue for work that takes so long at most, with its end."""
    dead_letters = dead_letter_queue(scope, f"{name}-dead-letters")
    queue = sqs.Queue(
        scope,
        f"{name}-queue",
        enforce_ssl=True,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        visibility_timeout=Duration.seconds(
            min(VISIBILITY_FACTOR * seconds, VISIBILITY_SECONDS_MAX)
        ),
        retention_period=Duration.days(DEAD_LETTER_DAYS),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=RECEPTIONS_MAX),
    )
    return Lane(name=name, queue=queue, dead_letters=dead_letters)


def read_queue(stage: PipelineFunction, lane: Lane, *, concurrency_max: int) -> None:
    """Have a function work a queue off, one message at a time."""
    lambda_.EventSourceMapping(
        stage,
        f"{lane.name}-reader",
        target=stage.function,
        event_source_arn=lane.queue.queue_arn,
        batch_size=1,
        max_concurrency=concurrency_max,
        report_batch_item_failures=True,
    ).node.add_dependency(stage.role)
    stage.allow(
        [
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
        ],
        lane.queue.queue_arn,
    )


class Render(Construct):
    """Does the work of the kinds that run in a function."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        kinds: Iterable[Kind],
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.render = PipelineFunction(
            self,
            "render",
            package=package,
            description="Renders one task",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            scratch_mb=SCRATCH_MB,
            media=True,
            environment=environment,
        )
        lanes = [(kind, self._lane(kind, package.config)) for kind in kinds]
        self.lanes = [lane for _, lane in lanes]
        self.worker_lanes = [lane for kind, lane in lanes if kind.runs is Runs.WORKER]

    def _lane(self, kind: Kind, config: Config) -> Lane:
        in_function = kind.runs is Runs.FUNCTION
        if in_function and kind.timeout_seconds > TIMEOUT_SECONDS:
            raise ValueError(f"kind {kind.name}: the render function ends at {TIMEOUT_SECONDS} s")
        # A kind's name is part of its queue's identity: renaming one replaces the queue.
        longest = max(kind.timeout_seconds, TIMEOUT_SECONDS)
        lane = work_queue(self, kind.name, seconds=longest)
        if in_function:
            read_queue(self.render, lane, concurrency_max=config.render_concurrency_max)
        return lane
