"""Starts, finds and stops the emulator's process."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from local import worker
from local.instance import ACCOUNT, REGION, Emulator, Instance
from local.trouble import LocalTrouble

GATEWAY = Path(__file__).with_name("gateway.py")
START_SECONDS = 30.0
STOP_SECONDS = 5.0
LOG_LINES_SHOWN = 5

# Those that this process started, so that it can collect them when they end.
_children: dict[int, "subprocess.Popen[bytes]"] = {}


def running(instance: Instance) -> Emulator | None:
    """Find the instance's emulator, if it lives and answers."""
    known = instance.remembered()
    if known and _is_ours(known) and _answers(known):
        return known
    return None


def port_for(instance: Instance) -> int:
    """Find the port that a new emulator would listen on; refuse one that is taken."""
    port = _free_port() if instance.port == 0 else instance.port
    if _is_taken(port):
        raise LocalTrouble(
            f"Port {port} is taken: set TALLYREEL_PORT to a free one, for example "
            f"`make demo TALLYREEL_PORT={_free_port()}`."
        )
    return port


def start(instance: Instance, python: Path, *, guardian: int | None = None) -> Emulator:
    """Start an emulator for an instance that has none."""
    stop(instance)
    port = port_for(instance)
    instance.scratch.mkdir(parents=True, exist_ok=True)
    command = [str(python), str(GATEWAY), str(port), *([str(guardian)] if guardian else [])]
    with instance.log.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(instance, port),
            cwd=instance.folder,
            start_new_session=True,  # its functions are in its group, and end with it
        )
    _children[process.pid] = process
    emulator = Emulator(pid=process.pid, port=port)
    instance.remember(emulator)
    try:
        _wait_until_it_answers(instance, emulator, process)
    except BaseException:
        stop(instance)
        raise
    return emulator


def stop(instance: Instance) -> bool:
    """Stop the emulator and all functions that it runs; tell whether there was one."""
    worker.stop(instance)  # while there is something left for it to say that to
    known = instance.remembered()
    found = known is not None and _is_ours(known)
    if known and found:
        _end_group(known.pid)
    elif known and known.pid in _children:
        _children.pop(known.pid).wait(STOP_SECONDS)
    instance.forget()
    rmtree(instance.scratch, ignore_errors=True)
    return found


def _end_group(group: int) -> None:
    for sign, patience in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, sign)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if group in _children:
                _children[group].poll()
            try:
                os.killpg(group, 0)
            except (ProcessLookupError, PermissionError):
                _children.pop(group, None)
                return
            time.sleep(0.05)


def _is_ours(emulator: Emulator) -> bool:
    """Whether the remembered process still is the emulator, not a later one of that number."""
    told = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(emulator.pid)],  # the whole line
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{GATEWAY} {emulator.port}" in told.stdout


def _answers(emulator: Emulator) -> bool:
    try:
        with urllib.request.urlopen(f"{emulator.endpoint}/_ministack/health", timeout=2):  # noqa: S310 - own address
            return True
    except (urllib.error.URLError, OSError):
        return False


def _wait_until_it_answers(
    instance: Instance, emulator: Emulator, process: "subprocess.Popen[bytes]"
) -> None:
    until = time.monotonic() + START_SECONDS
    while not _answers(emulator):
        if process.poll() is not None or time.monotonic() > until:
            said = instance.log.read_text("utf-8", "replace").splitlines()
            last = " / ".join(said[-LOG_LINES_SHOWN:])
            raise LocalTrouble(f"The emulator did not start; see {instance.log}. It said: {last}")
        time.sleep(0.05)


def _environment(instance: Instance, port: int) -> dict[str, str]:
    # From scratch, because functions inherit it and must not see this shell's variables.
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(instance.folder),
        "LANG": "C.UTF-8",
        "TMPDIR": str(instance.scratch),
        "PYTHONUNBUFFERED": "1",
        "AUTH": "true",  # every call is checked against the caller's role
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "LOG_LEVEL": "INFO",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    with socket.socket() as probe:  # someone listening on all addresses
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
