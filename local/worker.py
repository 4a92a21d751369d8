"""The container worker as a process on this machine, under the role that the template gives it.

`python -m local.worker GUARDIAN` is that process: the image's own main, until its guardian ends.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from functions import kinds
from functions.domain.kinds import Runs
from functions.media.chromium import find
from local import tools
from local.guardian import end_with
from local.instance import REGION, ROOT, ROOT_KEY, Instance

if TYPE_CHECKING:
    from local.stack import Stack

FILMED = "session_to_video"  # in a browser
NO_BROWSER = (
    f"No {FILMED}: it needs Chromium (Debian: apt-get install chromium-headless-shell). "
    "Orders of it wait until `make up` finds one."
)
GRACE_SECONDS = 5  # `make down` is waited for
STOP_SECONDS = 12.0

_children: dict[int, "subprocess.Popen[bytes]"] = {}


def start(live: "Stack", within: Sequence[str] = ()) -> None:
    """Start the worker unless it runs, for all that this machine can do.

    `within` is a command that becomes the one after it, somewhere else.
    """
    if running(live.instance) is not None:
        return
    lanes = [kind.name for kind in kinds.load().values() if kind.runs is Runs.WORKER]
    if find() is None:
        print(NO_BROWSER)
        lanes.remove(FILMED)
    else:
        tools.player()
    instance = live.instance
    home = scratch(live)
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o711)  # its browser may run as somebody else
    with instance.worker_log.open("ab") as log:
        process = subprocess.Popen(
            [*within, sys.executable, "-m", "local.worker", str(live.emulator.pid)],
            cwd=ROOT,
            env=_environment(live, lanes),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[process.pid] = process
    instance.worker_file.write_text(json.dumps({"pid": process.pid, "scratch": str(home)}), "utf-8")


def running(instance: Instance) -> int | None:
    """Find the worker's process."""
    known = _remembered(instance)
    if known is None:
        return None
    pid = int(known["pid"])
    if pid in _children:
        _children[pid].poll()
    told = subprocess.run(
        ["ps", "-ww", "-o", "stat=,command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return pid if "local.worker" in told.stdout and not told.stdout.startswith("Z") else None


def stop(instance: Instance) -> bool:
    """Have the worker give back what it is at, and end; tell whether there was one."""
    pid = running(instance)
    if pid is not None:
        _end(instance, pid)
    known = _remembered(instance)
    if known is not None:
        shutil.rmtree(known["scratch"], ignore_errors=True)
    instance.worker_file.unlink(missing_ok=True)
    return pid is not None


def scratch(live: "Stack") -> Path:
    """Where the worker works. Not in the stack's folder, which others need not be able to reach."""
    return Path(tempfile.gettempdir()) / f"tallyreel-worker-{live.emulator.port}"


def _remembered(instance: Instance) -> dict[str, str] | None:
    try:
        return dict(json.loads(instance.worker_file.read_text("utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def _end(instance: Instance, pid: int) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(pid, sign)
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until:
            if running(instance) is None:
                if pid in _children:
                    _children.pop(pid).wait(STOP_SECONDS)
                return
            time.sleep(0.1)


def _environment(live: "Stack", lanes: Sequence[str]) -> dict[str, str]:
    """Tell it what the container is told; its role is assumed, and renewed, by its own SDK."""
    outputs = live.outputs
    config = live.instance.folder / "worker.aws"
    config.write_text(
        f"[profile worker]\nrole_arn = {outputs['WorkerRole']}\nsource_profile = owner\n"
        f"[profile owner]\naws_access_key_id = {ROOT_KEY}\naws_secret_access_key = {ROOT_KEY}\n",
        "utf-8",
    )
    queues = json.loads(outputs["QueueUrls"])
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(live.instance.folder),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "AWS_ENDPOINT_URL": live.endpoint,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": str(config),
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_PROFILE": "worker",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "POWERTOOLS_SERVICE_NAME": "worker",
        "TALLYREEL_TABLE": outputs["TableName"],
        "TALLYREEL_BUCKET": outputs["BucketName"],
        "TALLYREEL_QUEUE_URLS": json.dumps({lane: queues[lane] for lane in lanes}),
        "TALLYREEL_SCRATCH": str(scratch(live)),
        "TALLYREEL_GRACE_SECONDS": str(GRACE_SECONDS),
        **json.loads(outputs["WorkerTold"]),
    }


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    try:
        sys.exit(import_module("functions.entrypoints.worker").main())
    finally:
        shutil.rmtree(os.environ["TALLYREEL_SCRATCH"], ignore_errors=True)
