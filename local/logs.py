"""Shows what the functions and the worker log, as they log it."""

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from local.stack import Stack

PAUSE_SECONDS = 0.5
BACKLOG_SECONDS = 600
SUFFIX = "Function"
WORKER = "worker"
# What the runtime adds around every invocation.
PLATFORM = ("START RequestId", "END RequestId", "REPORT RequestId")


def follow(found: Stack) -> None:
    """Print the last minutes' lines, then each new one, until interrupted."""
    groups = _groups(found)
    client = found.client("logs")
    begun = time.time() - BACKLOG_SECONDS
    worker = WorkerLog(found.instance.worker_log, since=begun)
    seen: set[tuple[Any, ...]] = set()
    while True:
        events = [
            (event["timestamp"], stage, event)
            for stage, group in groups.items()
            for event in _events(client, group, int(begun * 1000))
            if _identity(event) not in seen
        ]
        for _, stage, event in sorted(events, key=lambda each: each[0]):
            seen.add(_identity(event))
            if not event["message"].startswith(PLATFORM):
                _show(stage, event["message"])
        for line in worker.new():
            _show(WORKER, line)
        time.sleep(PAUSE_SECONDS)


class WorkerLog:
    """The local worker's log: a file that grows, and begins anew with a new stack."""

    def __init__(self, path: Path, *, since: float) -> None:
        self._path, self._since = path, since
        self._at = 0
        self._recent = False

    def new(self) -> list[str]:
        """Read the lines that were finished since the last time."""
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._at:
                    self._at = 0
                file.seek(self._at)
                data = file.read()
        except FileNotFoundError:  # no worker yet
            self._at = 0
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        return [line for line in whole.decode("utf-8", "replace").splitlines() if self._shown(line)]

    def _shown(self, line: str) -> bool:
        """Leave out what is old. A line without a time belongs to the one before it."""
        if not self._recent:
            said = _when(line)
            self._recent = said is not None and said >= self._since
        return self._recent


def _when(line: str) -> float | None:
    """Tell a line's time, as the logger or a metric writes it."""
    try:
        said = json.loads(line)
        if "_aws" in said:
            return float(said["_aws"]["Timestamp"]) / 1000
        return datetime.strptime(said["timestamp"], "%Y-%m-%d %H:%M:%S,%f%z").timestamp()
    except (ValueError, TypeError, KeyError):
        return None


def _show(stage: str, message: str) -> None:
    print(f"{stage:7} {message.rstrip()}", flush=True)


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
