"""A recorded web session becomes a film: every frame exact, much faster than it was lived."""

import errno
import os
import pickle
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media.capture import SCRIPTS
from functions.media.chromium import INSTALL_HINT, confinement, find
from functions.media.film import join
from functions.media.filming import Job
from functions.media.media_library import MEDIA_ERRORS
from functions.media.recording import BOUNDS, Bounds, Recording, open_recording
from functions.media.replay_crew import Crew
from functions.media.replay_script import Script, write_script
from functions.media.segments import Segment, plan_segments
from functions.media.timeline import Timeline, plan_timeline

FPS, FPS_MAX = 25, 60
SIZE_MAX = (1920, 1080)
SIDE_MIN, SIDE_MAX = 64, 3840
SPEED_MIN, SPEED_MAX = 0.25, 16.0
PROCESSES_MAX = 16
PREFIX = "tallyreel-replay-"
PLAYER_HINT = "No replayer found: npm ci --prefix functions/media/player"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be filmed, known before any browser is started."""

    size: tuple[int, int]
    timeline: Timeline
    script: Script
    segments: list[Segment]


def film_size(recording: Recording, wanted: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the film's size: what is wanted, or the window's within bounds; always even."""
    if wanted is None:
        view = recording.main_viewport()
        most_wide, most_high = SIZE_MAX if view.width >= view.height else SIZE_MAX[::-1]
        scale = min(1.0, most_wide / view.width, most_high / view.height)
        wanted = (int(view.width * scale), int(view.height * scale))
    width, height = (min(SIDE_MAX, max(SIDE_MIN, side)) for side in wanted)
    return width - width % 2, height - height % 2


def plan_film(
    recording: Recording, *, fps: int = FPS, size: tuple[int, int] | None = None,
    skip_inactivity: float | None = None, speed: float = 1.0,
) -> Plan:  # fmt: skip
    """Lay a recording out as a film."""
    timeline = plan_timeline(
        recording.duration_ms, recording.activity, fps=fps, speed=speed,
        skip_inactivity=skip_inactivity,
    )  # fmt: skip
    script = write_script(recording, timeline)
    moved = {timeline.frame(at) for at in recording.pointer.at}
    return Plan(
        size=film_size(recording, size),
        timeline=timeline,
        script=script,
        segments=plan_segments(timeline.frames, script.frames, moved, fps=fps),
    )


def render_session(
    recording_path: Path, out: Path, *, fps: int = FPS, size: tuple[int, int] | None = None,
    skip_inactivity: float | None = None, speed: float = 1.0, mouse_trail: bool = False,
    processes: int | None = None, on_progress: Progress | None = None, bounds: Bounds = BOUNDS,
) -> Rendered | Refused | Failed:  # fmt: skip
    """Film a recording into `out`.

    `on_progress(done, total)` is called at least every quarter of a second; what it raises ends
    the work at once. However it ends, no process and no temporary file is left.
    """
    scratch = Path(tempfile.mkdtemp(prefix=PREFIX, dir=out.parent))
    # Where root has given up its rights for the browser, the browser must get there.
    profiles = Path(tempfile.mkdtemp(prefix=PREFIX)) if os.geteuid() == 0 else scratch
    profiles.chmod(0o711)
    try:
        opened = open_recording(recording_path, scratch, bounds)
        if isinstance(opened, Refused):
            return opened
        plan = plan_film(
            opened, fps=fps, size=size, skip_inactivity=skip_inactivity, speed=speed
        )  # fmt: skip
        made = scratch / "film.mp4"
        failed = _film(opened, plan, made, profiles, mouse_trail, processes, on_progress)
        if failed is not None:
            return failed
        made.replace(out)
        return _rendered(out, opened, plan)
    except MEDIA_ERRORS as error:
        full = getattr(error, "errno", 0) in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        code = "disk-full" if full else "encoder-failed"
        return Failed(code=code, reason=f"The film could not be written: {error}.")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(profiles, ignore_errors=True)


