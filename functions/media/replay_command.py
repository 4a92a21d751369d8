"""The command line of a replay: `python -m functions.media.replay`."""

import signal
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import assert_never

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media.replay import render_session
from functions.media.replay_plan import FPS, FPS_MAX, SPEED_MAX, SPEED_MIN

REPORT_SECONDS = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Film a recording and tell how far it is."""
    given = _parser().parse_args(arguments)
    # So that an end from outside cleans up like an end from inside.
    signal.signal(signal.SIGTERM, _end)
    progress = _Progress(given.fps, given.speed)
    outcome = render_session(
        given.recording, given.out, fps=given.fps, size=given.size, speed=given.speed,
        skip_inactivity=given.skip_inactivity, mouse_trail=given.mouse_trail,
        processes=given.processes, on_progress=progress,
    )  # fmt: skip
    sys.stderr.write("\n")
    match outcome:
        case Rendered(path=path, facts=facts):
            sys.stdout.write(
                f"{path}: {facts['seconds']:.2f} s, {facts['width']}x{facts['height']}, "
                f"{facts['bytes']} bytes in {progress.spent:.1f} s\n"
            )
            return 0
        case Refused(code=code, reason=reason) | Failed(code=code, reason=reason):
            sys.stderr.write(f"{code}: {reason}\n")
            return 1
        case _:
            assert_never(outcome)


def _end(number: int, frame: object) -> None:
    del frame
    sys.exit(128 + number)


class _Progress:
    """One line that is written over."""

    def __init__(self, fps: int, speed: float) -> None:
        self._rate = speed / fps
        self._began = time.monotonic()
        self._next = 0.0

    @property
    def spent(self) -> float:
        return time.monotonic() - self._began

    def __call__(self, done: int, total: int) -> None:
        spent = self.spent
        if spent < self._next and done < total:
            return
        self._next = spent + REPORT_SECONDS
        faster = done * self._rate / max(spent, 0.001)
        sys.stderr.write(f"\r{done}/{total} frames, {spent:.0f} s, {faster:.1f} x real time ")
        sys.stderr.flush()


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m functions.media.replay", description="Film a recorded web session."
    )
    parser.add_argument("recording", type=_file)
    parser.add_argument("out", type=Path)
    parser.add_argument("--fps", type=_fps, default=FPS)
    parser.add_argument("--size", type=_size, metavar="WxH")
    parser.add_argument("--skip-inactivity", type=float, metavar="SECONDS")
    parser.add_argument("--speed", type=_speed, default=1.0)
    parser.add_argument("--mouse-trail", action="store_true")
    parser.add_argument("--processes", type=int)
    return parser


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise ArgumentTypeError(f"{text} is not a file")
    return Path(text)


def _fps(text: str) -> int:
    if not 1 <= int(text) <= FPS_MAX:
        raise ArgumentTypeError(f"from 1 to {FPS_MAX}")
    return int(text)


def _speed(text: str) -> float:
    if not SPEED_MIN <= float(text) <= SPEED_MAX:
        raise ArgumentTypeError(f"from {SPEED_MIN} to {SPEED_MAX}")
    return float(text)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    return int(width), int(height)
