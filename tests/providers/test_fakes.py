"""The stand-ins themselves: scripted over HTTP, counting, and calling nobody else."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.adapters.fetch import Downloader
from functions.domain.jobs import Accepted, Fetched, Rejected
from functions.domain.providers import configured
from local.fakes import vendor
from local.fakes.script import File, Script, script_of
from local.fakes.server import FakeServer
from tests.providers.stage import CLIP, REMOTES, TOKEN, Stage


def posted(stage: Stage, control: str, content: Any) -> httpx.Response:
    return httpx.post(f"{stage.server.address}/_fake/{control}", json=content, trust_env=False)


def got(stage: Stage, control: str) -> Any:
    return httpx.get(f"{stage.server.address}/_fake/{control}", trust_env=False).json()


def test_the_next_jobs_are_scripted_in_turn(fal: Stage) -> None:
    scripts = [{"refuse": 429, "retry_after_seconds": 3}, {"run_seconds": 60}]
    assert posted(fal, "script", {"next": scripts}).json() == {"waiting": 2}
    first = fal.calls.submit(fal.provider, fal.order())
    second = fal.calls.submit(fal.provider, fal.order())
    posted(fal, "script", {"default": {"end": "failed"}})
    third = fal.calls.submit(fal.provider, fal.order())

    assert isinstance(first, Rejected)
    assert isinstance(second, Accepted)
    assert isinstance(third, Accepted)
    assert [job["phase"] for job in got(fal, "jobs")] == ["running", "ended"]
    assert got(fal, "billed") == {"submits": 3, "accepted": 2, "billed": 1, "questions": 0}
    posted(fal, "advance", {"seconds": 61})
    assert [job["phase"] for job in got(fal, "jobs")] == ["ended", "ended"]


@pytest.mark.parametrize(
    ("control", "content"),
    [
        ("script", {"next": [{"nonsense": 1}]}),
        ("script", {"default": {"end": "nonsense"}}),
        ("advance", {}),
    ],
)
def test_a_script_that_means_nothing_is_refused(fal: Stage, control: str, content: Any) -> None:
    assert posted(fal, control, content).status_code == 400
    assert posted(fal, "nonsense", {}).status_code == 404


def test_a_script_reads_as_it_is_written() -> None:
    written = {"end": "empty", "hooks": "twice", "queries": [503], "file": "gone"}
    script = script_of(written)

    assert (script.end, script.hooks, script.file) == ("empty", "twice", File.GONE)
    assert script.queries == (503,)
    assert script_of({}) == Script()


def test_a_stranger_without_the_key_gets_nothing(stage: Stage) -> None:
    stage.calls = type(stage.calls)(lambda _name: wrong_keys(stage), stage.clock)
    refused = stage.calls.submit(stage.provider, stage.order())

    assert isinstance(refused, Rejected)
    assert refused.failure.fault == "no-access"
    assert stage.vendor.bill()["accepted"] == 0


def wrong_keys(stage: Stage) -> Any:
    return type(stage.secrets)(values=dict.fromkeys(stage.secrets.values, ("wrong",)))


def test_nobody_outside_is_called(fal: Stage) -> None:
    fal.accepted(hook_url=f"http://hooks.example/v1/hooks/fal/{TOKEN}")
    fal.accepted(hook_url=f"https://127.0.0.1/v1/hooks/fal/{TOKEN}")

    assert not fal.judged()


def test_calls_can_be_led_to_another_address(fal: Stage) -> None:
    base = fal.hook.url("fal", "x").partition("/v1")[0]
    with FakeServer(vendor("fal")(CLIP), hook_base=base, calls=False) as server:
        moved = configured(fal.provider, {"base_url": server.address})
        fal.calls.submit(moved, fal.order(hook_url=f"https://api.example/v1/hooks/fal/{TOKEN}"))
        server.settle()

    assert [caught.token for caught in fal.hook.caught] == [TOKEN]


def test_half_a_film_can_look_whole(runway: Stage, tmp_path: Path) -> None:
    seen = runway.observed(Script(file=File.DAMAGED))
    downloader = Downloader(seconds_max=5, test_origins=[runway.server.address])
    request = runway.provider.download(seen.outputs[0], runway.secrets)
    fetched = downloader.fetch(request, tmp_path / "film", hosts=(), bytes_max=1 << 20)

    assert isinstance(fetched, Fetched)
    assert fetched.size_bytes == len(CLIP) // 2


@pytest.mark.parametrize("name", sorted(REMOTES))
def test_each_runs_as_a_program(name: str, tmp_path: Path) -> None:
    clip = tmp_path / "film.mp4"
    clip.write_bytes(CLIP)
    command = [sys.executable, "-m", "local.fakes", name, "--clip", str(clip), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        bill = httpx.get(f"{line['address']}/_fake/billed", trust_env=False).json()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0

    assert (line["vendor"], bill["submits"]) == (name, 0)
    assert line["options"]["base_url"] == line["address"]
    assert set(line["secrets"]) == {*REMOTES[name].secrets, *REMOTES[name].hook_secrets}
