"""Metrics as embedded JSON in the log: no request, and no cost but the line."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

NAMESPACE = "Tallyreel"


class LogMetrics:
    """Provides `Metrics`."""

    def count(self, name: str, value: float = 1, **dimensions: str) -> None:
        with single_metric(
            name=name, unit=MetricUnit.Count, value=value, namespace=NAMESPACE
        ) as metric:
            for dimension, of in dimensions.items():
                metric.add_dimension(name=dimension, value=of)
