"""Whole local stacks of this test run's own: started on free ports, deployed, stopped."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from functions.domain.outcomes import Refused
from functions.media.motion import render_motion
from functions.media.photo import read_photo
from local import emulator, faults, stack, standin
from local.audit import audited
from local.customer import Customer, sign_in
from local.faults import FaultProxy
from local.instance import Instance
from local.picture import draw_picture
from local.stack import Stack
from local.standin import StandIn
from tests.e2e.backstage import Backstage
from tests.workers import IS_WORKER, run_pid, shared_folder

OPERATOR = "operator@example.com"
FAL_SECONDS = 5  # the shortest that it makes
MODELS = ("gemini", "bedrock")
LISTENER = "transcribe"  # for the one that does not hear
FEW_AT_ONCE = {"render_concurrency_max": 2}


@pytest.fixture(scope="session")
def photo(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A photo. With a few bytes behind it, it is another one to a customer."""
    with shared_folder(tmp_path_factory, "photo") as folder:
        path = folder / "photo.jpg"
        if not path.is_file():
            draw_picture(path)
        return path.read_bytes()


@pytest.fixture(scope="session")
def shared_standin(photo: bytes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """A stand-in for fal, one for all workers."""
    with shared_folder(tmp_path_factory, "standin") as folder:
        file, clip = folder / "standin.json", folder / "clip.mp4"
        if not file.is_file():
            _draw_clip(photo, clip)
            started = standin.started("fal", clip, guardian=run_pid())
            file.write_text(json.dumps(asdict(started)), "utf-8")
        found = StandIn(**json.loads(file.read_text("utf-8")))
    yield found
    if not IS_WORKER:
        standin.stop_all()


def _draw_clip(photo: bytes, clip: Path) -> None:
    source = clip.with_suffix(".jpg")
    source.write_bytes(photo)
    drawn = read_photo(source)
    assert not isinstance(drawn, Refused)
    render_motion(drawn, clip, motion="drift", seconds=FAL_SECONDS, aspect="16:9")


@pytest.fixture(scope="session")
def shared_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StandIn]:
    """Stand-ins for models, one of each for all workers."""
    with shared_folder(tmp_path_factory, "models") as folder:
        file = folder / "models.json"
        if not file.is_file():
            started = [standin.started(name, guardian=run_pid()) for name in (*MODELS, LISTENER)]
            file.write_text(json.dumps([asdict(each) for each in started]), "utf-8")
        found = [StandIn(**each) for each in json.loads(file.read_text("utf-8"))]
    return {each.vendor: each for each in found}


@pytest.fixture(scope="session")
def film_port(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Where a test may serve films from; the stack takes it for a public address."""
    with shared_folder(tmp_path_factory, "films") as folder:
        file = folder / "port"
        if not file.is_file():
            with socket.create_server(("127.0.0.1", 0)) as free:
                file.write_text(str(free.getsockname()[1]), "utf-8")
        return int(file.read_text("utf-8"))


@pytest.fixture(scope="session")
def local_settings(
    shared_standin: StandIn, shared_models: dict[str, StandIn], film_port: int
) -> dict[str, Any]:
    """What the shared stack is deployed with: what is built in, or who else is asked for."""
    everyone = [shared_standin.settings("motion")]
    everyone += [each.settings() for each in shared_models.values()]
    told = standin.together(*everyone)
    told["providers"]["video_analysis"] = ["local", *MODELS]
    told["provider_options"]["bedrock"]["listener"] = LISTENER
    told["test_origins"] += f",http://127.0.0.1:{film_port}"
    return told


@pytest.fixture(scope="session")
def local_stack(
    local_settings: dict[str, Any],
    shared_standin: StandIn,
    shared_models: dict[str, StandIn],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    """One deployment for all workers. It ends with the run, however that ends."""
    with shared_folder(tmp_path_factory, "stack") as folder:
        instance = Instance(folder=folder, port=0)
        if emulator.running(instance):
            found = stack.running(instance)
        else:
            found = stack.up(instance, guardian=run_pid(), settings=local_settings)
            for each in (shared_standin, *shared_models.values()):
                standin.told(found, each)
            shared_standin.call_back(found.api_url)
    yield found
    report = audited(found)  # the last worker to come here sees what all of them did
    if not IS_WORKER:
        emulator.stop(instance)
    assert report.differences == ()


@pytest.fixture
def fal(shared_standin: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """The stand-in, for one test at a time: its scripts and its bill are everyone's."""
    with shared_folder(tmp_path_factory, "standin-turn"):
        yield shared_standin


@pytest.fixture
def gemini(
    shared_models: dict[str, StandIn], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandIn]:
    """The model that hears, for one test at a time."""
    with shared_folder(tmp_path_factory, "gemini-turn"):
        yield shared_models["gemini"]


@pytest.fixture(scope="session")
def rough_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, FaultProxy]]:
    """A second deployment, whose functions call AWS through a fault proxy."""
    with shared_folder(tmp_path_factory, "rough") as folder:
        instance, file = Instance(folder=folder, port=0), folder / "proxy"
        if emulator.running(instance):
            live, proxy = stack.running(instance), FaultProxy(address=file.read_text("utf-8"))
        else:
            live, proxy = _deployed_behind_proxy(folder)
            file.write_text(proxy.address, "utf-8")
    yield live, proxy
    if not IS_WORKER:
        faults.stop_all()
        emulator.stop(instance)


def _deployed_behind_proxy(folder: Path) -> tuple[Stack, FaultProxy]:
    instance = Instance(folder=folder, port=emulator.port_for(Instance(folder=folder, port=0)))
    endpoint = f"http://127.0.0.1:{instance.port}"
    with ThreadPoolExecutor() as beside:
        starting = beside.submit(faults.started, endpoint, guardian=run_pid())
        live = stack.up(instance, guardian=run_pid(), settings=FEW_AT_ONCE)
        proxy = starting.result()
    faults.led_through(live, proxy)
    return live, proxy


@pytest.fixture
def rough(
    rough_stack: tuple[Stack, FaultProxy], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Stack, FaultProxy]]:
    """The second deployment, for one test at a time. It is calm, and its books are right after."""
    live, proxy = rough_stack
    with shared_folder(tmp_path_factory, "rough-turn"):
        proxy.calm()
        yield rough_stack
        proxy.calm()
        report = audited(live)
    assert (report.differences, report.skipped) == ((), 0)


@contextmanager
def opened(live: Stack) -> Iterator[tuple[Backstage, Customer]]:
    """Go behind a stack, with an operator."""
    with (
        closing(Backstage(live)) as backstage,
        closing(sign_in(live, OPERATOR, groups=("operators",))) as operator,
    ):
        yield backstage, operator
