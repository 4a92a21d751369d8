"""The local stack itself: what it promises to whoever works with it."""

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from local import emulator, stack, tools
from local.instance import Instance
from local.stack import Stack
from local.trouble import LocalTrouble

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


def test_the_deployed_api_answers_where_the_stack_says(local_stack: Stack) -> None:
    open_page = httpx.get(f"{local_stack.api_url}/v1/kinds", timeout=30)
    assert open_page.status_code == 200
    closed_page = httpx.get(f"{local_stack.api_url}/v1/credits", timeout=30)
    assert closed_page.status_code == 401


def test_a_second_up_changes_nothing(local_stack: Stack, local_settings: dict[str, Any]) -> None:
    before = local_stack.instance.outputs_file.stat().st_mtime_ns
    assert stack.up(local_stack.instance, settings=local_settings) == local_stack
    assert local_stack.instance.outputs_file.stat().st_mtime_ns == before


def test_calls_are_checked_against_the_roles_of_the_template(local_stack: Stack) -> None:
    functions = local_stack.client("lambda")
    name = local_stack.outputs["RelayFunction"]
    role = functions.get_function_configuration(FunctionName=name)["Role"]
    as_relay = local_stack.client("sts").assume_role(RoleArn=role, RoleSessionName="test")
    table = local_stack.client("dynamodb", as_relay["Credentials"])
    with pytest.raises(table.exceptions.ClientError, match="not authorized"):
        table.scan(TableName=local_stack.outputs["TableName"])


def test_a_taken_port_is_named_and_nothing_stays(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        instance = Instance(folder=tmp_path, port=port)
        with pytest.raises(LocalTrouble, match=f"Port {port} is taken: set TALLYREEL_PORT"):
            emulator.start(instance, tools.emulator_python())
    assert instance.remembered() is None


def test_stopping_ends_the_functions_too(local_stack: Stack, tmp_path: Path) -> None:
    instance = Instance(folder=tmp_path, port=0)
    live = emulator.start(instance, tools.emulator_python())
    assert emulator.running(instance) == live != local_stack.emulator
    assert emulator.stop(instance)
    assert emulator.running(instance) is None
    assert _members(live.pid) == ""
    assert not emulator.stop(instance)
    assert emulator.running(local_stack.instance) == local_stack.emulator


def test_an_emulator_does_not_outlive_its_guardian(tmp_path: Path) -> None:
    instance = Instance(folder=tmp_path, port=0)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as guardian:
        live = emulator.start(instance, tools.emulator_python(), guardian=guardian.pid)
        guardian.terminate()
    until = time.monotonic() + 10
    while emulator.running(instance) and time.monotonic() < until:
        time.sleep(0.1)
    assert emulator.running(instance) is None
    emulator.stop(instance)
    assert _members(live.pid) == ""


def _members(group: int) -> str:
    told = subprocess.run(
        ["ps", "-A", "-o", "pgid=,command="], capture_output=True, text=True, check=True
    )
    lines = (line.split(maxsplit=1) for line in told.stdout.splitlines())
    return "\n".join(command for pgid, command in lines if int(pgid) == group)
