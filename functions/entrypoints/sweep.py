"""Each minute → sweep."""

from datetime import timedelta
from typing import Any

from functions.bootstrap import ports
from functions.entrypoints.log import done
from functions.pipeline.sweep import sweep

MARGIN_SECONDS = 10  # what one remedy and the answer may still take


def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    """Apply remedies until all is done or time is nearly up."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    until = ports().clock.now() + left - timedelta(seconds=MARGIN_SECONDS)
    outcome = dict(sweep(ports(), until))
    done("sweep", outcome=outcome)
    return outcome
