"""Views a video that anyone may have made: its shots, key frames and sound, and what a model needs.

One pass in a child process without rights decodes it, measures it and writes small copies of it
into files that are open already. Here those are named, checked and described.
"""

import errno
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media.diet import Plan, latest_end
from functions.media.sandbox import Limits, run
from functions.media.sniff import sniff
from functions.media.verdict import NotVerified
from functions.media.viewing_words import (
    ANSWER_BYTES_MAX,
    DISK_FULL,
    FAILURES,
    PART_TOO_LARGE,
    REASONS,
    Viewed,
    read_answer,
)
from functions.media.wire import Garbled

TARGET = "functions.media.viewing_pass:answer"
FORMATS = {"mp4": "mov", "webm": "matroska"}  # demuxers, by what the first bytes say
HEAD_BYTES = 4096
SPOOL = "key-frames.jpegs"
# One more than processors, so that none waits while a picture is looked at; each takes memory.
THREADS_MAX = 5
# Of address space: decoding 4K takes half a gigabyte, and each thread reserves some.
MEMORY_BYTES = 3 << 30
SPOOL_BYTES = 64 << 20
# A second try keeps this far below the allowed bytes where the first has gone over them.
TIGHTER = 0.6
PART_ROOM = 2  # times the allowed bytes: what goes beyond them is to be seen, not to kill
NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT))
JPEG_START, MP4_TYPE = b"\xff\xd8", b"ftyp"

Progress = Callable[[int, int], None]


def view_video(
    source: Path, out: Path, order: Mapping[str, Any], on_progress: Progress
) -> Rendered | Refused | Failed:
    """View a video as `order` says and write what was found to `out` as JSON.

    `order` holds `seconds`, the length that was said before; `key_frames_max`; and `diet`, None or
    how a model wants its parts: `side_max` in pixels, `frames_per_second`, `sound`, `part_seconds`
    and `bytes_max` of each. Key frames (`shot-001.jpg`, ...) and parts (`part-1.mp4`, ...) are
    written beside `out`. `on_progress(done, total)` is called in milliseconds of the video at
    least every half second; what it raises ends the work at once. Unless it ends well, nothing
    is left.
    """
    written = _Written(out)
    try:
        outcome = _viewed(source, written, order, on_progress)
    except BaseException:
        written.remove()
        raise
    if not isinstance(outcome, Rendered):
        written.remove()
    return outcome


@dataclass(slots=True)
class _Written:
    """The files of one viewing."""

    out: Path
    parts: int = 0
    pictures: int = 0

    @property
    def spool(self) -> Path:
        return self.out.parent / SPOOL

    def part(self, number: int) -> Path:
        return self.out.parent / f"part-{number}.mp4"

    def picture(self, number: int) -> Path:
        return self.out.parent / f"shot-{number:03}.jpg"

    def remove(self) -> None:
        for path in (
            self.out,
            self.spool,
            *(self.part(number) for number in range(1, self.parts + 1)),
            *(self.picture(number) for number in range(1, self.pictures + 1)),
        ):
            path.unlink(missing_ok=True)


def _viewed(
    source: Path, written: _Written, order: Mapping[str, Any], on_progress: Progress
) -> Rendered | Refused | Failed:
    with source.open("rb") as file:
        form = FORMATS.get(sniff(file.read(HEAD_BYTES)))
    if form is None:
        return Refused(code="video-unreadable", reason=REASONS["video-unreadable"])
    asked = {**order, "format": form, "tight": 1.0}
    outcome = _tried(source, written, asked, on_progress)
    if isinstance(outcome, Failed) and outcome.code == PART_TOO_LARGE:
        outcome = _tried(source, written, {**asked, "tight": TIGHTER}, on_progress)
    return outcome


