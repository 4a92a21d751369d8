"""The processes that film a session together, and the parent that hands them work."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from functions.domain.outcomes import Failed
from functions.media.segments import Handout, Segment

ROOT = Path(__file__).resolve().parents[2]
# Longer than any command of a browser's with its repetitions: the process itself hangs.
SILENCE_SECONDS = 240.0
POLL_SECONDS = 0.25
EXIT_SECONDS = 5.0

REASONS = {
    "browser-stuck": "The browser stopped answering while it replayed the recording.",
    "disk-full": "There was no room left for the film.",
    "encoder-failed": "The film could not be encoded.",
    "process-lost": "A process that filmed the recording ended early.",
    "process-silent": "A process that filmed the recording did nothing for minutes.",
}


@dataclass(slots=True)
class _Part:
    number: int
    process: "subprocess.Popen[bytes]"
    heard: float
    busy: bool = False
    buffer: bytearray = field(default_factory=bytearray)


class Crew:
    """Processes, each leading a group; leaving the block ends every one of the groups."""

    def __init__(self, job: Path, size: int) -> None:
        command = [sys.executable, "-m", "functions.media.replay_part", str(job)]
        # Each segment's thread would keep a heap of its own.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
        now = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self.lost: list[str] = []  # what was wrong with browsers that were replaced
        self._parts = [
            _Part(
                number=number, heard=now,
                process=subprocess.Popen(  # noqa: S603 - this very program
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
                    start_new_session=True, env=environment,
                ),
            ) for number in range(size)
        ]  # fmt: skip
        for part in self._parts:
            if part.process.stdout is not None:
                os.set_blocking(part.process.stdout.fileno(), False)
                self._selector.register(part.process.stdout, selectors.EVENT_READ, part)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._selector.close()
        for part in self._parts:
            with suppress(ProcessLookupError):
                os.killpg(part.process.pid, signal.SIGKILL)
        for part in self._parts:
            with suppress(subprocess.TimeoutExpired):
                part.process.wait(EXIT_SECONDS)
            for pipe in (part.process.stdin, part.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def film(
        self, segments: Sequence[Segment], on_progress: Callable[[int, int], None]
    ) -> Failed | None:
        """Have all segments filmed. What `on_progress` raises ends the crew's work."""
        handout = Handout(segments, len(self._parts))
        total, done, left = segments[-1].end, 0, len(segments)
        for part in self._parts:
            self._order(part, handout)
        on_progress(0, total)
        while left:
            for part, word in self._hear():
                if "failed" in word:
                    return _failed(word["failed"])
                done += word.get("frames", 0)
                if "lost" in word:
                    self.lost.append(word["lost"])
                if "done" in word:
                    left -= 1
                    part.busy = False
                    self._order(part, handout)
            on_progress(min(done, total), total)
            if (lost := self._lost()) is not None:
                return lost
        return None

    def pids(self) -> list[int]:
        """Return the processes, for those who measure."""
        return [part.process.pid for part in self._parts]

    def _order(self, part: _Part, handout: Handout) -> None:
        segment = handout.next(part.number)
        if segment is None or part.process.stdin is None:
            return
        part.busy, part.heard = True, time.monotonic()
        line = json.dumps([segment.number, segment.start, segment.end]) + "\n"
        with suppress(BrokenPipeError):  # noticed when nothing is heard of it
            part.process.stdin.write(line.encode())
            part.process.stdin.flush()

    def _hear(self) -> list[tuple[_Part, dict[str, Any]]]:
        words = []
        for key, _ in self._selector.select(POLL_SECONDS):
            part: _Part = key.data
            data = os.read(key.fd, 1 << 16)
            if not data:
                self._selector.unregister(key.fileobj)
                continue
            part.heard = time.monotonic()
            part.buffer += data
            *lines, rest = bytes(part.buffer).split(b"\n")
            part.buffer = bytearray(rest)
            words += [(part, json.loads(line)) for line in lines]
        return words

    def _lost(self) -> Failed | None:
        now = time.monotonic()
        for part in self._parts:
            if part.busy and part.process.poll() is not None:
                return _failed("process-lost")
            if part.busy and now - part.heard > SILENCE_SECONDS:
                return _failed("process-silent")
        return None


def _failed(code: str) -> Failed:
    return Failed(code=code, reason=REASONS[code])
