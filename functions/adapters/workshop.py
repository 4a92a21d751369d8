"""Where files are made: in this process, or in one that can be ended at any time."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from functions.adapters.machine import shortage_of
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn

ROOT = Path(__file__).resolve().parents[2]
POLL_SECONDS = 0.25  # how often whoever listens is heard, also while nothing is said
LINE_BYTES_MAX = 1 << 20
# An end that is asked for takes a tenth of this; what does not end by itself is ended.
END_SECONDS = 1.0
# What the child's own children need to be found; no credential and no address is among them.
KEPT = ("PATH", "LANG", "TZ", "PYTHONPATH", "VIRTUAL_ENV", "SSL_CERT_FILE")

Listener = Callable[[int, int], None]


class InProcess:
    """Provides `Workshop` where a function is the process that can be ended."""

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Listener,
    ) -> Rendered | Refused | Failed:
        return provider.render(source, out, order, on_progress)

    def shortage(self, workdir: Path) -> Failed | None:
        return shortage_of(workdir)


class ChildWorkshop:
    """Provides `Workshop` with a process of its own for each render."""

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Listener,
    ) -> Rendered | Refused | Failed:
        asked = {
            "target": f"{provider.render.__module__}:{provider.render.__name__}",
            "source": str(source),
            "out": str(out),
            "order": dict(order),
        }
        with _Child(asked, scratch=out.parent) as child:
            return child.followed(on_progress)

    def shortage(self, workdir: Path) -> Failed | None:
        return shortage_of(workdir)


@dataclass(slots=True)
class _Child:
    asked: Mapping[str, Any]
    scratch: Path
    _buffer: bytearray = field(default_factory=bytearray)
    _process: "subprocess.Popen[bytes]" = field(init=False)

    def __enter__(self) -> Self:
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {"HOME": str(self.scratch), "TMPDIR": str(self.scratch)}
        # The order goes in through a pipe that stays open: its end tells that this process died.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "functions.adapters.workshop_child"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # noticed when it says nothing
                self._process.stdin.write(json.dumps(self.asked).encode() + b"\n")
                self._process.stdin.flush()
        return self

    def followed(self, on_progress: Listener) -> Rendered | Refused | Failed:
        """Listen until it has said how it ended, or has just ended."""
        done, total = 0, 0
        pipe = self._process.stdout
        if pipe is None:
            raise TypeError(self._process)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                if selector.select(POLL_SECONDS):
                    piece = os.read(pipe.fileno(), 1 << 16)
                    if not piece:
                        return self._lost()
                    for word in self._words(piece):
                        if "ended" in word:
                            return _outcome(word)
                        done, total = word["done"], word["total"]
                        on_progress(done, total)
                on_progress(done, total)

    def _words(self, piece: bytes) -> list[dict[str, Any]]:
        self._buffer += piece
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest[:LINE_BYTES_MAX])
        words = []
        for line in lines:
            with suppress(ValueError):  # a library that talks
                word = json.loads(line)
                if isinstance(word, dict):
                    words.append(word)
        return words

    def _lost(self) -> Failed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        said = f" with status {self._process.returncode}" if self._process.returncode else ""
        return Failed(code="renderer-lost", reason=f"The process that rendered ended early{said}.")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ask it to clean up and end; then leave nothing of it."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _outcome(word: Mapping[str, Any]) -> Rendered | Refused | Failed:
    match word["ended"]:
        case "rendered":
            return Rendered(
                path=Path(word["path"]), content_type=word["content_type"], facts=word["facts"]
            )
        case "refused":
            return Refused(code=word["code"], reason=word["reason"])
        case _:
            return Failed(code=word["code"], reason=word["reason"])
