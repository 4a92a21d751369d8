"""Random lives; the same ones each time here, new ones in `python -m tests.prove`."""

from hypothesis import HealthCheck, settings

from tests.simulation.machine import Orders

TestOrders = Orders.TestCase
TestOrders.settings = settings(
    max_examples=300,
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