def _film(
    recording: Recording, plan: Plan, made: Path, profiles: Path, trail: bool,
    processes: int | None, on_progress: Progress | None,
) -> Failed | None:  # fmt: skip
    program = find()
    if program is None:
        return Failed(code="browser-missing", reason=INSTALL_HINT)
    if not all(path.is_file() for path in SCRIPTS):
        return Failed(code="player-missing", reason=PLAYER_HINT)
    job = Job(
        recording=recording, timeline=plan.timeline, script=plan.script, size=plan.size,
        trail=trail, program=program, confined=confinement(), profiles=profiles,
        scratch=made.parent,
    )  # fmt: skip
    order = made.parent / "job"
    order.write_bytes(pickle.dumps(job))
    wanted = processes or len(os.sched_getaffinity(0))
    with Crew(order, max(1, min(wanted, PROCESSES_MAX, len(plan.segments)))) as crew:
        failed = crew.film(plan.segments, on_progress or (lambda done, total: None))
    if failed is None:
        parts = [(segment.start, job.part(segment)) for segment in plan.segments]
        join(parts, made, frames=plan.timeline.frames, fps=plan.timeline.fps)
    return failed


def _rendered(out: Path, recording: Recording, plan: Plan) -> Rendered:
    return Rendered(
        path=out,
        facts={
            "seconds": plan.timeline.seconds,
            "frames": plan.timeline.frames,
            "width": plan.size[0],
            "height": plan.size[1],
            "events": recording.event_count,
            "events_ignored": recording.ignored,
            "session_seconds": round(recording.duration_ms / 1000, 3),
            "bytes": out.stat().st_size,
        },
    )


def remove_leftovers(folder: Path) -> int:
    """Remove what renders left behind that were killed; only while none is running."""
    left = [*folder.glob(f"{PREFIX}*"), *Path(tempfile.gettempdir()).glob(f"{PREFIX}*")]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


# --- the command -----------------------------------------------------------------------------


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    return int(width), int(height)


def main(arguments: list[str] | None = None) -> int:
    """Film a recording from the command line."""
    parser = ArgumentParser(prog="python -m functions.media.replay", description=__doc__)
    parser.add_argument("recording", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--fps", type=int, default=FPS)
    parser.add_argument("--size", type=_size, metavar="WxH")
    parser.add_argument("--skip-inactivity", type=float, metavar="SECONDS")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--mouse-trail", action="store_true")
    parser.add_argument("--processes", type=int)
    given = parser.parse_args(arguments)
    if not 1 <= given.fps <= FPS_MAX or not SPEED_MIN <= given.speed <= SPEED_MAX:
        parser.error(f"--fps goes to {FPS_MAX}, --speed from {SPEED_MIN} to {SPEED_MAX}")
    if not given.recording.is_file():
        parser.error(f"{given.recording} is not a file")
    began = time.monotonic()

    def progress(done: int, total: int) -> None:
        spent = time.monotonic() - began
        speed = done / given.fps * given.speed / max(spent, 0.001)
        sys.stderr.write(f"\r{done}/{total} frames, {spent:.0f} s, {speed:.1f} x real time ")
        sys.stderr.flush()

    outcome = render_session(
        given.recording, given.out, fps=given.fps, size=given.size, speed=given.speed,
        skip_inactivity=given.skip_inactivity, mouse_trail=given.mouse_trail,
        processes=given.processes, on_progress=progress,
    )  # fmt: skip
    sys.stderr.write("\n")
    match outcome:
        case Rendered():
            facts = outcome.facts
            sys.stdout.write(
                f"{outcome.path}: {facts['seconds']:.2f} s, {facts['width']}x{facts['height']}, "
                f"{facts['bytes']} bytes in {time.monotonic() - began:.1f} s\n"
            )
            return 0
        case Refused() | Failed():
            sys.stderr.write(f"{outcome.code}: {outcome.reason}\n")
            return 1
        case _:
            assert_never(outcome)


if __name__ == "__main__":
    sys.exit(main())
