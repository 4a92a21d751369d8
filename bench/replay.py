"""Film the same session three ways in one run, and say how they compare.

- `film`: what the product does, with one process and with one per core
- `record`: the replayer plays in real time and the screen is recorded
- `loop`: for each frame the replayer is paused at its time and a screenshot is taken

`python -m bench.replay [RECORDING] [--seconds 10]`. The slow ways only get the first seconds; all
figures are per second of the session.
"""

import json
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Rendered
from functions.media.capture import REPLAYER
from functions.media.chromium import Chromium, confinement, find
from functions.media.film import Developer, Film
from functions.media.recording import Recording, open_recording
from functions.media.replay import render_session
from functions.media.replay_plan import FPS, film_size

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "recordings"
DEFAULT = CORPUS / "self-app-60s.json"
JPEG = {"format": "jpeg", "quality": 80}
PAGE = "<body style='margin:0;overflow:hidden'><div id=stage></div>"


@dataclass(slots=True)
class Measured:
    """How one way went."""

    name: str
    session_seconds: float
    seconds: float = 0.0
    pictures: int = 0
    memory_mb: float = 0.0
    note: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def faster(self) -> float:
        """How many seconds of session in one second."""
        return self.session_seconds / self.seconds


@contextmanager
def measured(name: str, session_seconds: float) -> Iterator[Measured]:
    """Time a way and watch the memory of its processes."""
    found = Measured(name, session_seconds)
    watcher = threading.Thread(target=watch, args=(found,), daemon=True)
    watcher.start()
    began = time.monotonic()
    yield found
    found.seconds = time.monotonic() - began
    found.stop.set()
    watcher.join()


def watch(found: Measured) -> None:
    while not found.stop.wait(0.5):
        found.memory_mb = max(found.memory_mb, sum(map(share_kb, offspring())) / 1024)


def offspring() -> list[int]:
    """Find this process's descendants; a browser's zygote counts with its parent."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [int(Path("/proc/self").resolve().name)]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def share_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


# --- the product -----------------------------------------------------------------------------


def by_film(path: Path, folder: Path, session_seconds: float, processes: int) -> Measured:
    with measured(f"film, {processes} process(es)", session_seconds) as found:
        outcome = render_session(path, folder / "film.mp4", processes=processes)
    if not isinstance(outcome, Rendered):
        raise SystemExit(str(outcome))
    found.pictures = int(outcome.facts["frames"])
    found.note = "every frame at its time"
    return found


# --- the other ways --------------------------------------------------------------------------


class Replayer:
    """rrweb's replayer as anyone would use it."""

    def __init__(self, browser: Chromium, events: list[Any], size: tuple[int, int]) -> None:
        self._browser = browser
        width, height = size
        target = {"url": "about:blank", "width": width, "height": height}
        made = browser.call("Target.createTarget", target, seconds=10)["targetId"]
        attach = {"targetId": made, "flatten": True}
        self.session = browser.call("Target.attachToTarget", attach, seconds=10)["sessionId"]
        self.call("Page.enable")
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        style = (REPLAYER / "style.css").read_text("utf-8")
        self.call("Page.setDocumentContent", frameId=frame, html=f"<style>{style}</style>{PAGE}")
        self.run((REPLAYER / "replay.umd.min.cjs").read_text("utf-8"))
        self.run(
            f"window.replayer = new rrwebReplay.Replayer({json.dumps(events)}, "
            "{root: stage, UNSAFE_replayCanvas: true, showWarning: false}); 1"
        )
        time.sleep(0.3)  # as long as the replayer takes to build its first page

    def call(self, method: str, **params: Any) -> Any:
        """Ask the page's browser."""
        return self._browser.call(method, params, self.session, seconds=30)

    def run(self, script: str) -> Any:
        """Run a script in the page."""
        return self.call("Runtime.evaluate", expression=script)


@contextmanager
def replayer(events: list[Any], size: tuple[int, int], folder: Path) -> Iterator[Replayer]:
    program = find()
    if program is None:
        raise SystemExit("no Chromium")
    browser = Chromium(program, confined=confinement(), profiles=folder, on_command=False)
    try:
        yield Replayer(browser, events, size)
    finally:
        browser.close()


def by_record(events: list[Any], size: tuple[int, int], folder: Path, seconds: float) -> Measured:
    pictures: list[tuple[float, bytes]] = []
    with measured("record in real time", seconds) as found:
        with replayer(events, size, folder) as played:
            browser = played._browser  # noqa: SLF001 - of this very module

            def take(params: Mapping[str, Any], session: str) -> None:
                pictures.append((params["metadata"]["timestamp"], b64decode(params["data"])))
                browser.send("Page.screencastFrameAck", {"sessionId": params["sessionId"]}, session)

            browser.on("Page.screencastFrame", take)
            played.call("Page.startScreencast", **JPEG)
            played.run("replayer.play(); 1")
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                played.run("1")  # which lets pictures in
                time.sleep(0.005)
        start = pictures[0][0] if pictures else 0.0
        frames = {round((at - start) * FPS): jpeg for at, jpeg in pictures}
        found.pictures = encode(sorted(frames.items()), size, folder)
    found.note = "frames that the browser had time for"
    return found


def by_loop(events: list[Any], size: tuple[int, int], folder: Path, seconds: float) -> Measured:
    def shots(played: Replayer) -> Iterator[tuple[int, bytes]]:
        for frame in range(int(seconds * FPS)):
            played.run(f"replayer.pause({frame * 1000 / FPS}); 1")
            yield frame, b64decode(played.call("Page.captureScreenshot", **JPEG)["data"])

    with (
        measured("loop of screenshots", seconds) as found,
        replayer(events, size, folder) as played,
    ):
        found.pictures = encode(shots(played), size, folder)
    found.note = "animations stand still, one position of the pointer in ten"
    return found


def encode(pictures: Any, size: tuple[int, int], folder: Path) -> int:
    count, developer = 0, Developer()
    with Film(folder / "other.mp4", size=size, fps=FPS) as film:
        for at, jpeg in pictures:
            film.show(developer.develop(jpeg), at)
            count += 1
    return count


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("recording", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)
        opened = open_recording(given.recording, folder)
        if not isinstance(opened, Recording):
            raise SystemExit(str(opened))
        whole = opened.duration_ms / 1000
        part = min(given.seconds, whole)
        events = json.loads(given.recording.read_text("utf-8"))
        size = film_size(opened)
        ways = [by_record(events, size, folder, part), by_loop(events, size, folder, part)]
        ways += [by_film(given.recording, folder, whole, count) for count in (1, 2)]
    report(given.recording.name, whole, size, ways)
    return 0


def report(name: str, whole: float, size: tuple[int, int], ways: list[Measured]) -> None:
    print(f"{name}: {whole:.1f} s, {size[0]}x{size[1]}, {FPS} fps")
    for way in ways:
        rate = way.pictures / way.session_seconds
        print(
            f"{way.name:24} {way.faster:5.2f} x real time, {rate:5.1f} pictures/s, "
            f"{way.memory_mb:4.0f} MB   {way.note}"
        )
    best = ways[-1]
    for way in ways[:2]:
        print(f"{best.faster / way.faster:5.1f} times as fast as: {way.name}")


if __name__ == "__main__":
    sys.exit(main())
