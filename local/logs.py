"""Shows what the functions log, as they log it."""

import time
from typing import Any

from local.stack import Stack

PAUSE_SECONDS = 0.5
BACKLOG_SECONDS = 600
SUFFIX = "Function"
# What the runtime adds around every invocation.
PLATFORM = ("START RequestId", "END RequestId", "REPORT RequestId")


def follow(found: Stack) -> None:
    """Print the last minutes' lines, then each new one, until interrupted."""
    groups = _groups(found)
    client = found.client("logs")
    since = int((time.time() - BACKLOG_SECONDS) * 1000)
    seen: set[tuple[Any, ...]] = set()
    while True:
        events = [
            (event["timestamp"], stage, event)
            for stage, group in groups.items()
            for event in _events(client, group, since)
            if _identity(event) not in seen
        ]
        for _, stage, event in sorted(events, key=lambda each: each[0]):
            seen.add(_identity(event))
            if not event["message"].startswith(PLATFORM):
                print(f"{stage:7} {event['message'].rstrip()}", flush=True)
        time.sleep(PAUSE_SECONDS)


def _groups(found: Stack) -> dict[str, str]:
    functions = found.client("lambda")
    return {
        name.removesuffix(SUFFIX).lower(): functions.get_function_configuration(FunctionName=value)[
            "LoggingConfig"
        ]["LogGroup"]
        for name, value in found.outputs.items()
        if name.endswith(SUFFIX)
    }


def _events(client: Any, group: str, since: int) -> list[dict[str, Any]]:
    pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
    return [event for page in pages for event in page["events"]]


def _identity(event: dict[str, Any]) -> tuple[Any, ...]:
    # The emulator gives events no id.
    return event["logStreamName"], event["timestamp"], event["message"]
