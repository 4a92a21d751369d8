"""A recorded web session becomes a film: every frame exact, much faster than it was lived."""

import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media.capture import SCRIPTS
from functions.media.chromium import INSTALL_HINT, confinement, find
from functions.media.film import failure_code, join
from functions.media.filming import Job
from functions.media.media_library import MEDIA_ERRORS
from functions.media.recording import BOUNDS, Bounds, Recording, open_recording
from functions.media.replay_crew import Crew
from functions.media.replay_plan import FPS, Plan, plan_film

PROCESSES_MAX = 16
PREFIX = "tallyreel-replay-"
PLAYER_HINT = "No replayer found: npm ci --prefix functions/media/player"

Progress = Callable[[int, int], None]


def render_session(
    recording_path: Path, out: Path, *, fps: int = FPS, size: tuple[int, int] | None = None,
    skip_inactivity: float | None = None, speed: float = 1.0, mouse_trail: bool = False,
    processes: int | None = None, on_progress: Progress | None = None, bounds: Bounds = BOUNDS,
    browser: Path | None = None,
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
        replaced = _film(
            opened,
            plan,
            made,
            profiles,
            trail=mouse_trail,
            processes=processes,
            on_progress=on_progress,
            browser=browser,
        )
        if isinstance(replaced, Failed):
            return replaced
        made.replace(out)
        return _rendered(out, opened, plan, replaced)
    except MEDIA_ERRORS as error:
        said = getattr(error, "strerror", None) or error  # without the name of our folder
        return Failed(code=failure_code(error), reason=f"The film could not be written: {said}.")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(profiles, ignore_errors=True)


def _film(
    recording: Recording, plan: Plan, made: Path, profiles: Path, *, trail: bool,
    processes: int | None, on_progress: Progress | None, browser: Path | None,
) -> int | Failed:  # fmt: skip
    """Film into `made`; return how many browsers had to be replaced on the way."""
    program = find(browser)
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
        failed = crew.film(plan.segments, on_progress or _unheard)
    if failed is not None:
        return failed
    parts = [(segment.start, job.part(segment)) for segment in plan.segments]
    join(parts, made, frames=plan.timeline.frames, fps=plan.timeline.fps)
    return len(crew.lost)


def _unheard(done: int, total: int) -> None:
    """Listen to progress where nobody does."""
    del done, total


def _rendered(out: Path, recording: Recording, plan: Plan, replaced: int) -> Rendered:
    return Rendered(
        path=out,
        facts={
            "seconds": plan.timeline.seconds,
            "frames": plan.timeline.frames,
            "width": plan.size[0],
            "height": plan.size[1],
            "events": recording.event_count,
            "events_ignored": recording.ignored,
            "browsers_replaced": replaced,
            "session_seconds": round(recording.duration_ms / 1000, 3),
            "bytes": out.stat().st_size,
        },
    )


def remove_leftovers(folder: Path, elsewhere: Path | None = None) -> int:
    """Remove what renders left behind that were killed; only while none is running."""
    temporary = elsewhere or Path(tempfile.gettempdir())
    left = {*folder.glob(f"{PREFIX}*"), *temporary.glob(f"{PREFIX}*")}
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


if __name__ == "__main__":
    from functions.media.replay_command import main

    sys.exit(main())
