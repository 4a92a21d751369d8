"""Viewing a video for its analysis, against ffmpeg making the same small copy of it.

`python -m bench.analysis` views a minute of 1080p at 25 frames a second with sound: twelve shots,
grain and all. The copy is 480 lines, two pictures a second, mono. ffmpeg makes no more than that
copy; ours also finds the shots, takes their key frames and measures the sound, in a child process
without rights. Each is a whole process; they take turns, and the best of each counts, for others
work on the machine too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.filter import Graph

from functions.domain.outcomes import Rendered
from functions.media.diet import SOUND_RATE
from functions.media.parts import PRESET, QUALITY
from functions.media.viewing import view_video

RATE, SECONDS, SHOT_SECONDS = 25, 60, 5
WIDTH, HEIGHT = 1920, 1080
SIDE, FRAMES_PER_SECOND = 480, 2.0
ROUNDS = 5
SIZE = f"s={WIDTH}x{HEIGHT}:rate={RATE}"
LOOKS = (
    [("mandelbrot", f"{SIZE}:start_scale=2:end_scale=0.5"), ("noise", "alls=6:allf=t")],
    [("testsrc2", SIZE), ("noise", "alls=4:allf=t")],
    [("gradients", f"{SIZE}:seed=3:nb_colors=6"), ("noise", "alls=8:allf=t")],
    [("mandelbrot", f"{SIZE}:start_scale=0.3:start_x=-1.2"), ("noise", "alls=6:allf=t")],
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One process: seconds by the clock and of the processor, and megabytes at its peak."""

    wall: float
    cpu: float
    memory: float


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--input", type=Path, help="a video of a minute to use instead")
    arguments.add_argument("--one", nargs=2, type=Path, metavar=("VIDEO", "FOLDER"))
    given = arguments.parse_args()
    if given.one:
        view_one(*given.one)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare(given.input or make(folder / "input.mp4"), folder, given.rounds)


def make(path: Path) -> Path:
    """Write the input."""
    with av.open(path, "w", options={"movflags": "faststart"}) as box:
        picture: Any = box.add_stream(
            "libx264", rate=RATE, options={"preset": "veryfast", "b": "6000000"}
        )
        picture.width, picture.height, picture.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        picture.thread_type = "FRAME"  # slices, one per thread, are not what phones record
        sound: Any = box.add_stream("aac", rate=48_000, layout="stereo")
        index = 0
        for number in range(SECONDS // SHOT_SECONDS):
            graph = Graph()
            steps = [*LOOKS[number % len(LOOKS)], ("format", "yuv420p")]
            graph.link_nodes(*(graph.add(*step) for step in steps), graph.add("buffersink"))
            graph.configure()
            for _ in range(SHOT_SECONDS * RATE):
                frame = graph.vpull()
                frame.pts, frame.time_base, frame.pict_type = index, Fraction(1, RATE), 0
                index += 1
                box.mux(picture.encode(frame))
        box.mux(picture.encode(None))
        _speak(box, sound)
    return path


def _speak(box: Any, track: Any) -> None:
    graph = Graph()
    nodes = [graph.add("anoisesrc", "r=48000:a=0.2:c=pink"), graph.add("aformat", "fltp:48000")]
    graph.link_nodes(*nodes, graph.add("aformat", "channel_layouts=stereo"),
                     graph.add("abuffersink")).configure()  # fmt: skip
    samples = 0
    while samples < SECONDS * 48_000:
        frame = graph.pull()
        if not isinstance(frame, AudioFrame):
            raise TypeError(type(frame))
        samples += frame.samples
        box.mux(track.encode(frame))
    box.mux(track.encode(None))


def view_one(video: Path, folder: Path) -> None:
    """View in this process' child, as a worker does."""
    diet = {
        "side_max": SIDE,
        "frames_per_second": FRAMES_PER_SECOND,
        "sound": True,
        "part_seconds": 600,
        "bytes_max": 20_000_000,
    }
    order = {"seconds": float(SECONDS), "diet": diet, "key_frames_max": 40}
    outcome = view_video(video, folder / "viewing.json", order, lambda _done, _total: None)
    if not isinstance(outcome, Rendered):
        sys.exit(outcome.reason)


def compare(video: Path, folder: Path, rounds: int) -> None:
    ours = [sys.executable, "-m", "bench.analysis", "--one", str(video), str(folder)]
    commands = {
        "ours": ours,
        "ffmpeg": ffmpeg(video, folder),
        "ffmpeg -threads 1": ffmpeg(video, folder, "-threads", "1"),
    }
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    shots = len(json.loads((folder / "viewing.json").read_text("utf-8"))["shots"])
    print(f"{video.stat().st_size / 1e6:.0f} MB, {SECONDS} s; {shots} shots found; "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # fmt: skip
    for name, told in runs.items():
        wall, cpu = _best(told, lambda one: one.wall), _best(told, lambda one: one.cpu)
        ratios = [
            f"{_best(runs['ours'], value) / _best(told, value):.2f}"
            for value in (lambda one: one.wall, lambda one: one.cpu)
        ]
        memory = _best(told, lambda one: one.memory)
        print(f"{name:20}{wall:7.2f} s{cpu:7.2f} cpu{memory:6.0f} MB   ours to it: "
              f"{' / '.join(ratios)} (wall / cpu)", flush=True)  # fmt: skip


def _best(runs: list[Run], value: Callable[[Run], float]) -> float:
    return min(value(one) for one in runs)


def ffmpeg(video: Path, folder: Path, *threads: str) -> list[str]:
    """Return the command for the same copy; `threads` bind decoder and encoder alike."""
    pictures = f"-vf fps={FRAMES_PER_SECOND:g},scale=-2:{SIDE}:flags=area -c:v libx264"
    sound = f"-ac 1 -ar {SOUND_RATE} -c:a aac -b:a 64k"
    options = f"{pictures} -preset {PRESET} -crf {QUALITY} {sound} -movflags +faststart"
    start = ["ffmpeg", "-v", "error", "-y", *threads, "-i", str(video)]
    return [*start, *options.split(), *threads, str(folder / "copy.mp4")]


def run(command: list[str]) -> Run:
    """Measure a program with its children, behind a small process: ours would be counted too."""
    script = (
        "import resource, subprocess, sys, time; start = time.perf_counter();"
        "subprocess.run(sys.argv[1:], check=True); wall = time.perf_counter() - start;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *command], capture_output=True, text=True, check=True
    )
    wall, cpu, memory = (float(word) for word in done.stdout.split())
    return Run(wall=wall, cpu=cpu, memory=memory / 1024)


if __name__ == "__main__":
    main()
