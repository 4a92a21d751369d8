"""Table stream → relay."""

from typing import Any

from functions.bootstrap import ports, task_from_image
from functions.domain.errors import TallyreelError
from functions.entrypoints.log import done, trouble
from functions.pipeline.relay import relay


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Send each record's effect; the first that fails and all after it come again."""
    for record in event["Records"]:
        change = record["dynamodb"]
        try:
            task = task_from_image(change["NewImage"])
            effect = relay(ports(), task)
        except TallyreelError as error:
            trouble("relay", error)
            return {"batchItemFailures": [{"itemIdentifier": change["SequenceNumber"]}]}
        done("relay", task=task.id, attempt=task.attempt, outcome=effect)
    return {"batchItemFailures": []}
