"""The queue of orders for remote providers, and the function that places them."""

from constructs import Construct

from stacks.function import Package, PipelineFunction
from stacks.remote import SUBMIT_LANE
from stacks.render import read_queue, work_queue

MEMORY_MB = 512
TIMEOUT_SECONDS = 120  # a provider may take a minute to answer, and that answer is worth much


class Submit(Construct):
    """Sends exactly one request per attempt."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.submit = PipelineFunction(
            self,
            "submit",
            package=package,
            description="Orders one render from a provider",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
        self.lane = work_queue(self, SUBMIT_LANE, seconds=TIMEOUT_SECONDS)
        read_queue(self.submit, self.lane, concurrency_max=package.config.provider_concurrency_max)
