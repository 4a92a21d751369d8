"""The queue of tasks to be asked about, and the function that asks their providers."""

from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.remote import CHECK_LANE
from stacks.render import read_queue, work_queue

MEMORY_MB = 512
TIMEOUT_SECONDS = 60


class Check(Construct):
    """Finds out how an attempt stands. Asking twice is harmless."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.check = PipelineFunction(
            self,
            "check",
            package=package,
            description="Asks a provider about one task",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        self.lane = work_queue(self, CHECK_LANE, seconds=TIMEOUT_SECONDS)
        read_queue(self.check, self.lane, concurrency_max=package.config.provider_concurrency_max)
