"""`make logs`: the local worker's log is followed like the functions'."""

import json
from pathlib import Path

import pytest

from local.logs import WorkerLog

SINCE = 1_790_000_000.0
OLD = '{"message":"worker","timestamp":"2026-09-21 13:00:00,000+0000","outcome":"ready"}'
READY = '{"message":"worker","timestamp":"2026-09-21 14:13:30,000+0000","outcome":"ready"}'
METRIC = json.dumps({"_aws": {"Timestamp": SINCE * 1000 + 20_000}, "Transition": [1.0]})
TRACE = "Traceback (most recent call last):"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"


def write(path: Path, *lines: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def test_lines_come_once_and_in_order(path: Path) -> None:
    log = WorkerLog(path, since=SINCE)
    assert log.new() == []  # there is none yet
    write(path, READY, METRIC)
    assert log.new() == [READY, METRIC]
    assert log.new() == []
    write(path, TRACE)
    assert log.new() == [TRACE]


@pytest.mark.parametrize("recent", [READY, METRIC])
def test_what_is_older_than_the_last_minutes_is_left_out(path: Path, recent: str) -> None:
    write(path, OLD, TRACE, recent, TRACE)
    assert WorkerLog(path, since=SINCE).new() == [recent, TRACE]


def test_half_a_line_waits_for_its_other_half(path: Path) -> None:
    log = WorkerLog(path, since=SINCE)
    half = len(READY) // 2
    path.write_text(READY[:half], "utf-8")
    assert log.new() == []
    path.write_text(READY + "\n", "utf-8")
    assert log.new() == [READY]


def test_a_log_that_begins_anew_is_read_from_its_beginning(path: Path) -> None:
    log = WorkerLog(path, since=SINCE)
    write(path, READY, METRIC)
    assert len(log.new()) == 2
    path.unlink()
    write(path, METRIC)
    assert log.new() == [METRIC]
