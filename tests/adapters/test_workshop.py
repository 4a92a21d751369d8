"""Renders in a process of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from functions.adapters.workshop import ChildWorkshop, InProcess
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn, Work
from functions.domain.work import Workshop
from local.instance import ROOT
from tests.adapters import chores

ORDER = {"tail": "!"}


class Enough(Exception):
    """The listener has heard enough."""


def provider(work: Work) -> BuiltIn:
    return BuiltIn(name="chore", render=work)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    source = tmp_path / "source"
    source.write_bytes(b"bytes")
    return source, tmp_path / "out"


def silent(done: int, total: int) -> None:
    assert done <= total


@pytest.mark.parametrize("workshop", [InProcess(), ChildWorkshop()])
def test_a_file_is_made_wherever_it_is_made(workshop: Workshop, places: tuple[Path, Path]) -> None:
    heard: list[tuple[int, int]] = []

    outcome = workshop.render(
        provider(chores.copying), *places, ORDER, lambda *seen: heard.append(seen)
    )

    assert isinstance(outcome, Rendered)
    assert outcome.path.read_bytes() == b"bytes!"
    assert (2, 2) in heard


def test_a_child_has_no_credentials_and_no_address(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_ENDPOINT_URL",
        "ECS_AGENT_URI",
        "TALLYREEL_TABLE",
    ):
        monkeypatch.setenv(name, "canary")

    outcome = ChildWorkshop().render(provider(chores.copying), *places, ORDER, silent)

    assert isinstance(outcome, Rendered)
    seen = set(str(outcome.facts["environment"]).split())
    assert not {name for name in seen if name.startswith(("AWS_", "ECS_", "TALLYREEL_"))}


def test_a_refusal_comes_back_as_it_is(places: tuple[Path, Path]) -> None:
    outcome = ChildWorkshop().render(provider(chores.refusing), *places, ORDER, silent)

    assert outcome == Refused(code="no", reason="No.")


def test_a_child_that_dies_is_a_failure_that_can_be_tried_again(places: tuple[Path, Path]) -> None:
    outcome = ChildWorkshop().render(provider(chores.dying), *places, ORDER, silent)

    assert isinstance(outcome, Failed)
    assert outcome.code == "renderer-lost"
    assert "status 9" in outcome.reason


def test_what_the_listener_raises_ends_the_child_and_it_cleans_up(
    places: tuple[Path, Path],
) -> None:
    pids: list[int] = []

    def listen(done: int, _total: int) -> None:
        if done > 1:
            pids.append(int((places[1].with_name("scratch") / "pid").read_text("ascii")))
            raise Enough

    with pytest.raises(Enough):
        ChildWorkshop().render(provider(chores.endless), *places, ORDER, listen)

    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert sorted(path.name for path in places[0].parent.iterdir()) == ["source"]


ORPHAN = """
from pathlib import Path
from tests.adapters.chores import endless
from functions.adapters.workshop import ChildWorkshop
from functions.domain.providers import BuiltIn
ChildWorkshop().render(BuiltIn(name="x", render=endless), Path("{0}/source"), Path("{0}/out"), {{}},
    lambda done, total: None)
"""


def test_a_child_does_not_outlive_a_worker_that_was_killed(places: tuple[Path, Path]) -> None:
    folder = places[0].parent
    with subprocess.Popen([sys.executable, "-c", ORPHAN.format(folder)], cwd=ROOT) as worker:
        told = folder / "scratch" / "pid"
        eventually(lambda: told.is_file() and told.read_text("ascii") != "")
        pid = int(told.read_text("ascii"))
        worker.kill()
    eventually(lambda: not _lives(pid))
    assert not told.parent.exists()


def eventually(seen: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    told = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return told.stdout.strip() != "" and not told.stdout.startswith("Z")
