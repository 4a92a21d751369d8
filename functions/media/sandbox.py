"""Runs one function on hostile bytes in a process that has nothing to lose.

The child starts with an empty environment in a session of its own, is handed open files instead
of paths, and gives up its right to open anything else before it reads the first byte: no file, no
socket, no process, a bounded amount of memory and time. However it ends, the parent goes on.
"""

import contextlib
import importlib.util
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from functions.media.verdict import NotVerified
from functions.media.wire import ANSWER_BYTES_MAX

# Decoding runs at over 100 frames a second at 1080p on the slowest machine in use; six times
# the length and half a minute is far beyond any honest file.
WALL_SECONDS_BASE, WALL_SECONDS_PER_SECOND = 30, 6
POLL_SECONDS = 0.25
PROGRESS = re.compile(rb"(\d{1,12}) (\d{1,12})")
START = "import sys;sys.path[:0]=sys.argv[2:];from functions.media.child import main;main()"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use. The defaults fit videos up to 4K."""

    memory_bytes: int = 1 << 30  # of address space; 4K takes half of it
    cpu_seconds: int = 120
    wall_seconds: float = 150.0
    file_bytes: int = 4 << 20  # for a poster and a strip of 100 KB each
    answer_bytes: int = ANSWER_BYTES_MAX
    threads: int = 1  # more only where they can be told from processes; see `threads`

    @classmethod
    def for_seconds(cls, seconds: float) -> "Limits":
        """Allow for a video of this length."""
        wall = WALL_SECONDS_BASE + WALL_SECONDS_PER_SECOND * seconds
        return cls(cpu_seconds=round(wall), wall_seconds=wall)


def run(
    target: str,
    request: str,
    files: Sequence[IO[bytes]],
    limits: Limits,
    on_progress: Progress | None = None,
) -> bytes | NotVerified:
    """Call `module:function(request, files)` in a child and return the line it answers.

    The child may say how far it is, a line of two numbers each time, before it answers.
    `on_progress(done, total)` hears the last of them at least every quarter of a second; what it
    raises ends the child at once.
    """
    if not sys.executable:
        return NotVerified(code="unavailable", reason="There is no interpreter to start.")
    inherited = [file.fileno() for file in files]
    orders = {
        "target": target,
        "request": request,
        "files": inherited,
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.cpu_seconds,
        "file_bytes": limits.file_bytes,
        "threads": limits.threads,
    }
    process = subprocess.Popen(  # noqa: S603  our own interpreter and code
        [sys.executable, "-I", "-S", "-c", START, json.dumps(orders), *_roots()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=inherited,
        start_new_session=True,
    )
    try:
        listener = _Listener(on_progress, limits.answer_bytes)
        return _answer(process, time.monotonic() + limits.wall_seconds, listener)
    finally:
        _end(process)


def _roots() -> list[str]:
    """Where this package and PyAV are imported from: all that the child may import beyond Python.

    Nothing is imported here: the parent needs no media library.
    """
    here = Path(__file__).resolve().parents[2]
    spec = importlib.util.find_spec("av")
    roots = [str(here)]
    if spec is not None and spec.origin is not None:
        roots.append(str(Path(spec.origin).resolve().parents[1]))
    return roots


class _Listener:
    """Tells what a child says on its way from what it answers, and bounds both."""

    def __init__(self, on_progress: Progress | None, bytes_max: int) -> None:
        self._on_progress, self._bytes_max = on_progress, bytes_max
        self._said = (0, 0)
        self.answer = bytearray()

    @property
    def patience(self) -> float:
        """For how many seconds nobody minds silence."""
        return float("inf") if self._on_progress is None else POLL_SECONDS

    def hear(self, piece: bytes) -> bool:
        """Take in what was read, if anything; False: it is too much."""
        self.answer += piece
        if self._on_progress is not None:
            *lines, rest = self.answer.split(b"\n")
            self.answer = bytearray(rest)
            for line in lines:
                if found := PROGRESS.fullmatch(line):
                    self._said = (int(found[1]), int(found[2]))
            self._on_progress(*self._said)
        return len(self.answer) <= self._bytes_max


def _answer(
    process: subprocess.Popen[bytes], deadline: float, listener: _Listener
) -> bytes | NotVerified:
    pipe = process.stdout
    if pipe is None:  # not with PIPE; said for the type checker
        return NotVerified(code="died", reason="The inspection did not start.")
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return NotVerified(code="timeout", reason="The inspection took too long.")
            if not selector.select(min(left, listener.patience)):
                listener.hear(b"")
                continue
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                break
            if not listener.hear(piece):
                return NotVerified(code="garbled", reason="The inspection said too much.")
    try:
        status = process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return NotVerified(code="timeout", reason="The inspection did not end.")
    if status != 0:
        return NotVerified(code="died", reason=f"The inspection ended with status {status}.")
    return bytes(listener.answer)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind: the whole session is ended, and its leader reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
