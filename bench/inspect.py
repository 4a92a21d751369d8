"""Time and memory of the inspection, against a bare decode of the same file in the same run.

python -m bench.inspect            720p and 1080p, 10 s and 60 s
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av

from bench.films import FILMS, early_rejects, film
from functions.media.inspect import inspect_file, inspect_sandboxed
from functions.media.verdict import Expected, Verdict

ROUNDS = 3  # the best of each: others work on the machine too


def bare_decode(path: Path) -> None:
    with av.open(path) as box:
        stream = box.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        for _ in box.decode(stream):
            pass


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratios(name: str, path: Path, seconds: int) -> None:
    order = Expected(seconds=seconds)
    works: dict[str, Callable[[], object]] = {
        "bare": lambda: bare_decode(path),
        "in process": lambda: inspect_file(path, order),
        "sandboxed": lambda: inspect_sandboxed(path, order),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for kind, work in works.items():
            best[kind] = min(best[kind], seconds_of(work))
    bare = best["bare"]
    print(
        f"{name:24} bare decode {bare * 1e3:7.0f} ms"
        + "".join(
            f"   {k} {v * 1e3:7.0f} ms = {v / bare:.2f}x" for k, v in best.items() if k != "bare"
        ),
        flush=True,
    )


def peak_megabytes(path: Path, seconds: int) -> float:
    command = [
        sys.executable,
        "-m",
        "functions.media.inspect",
        str(path),
        "--seconds",
        str(seconds),
    ]
    subprocess.run(command, check=False, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (width, height, seconds, look) in FILMS.items():
            path = film(
                Path(folder) / f"{name.replace(' ', '-')}.mp4", width, height, seconds, look
            )
            ratios(name, path, seconds)
            if (height, seconds) == (1080, 10):
                print(f"{'':24} peak memory {peak_megabytes(path, seconds):.0f} MB", flush=True)
        for name, path in early_rejects(Path(folder)).items():
            times = []
            for _ in range(ROUNDS):
                verdict: list[object] = []
                times.append(
                    seconds_of(
                        lambda: verdict.append(inspect_sandboxed(path, Expected(seconds=10)))
                    )
                )  # noqa: B023
            found = verdict[0]
            code = found.code if isinstance(found, Verdict) else found
            print(f"early: {name:20} {min(times) * 1e3:6.1f} ms   {code}")


if __name__ == "__main__":
    main()
