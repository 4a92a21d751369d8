"""One dashboard from order to money."""

from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from functions.domain import hooks
from functions.domain.credits import EntryKind
from functions.domain.states import TaskState
from functions.domain.verdicts import Ruling
from stacks.function import PipelineFunction
from stacks.render import Lane
from stacks.watch import failure_rate, metric

PERIOD = Duration.minutes(5)
HOUR = Duration.hours(1)
WIDTH, HEIGHT = 8, 6  # three to a row
HEARD = (hooks.Hint, hooks.Parked, hooks.BadSignature, hooks.Unverifiable, hooks.Challenge)


class Overview(Construct):
    """Reads as a task goes: ordered, rendered, called about, verified, charged."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        alarms: Iterable[str],
        http: api.HttpApi,
        stages: Mapping[str, PipelineFunction],
        lanes: Iterable[Lane],
    ) -> None:
        super().__init__(scope, construct_id)
        self.dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=name, default_interval=Duration.hours(12)
        )
        self.dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(
                title="Alarms",
                alarms=[self._alarm(number, each) for number, each in enumerate(alarms)],
                width=3 * WIDTH,
                height=HEIGHT,
            )
        )
        self.dashboard.add_widgets(*self._orders(http))
        self.dashboard.add_widgets(*self._work(stages, lanes))
        self.dashboard.add_widgets(*self._guarantee(stages))
        self.dashboard.add_widgets(*self._providers())
        self.dashboard.add_widgets(*self._money())

    def _alarm(self, number: int, name: str) -> cloudwatch.IAlarm:
        # By its name, because not every alarm exists on the emulator.
        arn = Stack.of(self).format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name=name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        return cloudwatch.Alarm.from_alarm_arn(self, f"Alarm{number}", arn)

    def _orders(self, http: api.HttpApi) -> list[cloudwatch.IWidget]:
        ended = (state for state in TaskState if state.done)
        return [
            _graph(
                "Orders and ends",
                [
                    metric("Credits", "SampleCount", HOUR, label="ordered", entry=EntryKind.HOLD),
                    *(metric("Transition", "Sum", HOUR, label=s, state=s) for s in ended),
                ],
            ),
            _graph("Share of ended tasks that failed", [failure_rate(HOUR, of_min=1)]),
            _graph(
                "API",
                [
                    http.metric_count(period=PERIOD, label="requests"),
                    http.metric_client_error(period=PERIOD, label="4xx"),
                    http.metric_server_error(period=PERIOD, label="5xx"),
                ],
                [http.metric_latency(period=PERIOD, statistic="p99", label="p99, ms")],
            ),
        ]

    def _work(
        self, stages: Mapping[str, PipelineFunction], lanes: Iterable[Lane]
    ) -> list[cloudwatch.IWidget]:
        render = stages["render"].function
        return [
            _graph(
                "Waiting",
                [
                    lane.queue.metric_approximate_age_of_oldest_message(
                        period=PERIOD, label=f"{lane.name}, s"
                    )
                    for lane in lanes
                ],
            ),
            _graph(
                "Render function",
                [render.metric_duration(period=PERIOD, statistic="p99", label="p99, ms")],
                [render.metric("ConcurrentExecutions", statistic="Maximum", period=PERIOD)],
            ),
            _graph(
                "On the way",
                [
                    metric("Transition", "Sum", PERIOD, label=state, state=state)
                    for state in TaskState
                    if not state.done
                ],
            ),
        ]

    def _guarantee(self, stages: Mapping[str, PipelineFunction]) -> list[cloudwatch.IWidget]:
        relay = stages["relay"].function
        return [
            _graph(
                "The sweep",
                [
                    metric("Overdue", "Maximum", PERIOD, label="left overdue"),
                    metric("Stuck", "Sum", PERIOD, label="stuck"),
                ],
                [metric("OldestUnfinished", "Maximum", PERIOD, label="oldest, s")],
            ),
            _graph(
                "Relay",
                [relay.metric("IteratorAge", statistic="Maximum", period=PERIOD)],
                [relay.metric_invocations(period=PERIOD)],
            ),
            _graph(
                "Unexpected errors",
                [
                    each.function.metric_errors(period=PERIOD, label=stage)
                    for stage, each in stages.items()
                ],
            ),
        ]

    def _providers(self) -> list[cloudwatch.IWidget]:
        names = [each.__name__ for each in HEARD]
        return [
            _graph(
                "Calls from providers",
                [metric("Hook", "Sum", PERIOD, label=name, judged=name) for name in names],
            ),
            _graph(
                "Calls that did not help",
                [_plain(name) for name in ("FoundBySweep", "LateHook", "HookOfNobody")],
            ),
            _graph(
                "Trouble with providers",
                [_plain(name) for name in ("ProviderAnswer", "OutputRefused", "PossibleSpend")],
            ),
        ]

    def _money(self) -> list[cloudwatch.IWidget]:
        rulings = [metric("Verdict", "Sum", HOUR, label=ruling, ruling=ruling) for ruling in Ruling]
        moved = (EntryKind.HOLD, EntryKind.SETTLE, EntryKind.RELEASE)
        return [
            _graph("Inspected", [*rulings, _plain("HeldForReview")]),
            _graph(
                "Credits",
                [metric("Credits", "Sum", HOUR, label=kind, entry=kind) for kind in moved],
            ),
            _graph(
                "Must be nothing",
                [metric("AuditDifferences", "Maximum", HOUR), _plain("LateResult")],
            ),
        ]


def _plain(name: str) -> cloudwatch.Metric:
    return metric(name, "Sum", HOUR, label=name)


def _graph(
    title: str,
    left: Sequence[cloudwatch.IMetric],
    right: Sequence[cloudwatch.IMetric] = (),
) -> cloudwatch.IWidget:
    return cloudwatch.GraphWidget(
        title=title, left=list(left), right=list(right), width=WIDTH, height=HEIGHT
    )
