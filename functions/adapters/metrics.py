"""Metrics as embedded JSON in the log: no request, and no cost but the line."""

from collections.abc import Mapping

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from functions.domain.signals import NAMESPACE, SIGNALS


class LogMetrics:
    """Provides `Metrics`."""

    def count(self, name: str, value: float = 1, **about: str) -> None:
        _written(name, value, about)

    def gauge(self, name: str, value: float, **about: str) -> None:
        _written(name, value, about)


def _written(name: str, value: float, about: Mapping[str, str]) -> None:
    signal = SIGNALS[name]
    unit = MetricUnit(signal.unit.value)
    with single_metric(name=name, unit=unit, value=value, namespace=NAMESPACE) as metric:
        # Powertools would split every metric by the function's name too.
        metric.service = ""
        for key, of in about.items():
            if key in signal.split:
                metric.add_dimension(name=key, value=of)
            else:
                metric.add_metadata(key=key, value=of)
