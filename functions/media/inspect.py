"""Inspect a finished video before anything is charged for it.

The cheap looks come first and in this process: plain Python over a few kilobytes. Only what
passes them is decoded, in a child process that can be lost.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, BinaryIO

from functions.media.boxes import read_layout
from functions.media.container_rules import judge_layout
from functions.media.measured import Measured
from functions.media.picture_rules import judge_measured
from functions.media.sandbox import Limits, run
from functions.media.verdict import (
    Expected,
    Facts,
    Finding,
    NotVerified,
    Verdict,
    conclude,
    hopeless,
)
from functions.media.wire import Garbled, decode_measured, encode_order, verdict_json

Look = Callable[[BinaryIO], Measured | NotVerified]
POSTER, STRIP = "poster.jpg", "strip.jpg"
EXITS = {"accept": 0, "reject": 1, "review": 2}
EXIT_NOT_VERIFIED = 3


def inspect_file(path: Path, expected: Expected, *, thumbnails: Path | None = None) -> Verdict:
    """Inspect in this process: for tests and measurements, on files that are trusted."""
    # Imported here, so that the sandbox's parent never loads the media library.
    from functions.media.look import measure_with_thumbnails  # noqa: PLC0415

    with ExitStack() as stack:
        pictures = _pictures(thumbnails, stack)
        verdict = _inspect(
            path, expected, lambda file: measure_with_thumbnails([file, *pictures], expected)
        )
    if isinstance(verdict, NotVerified):
        raise TypeError("measuring in this process always ends in measurements")
    return verdict


def inspect_sandboxed(
    path: Path,
    expected: Expected,
    *,
    thumbnails: Path | None = None,
    limits: Limits | None = None,
) -> Verdict | NotVerified:
    """Inspect a file that anyone may have made. Raises OSError only if it cannot be read."""

    def look(file: BinaryIO) -> Measured | NotVerified:
        answer = run(
            "functions.media.look:answer",
            encode_order(expected),
            [file, *pictures],
            limits or Limits.for_seconds(expected.seconds),
        )
        if isinstance(answer, NotVerified):
            return answer
        try:
            return decode_measured(answer)
        except Garbled:
            return NotVerified(code="garbled", reason="The inspection's answer makes no sense.")

    with ExitStack() as stack:
        pictures = _pictures(thumbnails, stack)
        return _inspect(path, expected, look)


def _pictures(folder: Path | None, stack: ExitStack) -> list[IO[bytes]]:
    """Open the files for the poster and the strip; what stays empty is removed at the end."""
    if folder is None:
        return []
    paths = [folder / name for name in (POSTER, STRIP)]
    stack.callback(_remove_empty, paths)
    return [stack.enter_context(path.open("w+b", buffering=0)) for path in paths]


def _remove_empty(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.exists() and path.stat().st_size == 0:
            path.unlink()


def _inspect(path: Path, order: Expected, look: Look) -> Verdict | NotVerified:
    # Unbuffered: a child moves the offset that it shares with `file`, unseen by any buffer.
    with path.open("rb", buffering=0) as file:
        layout = read_layout(file)
        findings: list[Finding] = list(judge_layout(layout, order))
        measured: Measured | NotVerified | None = None
        if not hopeless(findings):
            file.seek(0)
            measured = look(file)
        if isinstance(measured, NotVerified):
            return measured
        digest = ""
        if measured is not None:
            findings += judge_measured(measured, order, layout.listed)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return conclude(findings, _facts(measured or Measured(), layout.size_bytes, digest))


def _facts(m: Measured, size: int, digest: str) -> Facts:
    return Facts(
        bytes=size,
        sha256=digest,
        duration_seconds=round(m.seconds, 3),
        width=m.width,
        height=m.height,
        codec=m.codec,
        frames=m.frames,
        fps=round(m.frames / m.seconds, 3) if m.seconds else 0.0,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one JSON line; the exit status is the verdict."""
    parser = argparse.ArgumentParser(prog="python -m functions.media.inspect")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, required=True, help="the ordered length")
    parser.add_argument("--kind", default="video", help="such as image_to_video")
    parser.add_argument("--sound", action="store_true", help="sound was ordered")
    parser.add_argument("--thumbnails", type=Path, help="folder for two pictures")
    try:
        given = parser.parse_args(arguments)
    except (argparse.ArgumentError, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code == 0:
            raise  # --help
        return EXIT_NOT_VERIFIED
    order = Expected.for_kind(given.kind, seconds=given.seconds, sound=given.sound)
    try:
        outcome = inspect_sandboxed(given.file, order, thumbnails=given.thumbnails)
    except OSError as error:
        outcome = NotVerified(code="unreadable", reason=f"{given.file}: {error.strerror}")
    sys.stdout.write(verdict_json(outcome) + "\n")
    return EXITS[outcome.verdict] if isinstance(outcome, Verdict) else EXIT_NOT_VERIFIED


if __name__ == "__main__":
    sys.exit(main())
