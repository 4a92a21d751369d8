"""Table stream, delivered tasks only → measure."""

from typing import Any

from functions.bootstrap import ports, task_from_image
from functions.entrypoints.log import done
from functions.pipeline.measure import measure


def handler(event: dict[str, Any], _context: Any) -> dict[str, int]:
    """Count a batch's durations. Nothing is asked for again: a lost sample does no harm."""
    tasks = [task_from_image(record["dynamodb"]["NewImage"]) for record in event["Records"]]
    outcome = measure(ports(), tasks)
    done("measure", outcome=outcome)
    return outcome
