"""The pipeline in its order, and who may do what."""

from pathlib import Path

from aws_cdk import CfnOutput, IStackSynthesizer, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from functions import kinds
from stacks import remote
from stacks.audit import Audit
from stacks.bundle import Target, layer
from stacks.check import Check
from stacks.config import Config
from stacks.function import PYTHON, ROOT, RUNTIME, Package, PipelineFunction, pipeline_code
from stacks.hooks import OPERATORS_ROUTES, Hooks
from stacks.hooks import ROUTE as HOOK_ROUTE
from stacks.intake import Intake
from stacks.measure import Measure
from stacks.overview import Overview
from stacks.relay import Relay
from stacks.render import Lane, Render
from stacks.settle import Settle
from stacks.storage import DUE_INDEX, StorageStack
from stacks.submit import Submit
from stacks.sweep import Sweep
from stacks.watch import Watch
from stacks.worker_role import WorkerRole

# What a conditional write, alone or in a transaction, needs; reading is granted beside it.
WRITES = (
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)


class PipelineStack(Stack):
    """Everything that can be replaced at any time."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        storage: StorageStack,
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, description="Tallyreel: the pipeline", synthesizer=synthesizer
        )
        self.storage = storage
        self.config = config
        in_use = storage.table_in_use(config)
        self._table_arn = in_use.arn
        self._bucket_arn = str(storage.export_value(storage.bucket.bucket_arn))
        package = self._package(config)
        table = {"TALLYREEL_TABLE": in_use.name}
        media = table | {"TALLYREEL_BUCKET": storage.bucket.bucket_name}

        self.intake = Intake(
            self,
            "Intake",
            package=package,
            environment=media | remote.routes(config) | remote.options(config),
            issuer=storage.users.issuer if storage.users else config.jwt_issuer,
            audience=(
                [storage.users.client.user_pool_client_id]
                if storage.users
                else list(config.jwt_audience)
            ),
        )
        self.render = Render(
            self,
            "Render",
            package=package,
            kinds=kinds.load().values(),
            environment=media,
        )
        reach = remote.options(config)
        called = {"TALLYREEL_HOOK_BASE": self.intake.api.api_endpoint}
        self.submit = Submit(
            self,
            "Submit",
            package=package,
            environment=media | remote.routes(config) | reach | called,
        )
        self.check = Check(self, "Check", package=package, environment=media | reach | called)
        self.hooks = Hooks(
            self,
            "Hooks",
            package=package,
            environment={
                "TALLYREEL_BUCKET": storage.bucket.bucket_name,
                "TALLYREEL_TOKEN_CLIENTS": ",".join(self.intake.audience),
                "TALLYREEL_OPERATOR_GROUP": config.operator_group,
            }
            | reach,
        )
        self.intake.takes_hooks(self.hooks.hooks, HOOK_ROUTE, operators=OPERATORS_ROUTES)
        self.settle = Settle(
            self,
            "Settle",
            package=package,
            environment=table
            | (
                {"TALLYREEL_REVIEWS": self.to_json_string(config.reviews)} if config.reviews else {}
            ),
            media_environment=media,
            fetch_environment=reach,
        )
        queue_urls = {lane.name: lane.queue.queue_url for lane in self.lanes}
        grave_urls = {lane.name: lane.dead_letters.queue_url for lane in self.lanes}
        sends = {
            "TALLYREEL_QUEUE_URLS": self.to_json_string(queue_urls),
            "TALLYREEL_WORKFLOW_ARN": self.settle.workflow.state_machine_arn,
        }
        self.relay = Relay(
            self,
            "Relay",
            package=package,
            table_arn=self._table_arn,
            stream_arn=in_use.stream_arn,
            environment=sends | {"TALLYREEL_DLQ_URLS": self.to_json_string(grave_urls)},
        )
        self.measure = Measure(
            self,
            "Measure",
            package=package,
            table_arn=self._table_arn,
            stream_arn=in_use.stream_arn,
            environment=table,
        )
        self.sweep = Sweep(self, "Sweep", package=package, environment=media | sends)
        self.audit = Audit(self, "Audit", package=package, environment=media)
        self.worker = WorkerRole(
            self,
            "Worker",
            lanes=self.render.worker_lanes,
            config=config,
            table_arn=self._table_arn,
            writes=WRITES,
            bucket_arn=self._bucket_arn,
        )
        self._tell_each_other()
        self._grant()
        self._watch(config)
        self._outputs(sends["TALLYREEL_QUEUE_URLS"])

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Every queue that work waits in."""
        return (*self.render.lanes, self.submit.lane, self.check.lane)

    @property
    def functions(self) -> tuple[PipelineFunction, ...]:
        """Every stage, in the order of a task's life."""
        return (
            self.intake.intake,
            self.relay.relay,
            self.render.render,
            self.submit.submit,
            self.check.check,
            self.hooks.hooks,
            self.settle.fetch,
            self.settle.verify,
            self.settle.settle,
            self.measure.measure,
            self.sweep.sweep,
            self.audit.audit,
        )

    def _tell_each_other(self) -> None:
        """Say which queues the remote stages send to, and which secrets they may read."""
        config = self.config
        for stage, lane in (
            (self.submit.submit, self.submit.lane),  # what a budget puts off goes back
            (self.hooks.hooks, self.check.lane),
        ):
            urls = {lane.name: lane.queue.queue_url}
            stage.function.add_environment("TALLYREEL_QUEUE_URLS", self.to_json_string(urls))
            stage.allow(["sqs:SendMessage"], lane.queue.queue_arn)
        for stage in (self.submit.submit, self.check.check, self.hooks.hooks, self.settle.fetch):
            for name, value in remote.secrets(stage, config).items():
                stage.function.add_environment(name, value)

    def _package(self, config: Config) -> Package:
        target = Target.here() if config.local else Target(python=PYTHON, machine="aarch64")
        return Package(
            config=config,
            code=pipeline_code(),
            runtime_layer=self._layer("runtime", "requirements.txt", target),
            media_layer=self._layer("media", "requirements-media.txt", target),
        )

    def _layer(self, name: str, requirements: str, target: Target) -> lambda_.LayerVersion:
        archive, digest = layer(name, Path(ROOT, "functions", requirements), target)
        return lambda_.LayerVersion(
            self,
            f"{name}-layer",
            description=f"Tallyreel {name} dependencies",
            code=lambda_.Code.from_asset(str(archive), asset_hash=digest),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[lambda_.Architecture.ARM_64],
        )

    def _grant(self) -> None:
        table, due = self._table_arn, f"{self._table_arn}/index/{DUE_INDEX}"
        stages = {each.stage: each for each in self.functions}

        stages["intake"].allow(["dynamodb:GetItem", "dynamodb:Query", *WRITES], table)
        stages["intake"].allow(["dynamodb:Query"], due)  # operators list dead tasks
        stages["render"].allow(["dynamodb:GetItem", *WRITES], table)
        stages["submit"].allow(["dynamodb:GetItem", "dynamodb:Query", *WRITES], table)
        stages["check"].allow(["dynamodb:GetItem", "dynamodb:Query", *WRITES], table)
        stages["fetch"].allow(["dynamodb:GetItem", *WRITES], table)
        stages["verify"].allow(["dynamodb:GetItem", "dynamodb:PutItem"], table)  # its report
        stages["settle"].allow(["dynamodb:GetItem", *WRITES], table)
        stages["measure"].allow(["dynamodb:GetItem", "dynamodb:PutItem"], table)
        stages["sweep"].allow(["dynamodb:GetItem", "dynamodb:Query", *WRITES], table)
        stages["sweep"].allow(["dynamodb:Query"], due)
        stages["audit"].allow(
            ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan"], table
        )  # the report is all that it writes

        self._grant_media(stages)
        for lane in self.lanes:
            stages["relay"].allow(["sqs:SendMessage"], lane.queue.queue_arn)
            stages["relay"].allow(["sqs:SendMessage"], lane.dead_letters.queue_arn)
            stages["sweep"].allow(["sqs:SendMessage"], lane.queue.queue_arn)
        for stage in ("relay", "sweep"):
            stages[stage].allow(["states:StartExecution"], self.settle.workflow.state_machine_arn)

    def _grant_media(self, stages: dict[str, PipelineFunction]) -> None:
        bucket = self._bucket_arn
        uploads, outputs, calls = (f"{bucket}/{prefix}/*" for prefix in ("in", "out", "hooks"))
        for stage, actions, prefixes in (
            ("intake", ["s3:GetObject"], [uploads, outputs]),
            ("intake", ["s3:PutObject"], [uploads]),  # signs the upload forms
            ("render", ["s3:GetObject"], [uploads]),
            ("render", ["s3:DeleteObject", "s3:PutObject"], [outputs]),
            ("submit", ["s3:GetObject"], [uploads]),  # signs the photo's link
            ("check", ["s3:GetObject"], [outputs]),
            ("fetch", ["s3:GetObject", "s3:PutObject"], [outputs]),
            ("hooks", ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], [calls]),
            ("verify", ["s3:GetObject", "s3:PutObject"], [outputs]),
            ("sweep", ["s3:GetObject"], [outputs]),
        ):
            stages[stage].allow_below(
                actions, *prefixes, because="Each task's files have names of their own."
            )
        for stage in (
            "intake",
            "render",
            "submit",
            "check",
            "hooks",
            "fetch",
            "verify",
            "sweep",
            "audit",
        ):
            # Without it S3 answers 403 for a key that is not there, and "gone" could not be
            # told from "not allowed".
            stages[stage].allow(["s3:ListBucket"], bucket)

    def _watch(self, config: Config) -> None:
        watch = Watch(self, "Watch", config=config)
        watch.tasks(kinds.load().values())
        watch.money()
        watch.calls()
        watch.dead_letters(
            {lane.name: lane.dead_letters for lane in self.lanes},
            {
                "relay": self.relay.failures,
                "sweep": self.sweep.failures,
                "audit": self.audit.failures,
            },
        )
        watch.relay_lag(self.relay.relay)
        watch.errors(*self.functions)
        watch.worker_stops()
        watch.failed_runs(self.settle.workflow)
        watch.answers(self.intake.api)
        Overview(
            self,
            "Overview",
            name=config.name,
            alarms=watch.names,
            http=self.intake.api,
            stages={each.stage: each for each in self.functions},
            lanes=self.lanes,
        )

    def _outputs(self, queue_urls: str) -> None:
        CfnOutput(self, "ApiUrl", value=self.intake.stage.url)
        CfnOutput(self, "QueueUrls", value=queue_urls)
        CfnOutput(self, "WorkflowArn", value=self.settle.workflow.state_machine_arn)
        for each in self.functions:
            CfnOutput(self, f"{each.stage.capitalize()}Function", value=each.function.function_name)
