"""The schedule of the auditor: it starts once a day, and goes on each hour until it is through."""

from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.render import dead_letter_queue
from stacks.schedule import Schedule

MEMORY_MB = 1024  # one account's tasks and entries at a time
TIMEOUT_SECONDS = 900
EVENT_AGE_SECONDS = 3600


class Audit(Construct):
    """Recomputes every balance; what differs is shown and alarmed, never repaired."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.audit = PipelineFunction(
            self,
            "audit",
            package=package,
            description="Adds every ledger up and compares",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        self.failures = dead_letter_queue(self, "failures")
        Schedule(
            self,
            "EachHour",
            stage=self.audit,
            failures=self.failures,
            rate="1 hour",
            event_age_seconds=EVENT_AGE_SECONDS,
        )