def _tried(
    source: Path, written: _Written, order: Mapping[str, Any], on_progress: Progress
) -> Rendered | Refused | Failed:
    answer = _asked(source, written, order, on_progress)
    if isinstance(answer, NotVerified):
        return _failed(answer.code)
    try:
        said = read_answer(answer)
        return _delivered(said, written) if isinstance(said, Viewed) else said
    except Garbled:
        return _failed("garbled")
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        return Failed(code=DISK_FULL, reason=FAILURES[DISK_FULL])


def _failed(how: str) -> Failed:
    return Failed(code="viewing-failed", reason=f"Looking at the video did not end well ({how}).")


def _asked(
    source: Path, written: _Written, order: Mapping[str, Any], on_progress: Progress
) -> bytes | NotVerified:
    """Have a child look at it, with everything open that it may read or write."""
    diet = order["diet"]
    written.parts = Plan.of(diet, order["seconds"]).parts if diet is not None else 0
    threads = min(THREADS_MAX, len(os.sched_getaffinity(0)) + 1)
    limits = replace(
        Limits.for_seconds(latest_end(order["seconds"])),
        memory_bytes=MEMORY_BYTES,
        file_bytes=max(SPOOL_BYTES, PART_ROOM * diet["bytes_max"] if diet is not None else 0),
        answer_bytes=ANSWER_BYTES_MAX,
        threads=threads,
    )
    targets = [written.spool, *(written.part(number + 1) for number in range(written.parts))]
    with ExitStack() as stack:
        files: list[IO[bytes]] = [stack.enter_context(source.open("rb", buffering=0))]
        files += (stack.enter_context(path.open("w+b", buffering=0)) for path in targets)
        request = json.dumps({**order, "threads": threads})
        return run(TARGET, request, files, limits, on_progress)


def _delivered(viewed: Viewed, written: _Written) -> Rendered:
    """Give the files their names, leave out what is empty, and write down what was found."""
    names = _name_pictures(viewed, written)
    if len(viewed.parts) > written.parts:
        raise Garbled
    for number in range(1, written.parts + 1):
        path = written.part(number)
        if number > len(viewed.parts):
            path.unlink()
        elif not _starts(path, MP4_TYPE, at=4):
            raise Garbled
    written.parts = len(viewed.parts)
    written.out.write_text(json.dumps(_described(viewed, names)), encoding="utf-8")
    return Rendered(
        path=written.out,
        content_type="application/json",
        facts={
            "seconds": viewed.seconds,
            "width": viewed.width,
            "height": viewed.height,
            "parts": len(viewed.parts),
            "shots": len(viewed.shots),
        },
    )


def _name_pictures(viewed: Viewed, written: _Written) -> dict[int, str]:
    """Take the key frames out of the one file that they came in; name each after its shot."""
    named = {
        shot.picture: number
        for number, shot in enumerate(viewed.shots, start=1)
        if shot.picture is not None
    }
    written.pictures = len(viewed.shots)
    names = {}
    with written.spool.open("rb") as spool:
        for picture, size in enumerate(viewed.pictures):
            data = spool.read(size)
            if len(data) != size or not data.startswith(JPEG_START) or picture not in named:
                raise Garbled
            path = written.picture(named[picture])
            path.write_bytes(data)
            names[picture] = path.name
    written.spool.unlink()
    return names


def _starts(path: Path, mark: bytes, *, at: int) -> bool:
    with path.open("rb") as file:
        file.seek(at)
        return file.read(len(mark)) == mark


def _described(viewed: Viewed, names: Mapping[int, str]) -> dict[str, Any]:
    sound = viewed.sound
    return {
        "seconds": viewed.seconds,
        "width": viewed.width,
        "height": viewed.height,
        "frames_per_second": viewed.frames_per_second,
        "codec": viewed.codec,
        "sound": asdict(sound) if sound is not None else None,
        "shots": [
            {
                "start": shot.start,
                "end": shot.end,
                "key_frame": names[shot.picture] if shot.picture is not None else None,
            }
            for shot in viewed.shots
        ],
        "parts": [
            {"file": f"part-{number}.mp4", "start": start, "end": end}
            for number, (start, end) in enumerate(viewed.parts, start=1)
        ],
    }
