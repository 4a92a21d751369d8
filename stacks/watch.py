"""The alarms that mean a person has to look. Each has a section in docs/operating.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from aws_cdk import CfnCondition, CfnParameter, Duration, Fn
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from functions.domain.hooks import Parked
from functions.domain.kinds import Kind
from functions.domain.signals import NAMESPACE, SIGNALS
from functions.domain.states import TaskState
from stacks.config import Config
from stacks.function import PipelineFunction

GUIDE = "docs/operating.md"
EXPRESSION_ALARMS = "ExpressionAlarms"
MINUTE, FIVE_MINUTES, QUARTER = (Duration.minutes(minutes) for minutes in (1, 5, 15))
HOUR = Duration.hours(1)

RELAY_LAG_SECONDS = 60
FAILED_PERCENT = 20
FAILED_OF_MIN = 10  # one failure among three tasks is no rate
STUCK_PER_HOUR = 10  # one stuck task is mended by the sweep; ten have one cause
LOST_CALLS_PER_HOUR = 3
LATE_PER_HOUR = 10  # each cancel of a running render makes one
API_ERRORS_MIN = 5
API_ERRORS_PERCENT = 1


def metric(
    name: str, statistic: str, period: Duration, *, label: str | None = None, **split: str
) -> cloudwatch.Metric:
    """Refer to a metric as the pipeline reports it."""
    signal = SIGNALS[name]
    if set(split) != set(signal.split):
        raise ValueError(f"{name} is split by {signal.split}")
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map=split,
        statistic=statistic,
        period=period,
        label=label,
    )


def worker_stops_rule(prefix: str) -> str:
    """Name the rule that a worker's bad end matches."""
    return f"{prefix}-worker-stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When an alarm goes off: above, or else below a threshold."""

    above: float | None = None
    below: float = 0
    periods: int = 1
    datapoints: int | None = None  # of the periods; all of them by default
    missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING


