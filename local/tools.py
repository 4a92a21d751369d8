"""What the local stack is made with: Node, the CDK CLI, the emulator. Installed when missing."""

import fcntl
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.instance import ROOT, TOOLS
from local.trouble import LocalTrouble

NODE_MAJOR_MIN = 20
CDK = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"
PLAYER = ROOT / "functions" / "media" / "player"
LINES_SHOWN = 15


def node() -> str:
    """Find a Node that is new enough, for CDK's own code as well as for its CLI."""
    found = shutil.which("node")
    if found is None:
        raise LocalTrouble(
            f"Node is missing: install Node {NODE_MAJOR_MIN} or newer (the CDK runs on it)."
        )
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    major = re.match(r"v(\d+)\.", told.stdout)
    if major is None or int(major[1]) < NODE_MAJOR_MIN:
        raise LocalTrouble(
            f"Node {told.stdout.strip() or '?'} is too old: install {NODE_MAJOR_MIN} or newer."
        )
    return found


def cdk() -> list[str]:
    """Install the CDK CLI that `package-lock.json` pins, and tell how to call it."""
    program = [node(), str(CDK)]
    wanted = _stamp_of(ROOT / "package-lock.json")
    stamp = ROOT / "node_modules" / ".tallyreel"
    with _alone("cdk"):
        if not _is(stamp, wanted):
            npm = shutil.which("npm")
            if npm is None:
                raise LocalTrouble("npm is missing: install it beside Node, for the CDK CLI.")
            quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"]
            _run("install the CDK CLI", [npm, "ci", *quiet])
            stamp.write_text(wanted, "utf-8")
    return program


def emulator_python() -> Path:
    """Make the emulator's own environment, with this very Python, and tell its interpreter."""
    requirements = ROOT / "requirements-local.txt"
    home = TOOLS / "emulator"
    python, stamp = home / "bin" / "python", home / ".tallyreel"
    wanted = _stamp_of(requirements) + sys.version
    with _alone("emulator"):
        if not _is(stamp, wanted):
            shutil.rmtree(home, ignore_errors=True)
            make, install = _installer(home, python)
            _run("make the emulator's environment", make)
            _run("install the emulator", [*install, "--require-hashes", "-r", requirements])
            stamp.write_text(wanted, "utf-8")
    return python


def player() -> None:
    """Install the player of recorded sessions that its `package-lock.json` pins."""
    lock = PLAYER / "package-lock.json"
    if (PLAYER / "node_modules" / ".package-lock.json").is_file():
        return
    with _alone("player"):
        npm = shutil.which("npm")
        if npm is None:
            raise LocalTrouble(f"npm is missing: install it beside Node, for {lock}.")
        quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"]
        command: list[str | Path] = [npm, "ci", "--prefix", PLAYER, "--ignore-scripts", *quiet]
        _run("install the player of recorded sessions", command)


@contextmanager
def _alone(what: str) -> Iterator[None]:
    """Let one process at a time install a tool; the others then find it done."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installer(home: Path, python: Path) -> tuple[list[str | Path], list[str | Path]]:
    if importlib.util.find_spec("uv"):
        uv = [sys.executable, "-m", "uv"]
        return [*uv, "venv", "-q", "-p", sys.executable, home], [
            *uv,
            *("pip", "install", "-q", "-p", python),
        ]
    return [sys.executable, "-m", "venv", home], [python, "-m", "pip", "install", "-q"]


def _run(purpose: str, command: list[str | Path]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-LINES_SHOWN:])
        raise LocalTrouble(f"Could not {purpose}:\n{said}")


def _stamp_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _is(stamp: Path, wanted: str) -> bool:
    return stamp.is_file() and stamp.read_text("utf-8") == wanted
