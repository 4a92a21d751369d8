"""Time and memory of the inspection, against a bare decode of the same file in the same run.

python -m bench.inspect            720p and 1080p, 10 s and 60 s
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av

from bench.films import FILMS, early_rejects, film
from functions.media.inspect import inspect_file, inspect_sandboxed
from functions.media.verdict import Expected

ROUNDS = 3  # the best of each: others work on the machine too
PEAK_SECONDS = 10


def bare_decode(path: Path) -> None:
    with av.open(path) as box:
        stream = box.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        for _ in box.decode(stream):
            pass


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Wall clock and processor seconds, children included."""
    started, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return time.perf_counter() - started, sum(after[:4]) - sum(before[:4])


def ratios(name: str, path: Path, seconds: int) -> None:
    order = Expected(seconds=seconds)
    works: dict[str, Callable[[], object]] = {
        "bare": lambda: bare_decode(path),
        "in process": lambda: inspect_file(path, order),
        "sandboxed": lambda: inspect_sandboxed(path, order),
    }
    walls, processor = dict.fromkeys(works, float("inf")), dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for kind, work in works.items():
            wall, cpu = spent(work)
            walls[kind], processor[kind] = min(walls[kind], wall), min(processor[kind], cpu)
    told = "".join(
        f"   {kind} {walls[kind] / walls['bare']:.2f} / {processor[kind] / processor['bare']:.2f}"
        for kind in ("in process", "sandboxed")
    )
    print(f"{name:18} bare decode {walls['bare'] * 1e3:6.0f} ms   ratios (wall / cpu):{told}",
          flush=True)  # fmt: skip


def early(name: str, path: Path) -> None:
    order, codes = Expected(seconds=10), set()

    def work() -> None:
        codes.add(inspect_sandboxed(path, order).code)

    best = min(spent(work)[0] for _ in range(ROUNDS))
    print(f"early: {name:20} {best * 1e3:6.1f} ms   {', '.join(codes)}", flush=True)


def peak_megabytes(path: Path, seconds: int) -> float:
    """Run the command behind a small process: a large parent would be counted with its child."""
    script = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-m", "functions.media.inspect", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", script, *command, "--seconds", str(seconds)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for name, (width, height, seconds, look) in FILMS.items():
            path = film(folder, width, height, seconds, look)
            ratios(name, path, seconds)
            if seconds == PEAK_SECONDS:
                print(f"{'':24} peak memory {peak_megabytes(path, seconds):.0f} MB", flush=True)
        for name, path in early_rejects(folder).items():
            early(name, path)


if __name__ == "__main__":
    main()
