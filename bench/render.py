"""How fast a photo is filmed, against the ffmpeg command that makes the same move and encode.

`python -m bench.render` renders the project's own photo with both in turn and prints medians. Two
commands are compared, since ffmpeg's `zoompan` moves by whole pixels of its source:

- `plain` samples the photo as densely as we do. It trembles.
- `steady` enlarges the photo to 8000 pixels first, the usual advice, which makes the steps small.

How much each trembles is measured with a dot whose place is known. Nothing is written.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av

from functions.media.motion import CRF, GOP, PRESET, THREADS, render_motion
from functions.media.motion_grid import plan_canvases
from functions.media.motion_plan import FPS, RAMP_SECONDS, RAMP_SHARE_MAX, Move, Window, plan_move
from functions.media.photo import Photo, read_photo
from local.picture import HEIGHT, WIDTH, draw_picture
from tests.media.dots import dotted, misses
from tests.media.pictures import encode

STEADY_PIXELS = 8000
ROUNDS = 3
DOT = (700.3, 520.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order. All of them move within the centre of the photo, as `zoompan` must."""

    motion: str
    aspect: str
    seconds: int

    @property
    def move(self) -> Move:
        """The planned move over the project's photo."""
        return plan_move(
            motion=self.motion,
            seconds=self.seconds,
            aspect=self.aspect,
            width=WIDTH,
            height=HEIGHT,
        )

    @property
    def cover(self) -> Window:
        """The part of the photo that the move takes place in."""
        return plan_move(
            motion="zoom-in", seconds=1, aspect=self.aspect, width=WIDTH, height=HEIGHT
        ).start


CASES = (
    Case(motion="zoom-in", aspect="16:9", seconds=4),
    Case(motion="pan-right", aspect="16:9", seconds=8),
    Case(motion="zoom-out", aspect="9:16", seconds=4),
    Case(motion="zoom-in", aspect="1:1", seconds=4),
)
Command = Callable[[Case, Path, Path], list[str]]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--one", nargs=5, metavar=("PHOTO", "OUT", "MOTION", "ASPECT", "S"))
    given = arguments.parse_args()
    if given.one:
        film_one(*given.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), given.rounds)


def film_one(photo: str, out: str, motion: str, aspect: str, seconds: str) -> None:
    read = read_photo(Path(photo))
    if not isinstance(read, Photo):
        sys.exit(read.reason)
    render_motion(read, Path(out), motion=motion, seconds=int(seconds), aspect=aspect)


def compare(folder: Path, rounds: int) -> None:
    photo, dot, out = folder / "photo.jpg", folder / "dot.png", folder / "out.mp4"
    draw_picture(photo)
    dot.write_bytes(encode("png", dotted(WIDTH, HEIGHT, [DOT]).frame, "gray"))
    print(f"{'':26}{'ours':>20}{'ffmpeg plain':>20}{'ffmpeg steady':>20}")
    for case in CASES:
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
        for _ in range(rounds):
            for name, command in COMMANDS.items():
                taken[name].append(run(command(case, photo, out)))
        show(case, taken)
    case = CASES[0]
    shakes = []
    for command in COMMANDS.values():
        run(command(case, dot, out))
        shakes.append(f"{shake(case.move, out):17.3f} px")
    print(f"{'trembling (rms)':26}{''.join(shakes)}")


def show(case: Case, taken: dict[str, list[tuple[float, float]]]) -> None:
    name = f"{case.motion} {case.aspect} {case.seconds} s"
    wall = {key: statistics.median(t[0] for t in times) for key, times in taken.items()}
    work = {key: statistics.median(t[1] for t in times) for key, times in taken.items()}
    cells = [f"{wall[key]:9.2f} s{work[key]:6.2f} cpu" for key in taken]
    print(f"{name:26}" + "".join(cells))
    ratios = [
        f"{wall['ours'] / wall[key]:9.2f}  {work['ours'] / work[key]:6.2f}    " for key in taken
    ]
    speed = f"  ours: {case.move.frames / wall['ours']:.0f} frames/s; ratios"
    print(f"{speed:26}" + "".join(ratios), flush=True)


def run(command: list[str]) -> tuple[float, float]:
    """Return the seconds and the processor seconds of a program, its start included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shake(move: Move, clip: Path) -> float:
    """Return how far a dot strays from its path (root mean square, without constant offset)."""
    with av.open(clip) as container:
        found = misses(container.decode(video=0), move, DOT)
    axes = ([miss[0] for miss in found], [miss[1] for miss in found])
    return math.sqrt(statistics.fmean(statistics.pvariance(axis) for axis in axes))


def ours(case: Case, photo: Path, out: Path) -> list[str]:
    order = [str(photo), str(out), case.motion, case.aspect, str(case.seconds)]
    return [sys.executable, "-m", "bench.render", "--one", *order]


def plain(case: Case, photo: Path, out: Path) -> list[str]:
    across = plan_canvases(case.move)[0].width / case.move.hull.w
    return zoompan(case, photo, out, round(case.cover.w * across))


def steady(case: Case, photo: Path, out: Path) -> list[str]:
    cover = case.cover
    return zoompan(case, photo, out, round(STEADY_PIXELS * min(1.0, cover.w / cover.h)))


COMMANDS: dict[str, Command] = {"ours": ours, "plain": plain, "steady": steady}


def zoompan(case: Case, photo: Path, out: Path, width: int) -> list[str]:
    """Return the ffmpeg command for the same move, over a source of this width."""
    move, cover = case.move, case.cover
    a, b = move.start, move.end
    way = f"((({cover.w}/zoom)-{a.w})/({b.w - a.w}))" if a.w != b.w else f"({easing(move)})"
    zoom = f"{cover.w / a.w}*pow({a.w / b.w},{easing(move)})"
    x = f"({a.x - cover.x}+({b.x - a.x})*{way})*iw/{cover.w}"
    y = f"({a.y - cover.y}+({b.y - a.y})*{way})*ih/{cover.h}"
    filters = ",".join(
        (
            f"crop={cover.w:.0f}:{cover.h:.0f}",
            f"scale={width // 2 * 2}:{round(width * cover.h / cover.w) // 2 * 2}:flags=lanczos",
            "format=yuv444p",
            (
                f"zoompan=z='{zoom}':x='{x}':y='{y}':d={move.frames}"
                f":s={move.width}x{move.height}:fps={FPS}"
            ),
            "format=yuv420p",
        )
    )
    codec = f"-c:v libx264 -preset {PRESET} -crf {CRF} -threads {THREADS} -g {GOP} -sc_threshold 0"
    start = ["ffmpeg", "-v", "error", "-y", "-i", str(photo), "-vf", filters]
    return [*start, *codec.split(), "-movflags", "+faststart", str(out)]


def easing(move: Move) -> str:
    """Return `motion_plan.ease` in ffmpeg's language."""
    ramp = min(RAMP_SHARE_MAX, RAMP_SECONDS * FPS / move.frames)
    share, rest = f"(on/{move.frames - 1})", f"(1-on/{move.frames - 1})"
    soft = "({0}-{1}/PI*sin(PI*{0}/{1}))/2/(1-{1})"
    early, late = soft.format(share, ramp), soft.format(rest, ramp)
    middle = f"({share}-{ramp / 2})/(1-{ramp})"
    return f"if(lt({share},{ramp}),{early},if(gt({share},1-{ramp}),1-{late},{middle}))"


if __name__ == "__main__":
    main()
