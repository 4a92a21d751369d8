"""The schedule that finds overdue tasks, and the function that applies their remedies."""

from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.render import dead_letter_queue
from stacks.schedule import Schedule

MEMORY_MB = 512
TIMEOUT_SECONDS = 60  # no longer than the schedule's period: two sweeps seldom meet
EVENT_AGE_SECONDS = 120  # the next minute brings another sweep anyway


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
        Schedule(
            self,
            "EachMinute",
            stage=self.sweep,
            failures=self.failures,
            rate="1 minute",
            event_age_seconds=EVENT_AGE_SECONDS,
        )