class Watch(Construct):
    """Ten cents a month for each metric in an alarm, so only what never clears by itself."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Config) -> None:
        super().__init__(scope, construct_id)
        topic = config.alarm_topic_arn
        self._action = (
            actions.SnsAction(sns.Topic.from_topic_arn(self, "Topic", topic)) if topic else None
        )
        self._prefix = config.name
        self.names: list[str] = []
        # The emulator refuses alarms on expressions, and is told so when it is deployed to.
        wanted = CfnParameter(
            self,
            EXPRESSION_ALARMS,
            default="yes",
            allowed_values=["yes", "no"],
            description="Whether alarms on metric expressions are made",
        )
        wanted.override_logical_id(EXPRESSION_ALARMS)
        self._expressions = CfnCondition(
            self, "Expressions", expression=Fn.condition_equals(wanted.value_as_string, "yes")
        )

    def tasks(self, kinds: Iterable[Kind]) -> None:
        """Alarm on tasks that do not end, or do not end well."""
        self._failure_rate()
        self._alarm(
            "overdue",
            "three sweeps in a row had to leave tasks overdue",
            metric("Overdue", "Maximum", MINUTE),
            Rule(above=0, periods=3, missing=cloudwatch.TreatMissingData.IGNORE),
        )
        self._alarm(
            "sweep-stopped",
            "no sweep has ended for ten minutes: nothing guarantees that tasks end",
            metric("Overdue", "SampleCount", FIVE_MINUTES),
            Rule(below=1, periods=2, missing=cloudwatch.TreatMissingData.BREACHING),
        )
        self._alarm(
            "stuck",
            f"{STUCK_PER_HOUR} tasks within an hour had lost their message, worker, call or run",
            metric("Stuck", "Sum", HOUR),
            Rule(above=STUCK_PER_HOUR - 1),
        )
        oldest = max(kind.limits.queue_wait_seconds + kind.limits.job_seconds_max for kind in kinds)
        self._alarm(
            "oldest-unfinished",
            f"a task is unfinished after {oldest // 3600} hours",
            metric("OldestUnfinished", "Maximum", QUARTER),
            Rule(above=oldest),
        )
        self._alarm(
            "held-for-review",
            "a doubtful result waits for an operator, and fails if none judges it in time",
            metric("HeldForReview", "Sum", FIVE_MINUTES),
            Rule(above=0),
        )

    def money(self) -> None:
        """Alarm on credits that do not add up and on work that is paid and not charged."""
        self._alarm(
            "audit-differences",
            "the auditor found balances, holds, ends or locks that do not agree",
            metric("AuditDifferences", "Maximum", HOUR),
            Rule(above=0, missing=cloudwatch.TreatMissingData.IGNORE),
        )
        self._alarm(
            "possible-spend",
            "a provider's job was given up that it may charge",
            metric("PossibleSpend", "Sum", HOUR),
            Rule(above=0),
        )
        late = {name: metric(name, "Sum", HOUR) for name in ("LateResult", "LateHook")}
        self._alarm(
            "late-results",
            f"{LATE_PER_HOUR} results within an hour came after their tasks had ended",
            _sum(late.values(), HOUR),
            Rule(above=LATE_PER_HOUR - 1),
        )

    def calls(self) -> None:
        """Alarm on calls from providers that do not reach us, or are not understood."""
        self._alarm(
            "webhooks-lost",
            f"{LOST_CALLS_PER_HOUR} results within an hour were found by asking, without a call",
            metric("FoundBySweep", "Sum", HOUR),
            Rule(above=LOST_CALLS_PER_HOUR - 1),
        )
        self._alarm(
            "webhooks-parked",
            "a provider's call is authentic and not understood; it is kept",
            metric("Hook", "Sum", FIVE_MINUTES, judged=Parked.__name__),
            Rule(above=0),
        )

    def dead_letters(
        self, lanes: Mapping[str, sqs.IQueue], failures: Mapping[str, sqs.IQueue]
    ) -> None:
        """Alarm on the first message that nothing could be done with, and on ever more of them."""
        for name, queue in {**lanes, **failures}.items():
            self._alarm(
                f"{name}-dead-letters",
                f"messages wait in the dead-letter queue of {name}",
                queue.metric_approximate_number_of_messages_visible(period=FIVE_MINUTES),
                Rule(above=0),
                section="dead-letters",
            )
        depths = [
            queue.metric_approximate_number_of_messages_visible(period=QUARTER)
            for queue in lanes.values()
        ]
        self._alarm(
            "dead-letters-growing",
            "tasks have kept dying for three quarters of an hour",
            cloudwatch.MathExpression(
                expression="DIFF(depth)",
                using_metrics={"depth": _sum(depths, QUARTER)},
                period=QUARTER,
            ),
            Rule(above=0, periods=4, datapoints=3),
        )

    def relay_lag(self, relay: PipelineFunction) -> None:
        """Alarm when the fast path is slow; the sweeper carries on meanwhile."""
        self._alarm(
            "relay-lag",
            f"the relay is more than {RELAY_LAG_SECONDS} s behind the table",
            relay.function.metric("IteratorAge", statistic="Maximum", period=FIVE_MINUTES),
            Rule(above=RELAY_LAG_SECONDS * 1000),
        )

    def errors(self, *functions: PipelineFunction) -> None:
        """Alarm on unexpected exceptions: a task that fails by rule raises none."""
        for each in functions:
            self._alarm(
                f"{each.stage}-errors",
                f"{each.stage} raised an unexpected error",
                each.function.metric_errors(period=FIVE_MINUTES),
                Rule(above=0),
                section="errors",
            )

    def worker_stops(self) -> None:
        """Alarm on workers that crashed, were killed for their memory, or did not start."""
        self._alarm(
            "worker-stopped",
            "a worker crashed, was killed or did not start",
            cloudwatch.Metric(
                namespace="AWS/Events",
                metric_name="Invocations",
                dimensions_map={"RuleName": worker_stops_rule(self._prefix)},
                statistic="Sum",
                period=FIVE_MINUTES,
            ),
            Rule(above=0),
        )

    def failed_runs(self, workflow: sfn.StateMachine) -> None:
        """Alarm on settle runs that died; each is started again by the sweeper."""
        self._alarm(
            "settle-runs-failed",
            "runs of the settle workflow failed",
            workflow.metric_failed(period=FIVE_MINUTES),
            Rule(above=0),
        )

    def answers(self, http: api.HttpApi) -> None:
        """Alarm on requests that we failed."""
        self._alarm(
            "api-errors",
            f"more than {API_ERRORS_PERCENT} % of the API's answers are its own errors",
            cloudwatch.MathExpression(
                expression=f"IF(errors >= {API_ERRORS_MIN}, 100 * errors / requests, 0)",
                using_metrics={
                    "errors": http.metric_server_error(statistic="Sum", period=FIVE_MINUTES),
                    "requests": http.metric_count(statistic="Sum", period=FIVE_MINUTES),
                },
                period=FIVE_MINUTES,
            ),
            Rule(above=API_ERRORS_PERCENT),
        )

    def _failure_rate(self) -> None:
        self._alarm(
            "failure-rate",
            f"more than {FAILED_PERCENT} % of at least {FAILED_OF_MIN} tasks of an hour failed",
            failure_rate(HOUR, of_min=FAILED_OF_MIN),
            Rule(above=FAILED_PERCENT),
        )

    def _alarm(
        self,
        name: str,
        says: str,
        of: cloudwatch.IMetric,
        rule: Rule,
        *,
        section: str | None = None,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=f"Tallyreel: {says}. See {GUIDE}#{section or name}",
            metric=of,
            threshold=rule.below if rule.above is None else rule.above,
            evaluation_periods=rule.periods,
            datapoints_to_alarm=rule.datapoints,
            comparison_operator=(
                cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
                if rule.above is None
                else cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
            ),
            treat_missing_data=rule.missing,
        )
        self.names.append(f"{self._prefix}-{name}")
        if isinstance(of, cloudwatch.MathExpression):
            cast(
                "cloudwatch.CfnAlarm", alarm.node.default_child
            ).cfn_options.condition = self._expressions
        if self._action:
            alarm.add_alarm_action(self._action)


def failure_rate(period: Duration, *, of_min: int) -> cloudwatch.MathExpression:
    """Say which share of ended tasks failed, in percent; 0 while too few ended."""
    states = (TaskState.DELIVERED, TaskState.FAILED, TaskState.DEAD)
    ended = {state.value: metric("Transition", "Sum", period, state=state) for state in states}
    bad = "FILL(failed, 0) + FILL(dead, 0)"
    every = f"(FILL(delivered, 0) + {bad})"
    return cloudwatch.MathExpression(
        expression=f"IF({every} >= {of_min}, 100 * ({bad}) / {every}, 0)",
        using_metrics=ended,
        period=period,
        label="% failed",
    )


def _sum(metrics: Iterable[cloudwatch.IMetric], period: Duration) -> cloudwatch.MathExpression:
    named = {f"m{number}": each for number, each in enumerate(metrics)}
    return cloudwatch.MathExpression(
        expression=" + ".join(f"FILL({name}, 0)" for name in named),
        using_metrics=named,
        period=period,
    )
