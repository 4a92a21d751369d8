"""What one sweep costs by how many tasks there are, with the same twenty of them overdue.

    python -m bench.sweep [--most 100000]

Runs the real stage on a bare emulator, which answers with consumed capacity. Half of the other
tasks are unfinished and not yet due, half have ended.
"""

import argparse
import logging
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import boto3

from bench.task import ACCOUNT, TABLE, Consumption, prepared, watched_clients
from functions.adapters.dynamodb_items import task_item, task_key
from functions.adapters.dynamodb_keys import wire
from functions.bootstrap import AwsPorts, Settings
from functions.domain.states import Event
from functions.domain.tasks import Change, Happening, Task, decide
from functions.pipeline.sweep import sweep
from local import emulator, tools
from local.instance import Instance
from tests.doubles.world import CountingMetrics
from tests.factories import LIMITS, task, ulid

SIZES = (100, 10_000, 100_000)
OVERDUE = 20
BATCH = 25  # the most that one BatchWriteItem takes
WRITERS = 4
TASKS_PER_ACCOUNT = 500
SHARDS = 4


class QuietPorts(AwsPorts):
    """The deployment's ports, without metrics between the lines that are printed here."""

    @cached_property
    def metrics(self) -> CountingMetrics:
        """Count in silence."""
        return CountingMetrics()


def tasks(numbers: range, now: datetime) -> Iterator[Task]:
    """Make tasks of which none is due: every other one has ended."""
    for number in numbers:
        account = f"{ACCOUNT}-{number // TASKS_PER_ACCOUNT}"
        waiting = task(number, now=now, account=account, id=ulid(number))
        if number % 2:
            yield waiting
            continue
        ended = decide(waiting, Happening(event=Event.CANCEL), now=now, limits=LIMITS)
        if isinstance(ended, Change):
            yield ended.after


def overdue(numbers: range, now: datetime) -> Iterator[Task]:
    """Make tasks whose message was lost."""
    for number in numbers:
        lost = task(number, now=now - timedelta(hours=1), account=f"{ACCOUNT}-late")
        yield replace(lost, id=ulid(10_000_000 + number))


def write(client: Any, made: Iterator[Task]) -> None:
    """Put tasks into the table, a batch at a time."""

    def put(batch: tuple[Task, ...]) -> None:
        puts = [
            {"PutRequest": {"Item": wire(task_key(each) | task_item(each, SHARDS))}}
            for each in batch
        ]
        while puts:
            answer = client.batch_write_item(RequestItems={TABLE: puts})
            puts = answer["UnprocessedItems"].get(TABLE, [])

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(put, iter(lambda: tuple(islice(made, BATCH)), ())))


def measured(ports: AwsPorts, seen: Consumption) -> dict[str, float]:
    """Sweep once, and say what it took."""
    seen.requests.clear()
    seen.units.clear()
    done = sweep(ports, datetime.now(UTC) + timedelta(minutes=1))
    if dict(done) != {"queued": OVERDUE}:
        raise ValueError(f"the sweep did {dict(done)}")
    return {
        "requests": sum(seen.requests.values()),
        "read units": seen.units["read units"],
        "write units": seen.units["write units"],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="largest number of tasks")
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory() as folder:
        instance = Instance(folder=Path(folder, "stack"), port=0)
        live = emulator.start(instance, tools.emulator_python(), guardian=os.getpid())
        try:
            seen = Consumption()
            logging.disable(logging.WARNING)  # the sweep tells of each of the twenty
            with watched_clients(live, seen):
                _grow(QuietPorts(Settings(environment=prepared(live))), seen, most)
        finally:
            emulator.stop(instance)


def _grow(ports: AwsPorts, seen: Consumption, most: int) -> None:
    client = boto3.client("dynamodb")
    print(f"{'tasks':>8} {'overdue':>8} {'requests':>9} {'read units':>11} {'write units':>12}")
    there = 0
    for place, size in enumerate(size for size in SIZES if size <= most):
        now = datetime.now(UTC) + timedelta(hours=1)  # due long after this is over
        write(client, tasks(range(there, size - OVERDUE), now))
        write(client, overdue(range(place * OVERDUE, (place + 1) * OVERDUE), datetime.now(UTC)))
        there = size - OVERDUE
        took = measured(ports, seen)
        print(
            f"{size:>8,} {OVERDUE:>8} {took['requests']:>9} {took['read units']:>11}"
            f" {took['write units']:>12}",
            flush=True,
        )


if __name__ == "__main__":
    main()
