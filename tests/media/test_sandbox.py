"""However a child ends, the parent goes on and nothing is taken for a verdict."""

import json
import os
import time
from pathlib import Path

import pytest

from functions.media.inspect import inspect_sandboxed
from functions.media.sandbox import Limits, run
from functions.media.verdict import Expected, NotVerified
from tests.media.clips import film

LIMITS = Limits(wall_seconds=20)


def asked(name: str, request: str = "", limits: Limits = LIMITS) -> bytes | NotVerified:
    with Path(__file__).open("rb") as file:
        return run(f"tests.media.doomed:{name}", request, [file], limits)


def code(answer: bytes | NotVerified) -> str:
    assert isinstance(answer, NotVerified)
    return answer.code


def test_an_answer_comes_back() -> None:
    assert asked("echo", "hello") == b"hello"


@pytest.mark.parametrize("name", ["killed", "crashed", "raised", "left"])
def test_a_child_that_dies_is_not_a_verdict(name: str) -> None:
    assert code(asked(name)) == "died"


def test_a_child_that_hangs_is_ended() -> None:
    started = time.monotonic()
    assert code(asked("hung", limits=Limits(wall_seconds=1.5))) == "timeout"
    assert time.monotonic() - started < 15


def test_a_child_that_closes_its_mouth_and_hangs_is_ended() -> None:
    assert code(asked("mute", limits=Limits(wall_seconds=1.5))) == "timeout"


def test_a_child_that_burns_time_is_ended() -> None:
    assert code(asked("busy", limits=Limits(cpu_seconds=1, wall_seconds=20))) == "died"


def test_a_child_that_talks_too_much_is_ended() -> None:
    assert code(asked("talkative")) == "garbled"


def test_a_child_that_wants_too_much_memory_dies() -> None:
    assert code(asked("greedy", limits=Limits(memory_bytes=256 << 20, wall_seconds=20))) == "died"


def test_a_child_has_no_environment_and_can_open_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    answer = asked("explore")
    assert isinstance(answer, bytes)
    found = json.loads(answer)
    assert set(found["environment"]) <= {"LC_CTYPE"}  # which Python sets itself
    assert found["opened"] == []
    assert found["socket"] is False
    assert found["session"] is True


def test_nothing_is_left_behind() -> None:
    answer = asked("orphan") if os.geteuid() == 0 else None
    if answer is None:
        pytest.skip("without root a child cannot have children at all")
    assert isinstance(answer, bytes | NotVerified)
    if isinstance(answer, bytes):
        deadline = time.monotonic() + 5
        while Path(f"/proc/{int(answer)}/cmdline").exists():
            state = Path(f"/proc/{int(answer)}/stat").read_text(encoding="ascii")
            if state.rpartition(")")[2].split()[0] == "Z":
                break
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_file_that_starves_the_child_is_not_a_verdict(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4")
    outcome = inspect_sandboxed(
        path, Expected(seconds=3), limits=Limits(memory_bytes=1 << 20, wall_seconds=20)
    )
    assert isinstance(outcome, NotVerified)


def test_cheap_refusals_start_no_child(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"<html>")
    outcome = inspect_sandboxed(path, Expected(seconds=3), limits=Limits(wall_seconds=0))
    assert not isinstance(outcome, NotVerified)
    assert outcome.code == "not_mp4"
