"""The function that takes calls from providers in. It may keep them and set off a check."""

from constructs import Construct

from stacks.function import Package, PipelineFunction

ROUTE = "POST /v1/hooks/{provider}/{token}"
OPERATORS_ROUTES = ("GET /v1/admin/hooks", "POST /v1/admin/hooks/replay")
MEMORY_MB = 512
TIMEOUT_SECONDS = 15  # providers wait so long at most


class Hooks(Construct):
    """Has no access to the table: a call by itself can move nothing."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.hooks = PipelineFunction(
            self,
            "hooks",
            package=package,
            description="Takes calls from providers in",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment,
        )
