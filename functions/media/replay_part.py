"""One of the processes that film a session: told segments by line, answers by line.

It leads a process group of its own that its browser belongs to: ending the group ends all.
"""

import json
import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from functions.media.chromium import BrowserLost, Refusal
from functions.media.film import failure_code
from functions.media.filming import Camera, Job
from functions.media.media_library import MEDIA_ERRORS
from functions.media.segments import Segment

TRIES = 3  # the last one without frames on command, which some pages have brought to a halt


def main() -> None:
    """Film what the parent names until it names no more."""
    job: Job = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301 - our parent wrote it
    orders: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    cameras: list[Camera] = []
    try:
        while order := orders.get():
            number, start, end = json.loads(order)
            _film(job, Segment(number=number, start=start, end=end), cameras)
    finally:
        for camera in cameras:
            camera.close()


def _listen(orders: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        orders.put(line)
        if line == "\n":
            return
    # The parent is gone without a word: nobody waits for this film.
    os.killpg(0, signal.SIGKILL)


def _say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _film(job: Job, segment: Segment, cameras: list[Camera]) -> None:
    told = 0

    def tell(frames: int) -> None:
        nonlocal told
        told += frames
        _say(frames=frames)

    for attempt in range(1, TRIES + 1):
        if not cameras:
            cameras.append(Camera(job, on_command=attempt < TRIES))
        try:
            cameras[0].film(segment, tell)
        except (BrowserLost, Refusal) as error:
            cameras.pop().close()
            _say(frames=-told, lost=str(error))
            told = 0
            if attempt == TRIES:
                _say(failed="browser-stuck", reason=str(error))
                return
        except MEDIA_ERRORS as error:
            _say(failed=failure_code(error), reason=str(error))
            return
        else:
            _say(done=segment.number)
            return


if __name__ == "__main__":
    main()
