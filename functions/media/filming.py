"""Films segments: steps the page from change to change and shows what changed, until when."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from functions.media.capture import Page, Stand
from functions.media.chromium import Chromium, Confinement, Program
from functions.media.darkroom import Darkroom
from functions.media.film import HOLD_SECONDS
from functions.media.pointer import Mark
from functions.media.pointer_view import NEVER, PointerView
from functions.media.recording import Recording
from functions.media.recording_events import Source
from functions.media.replay_script import Script
from functions.media.segments import Segment
from functions.media.timeline import Timeline

REPORT_SECONDS = 0.2
# Browsers grow with what they have shown; a new one takes a third of a second.
PICTURES_PER_BROWSER = 2000
# What changed by itself twice in a row does so again: asking first would cost more.
STIRRED_MIN = 2
# Events that often change nothing in view.
QUIET = frozenset({Source.MOUSE_INTERACTION, Source.SCROLL, Source.MEDIA, Source.SELECTION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything that a process needs to film any segment."""

    recording: Recording
    timeline: Timeline
    script: Script
    size: tuple[int, int]
    trail: bool
    program: Program
    confined: Confinement
    profiles: Path
    scratch: Path

    def part(self, segment: Segment) -> Path:
        """Where a segment's film lies."""
        return self.scratch / f"{segment.number}.mp4"


class Camera:
    """One browser, standing at some frame, and what it saw last."""

    def __init__(self, job: Job, *, on_command: bool) -> None:
        self._job = job
        self._on_command = on_command and job.program.on_command
        self._view = PointerView(
            track=job.recording.pointer, speed=job.timeline.speed, trail=job.trail
        )
        self._events: BinaryIO = job.recording.events.open("rb")
        self._browser: Chromium | None = None
        self._page: Page | None = None
        self._frame = -1  # up to which the page has been played
        self._done = 0  # turns
        self._pictures = 0
        self._stirred = 0  # frames in a row that changed by themselves
        self._jpeg = b""
        self._calm_since = 0.0  # when an endless animation was last seen to change something
        self._origin_since = 0.0
        self._stand = Stand(live=0, scale=1, left=0, top=0, inner_left=0, inner_top=0)

    def close(self) -> None:
        """End the browser."""
        self._events.close()
        if self._browser is not None:
            self._browser.close()
            self._browser = None

    def film(self, segment: Segment, on_frames: Callable[[int], None]) -> None:
        """Film one segment into its file and tell of frames as they are done."""
        if self._page is None or self._frame != segment.start - 1 or self._worn():
            self._begin(segment.start)
        else:
            self._page.tidy()
        path = self._job.part(segment)
        with Darkroom(path, size=self._job.size, fps=self._job.timeline.fps) as darkroom:
            self._roll(segment, darkroom, on_frames)
        gc.collect()  # an encoder holds 50 MB, and itself in a circle

    # --- one segment -----------------------------------------------------------------------------

    def _roll(self, segment: Segment, darkroom: Darkroom, on_frames: Callable[[int], None]) -> None:
        mark_shown, shown_at = Mark(), segment.start
        hold = HOLD_SECONDS * self._job.timeline.fps
        at, reported, said = segment.start, time.monotonic(), segment.start
        # Only what this segment saw itself tells it that nothing changes.
        self._calm_since = self._job.timeline.session_ms(at)
        while at < segment.end:
            now = self._job.timeline.session_ms(at)
            fresh = self._look(at, now, must=at == segment.start)
            mark = self._view.mark(now, self._stand, self._origin_since)
            changed = fresh is not None or mark != mark_shown
            if changed or at - shown_at >= hold:
                darkroom.show(fresh, mark, at - segment.start, changed=changed)
                mark_shown, shown_at = mark, at
            self._frame = at
            at = min(self._next(at, now), shown_at + hold, segment.end)
            if time.monotonic() - reported > REPORT_SECONDS:
                on_frames(at - said)
                reported, said = time.monotonic(), at
        self._frame = segment.end - 1
        on_frames(segment.end - said)

    def _look(self, at: int, now: float, *, must: bool) -> bytes | None:
        """Bring the page to a frame and return its picture if it is a new one."""
        page, script = self._page, self._job.script
        if page is None:
            raise TypeError("no page to look at")
        due = script.due(self._done, at)
        turns = range(self._done, due)
        stirs = bool(self._stand.live) and self._stirred >= STIRRED_MIN
        sure = must or stirs or any(self._telling(turn) for turn in turns)
        if turns or self._stand.live:
            self._step(page, turns, now, sure=sure)
            self._done = due
        elif not must:
            return None
        jpeg = page.look(sure=sure)
        if jpeg is not None:
            self._pictures += 1
        if not turns:
            self._stirred = self._stirred + 1 if jpeg not in {None, self._jpeg} else 0
        if jpeg is None or (jpeg == self._jpeg and not must):
            return None
        if jpeg != self._jpeg:
            self._calm_since = now
        self._jpeg = jpeg
        return jpeg

    def _telling(self, turn: int) -> bool:
        """Whether a turn nearly always shows: then asking first costs more than it saves."""
        place = self._job.script.turns[turn][0]
        return place >= 0 and self._job.recording.entries[place].source not in QUIET

    def _step(self, page: Page, turns: range, now: float, *, sure: bool = False) -> None:
        job = self._job
        before = self._stand
        text = job.script.text(turns, job.recording, self._events)
        stand = page.step(now, text, sure=sure)
        if (stand.inner_left, stand.inner_top) != (before.inner_left, before.inner_top):
            self._origin_since = now
        if turns:
            self._calm_since = now
        # What repeats for ever and changed nothing once around never will.
        if 0 < stand.live < now - self._calm_since:
            stand = stand.still()
        self._stand = stand

    def _next(self, at: int, now: float) -> int:
        """Return the next frame that may look different."""
        if self._stand.live:
            return at + 1
        timeline = self._job.timeline
        change = self._view.next_change(now)
        moved = at + 1 if change <= now else timeline.frames
        if now < change < NEVER:
            moved = max(at + 1, timeline.frame(change))
        turn = self._job.script.next_frame(self._done)
        return moved if turn is None else min(moved, max(at + 1, turn))

    # --- getting there ---------------------------------------------------------------------------

    def _worn(self) -> bool:
        return self._pictures > PICTURES_PER_BROWSER

    def _begin(self, frame: int) -> None:
        """Open a new browser and play up to a frame as if it had been filmed."""
        job = self._job
        if self._browser is not None:
            self._browser.close()
        entrance = job.script.entrance(frame)
        first = job.script.frames[entrance] if job.script.frames else 0
        window = job.recording.viewport(job.timeline.session_ms(first) if entrance else 0.0)
        self._browser = Chromium(
            job.program, confined=job.confined, profiles=job.profiles,
            on_command=self._on_command,
        )  # fmt: skip
        self._page = Page(
            self._browser, size=job.size, window=(window.width, window.height),
            on_command=self._on_command,
        )  # fmt: skip
        self._pictures, self._stirred, self._jpeg = 0, 0, b""
        self._stand = Stand(live=0, scale=1, left=0, top=0, inner_left=0, inner_top=0)
        self._done = entrance
        at = first
        while at < frame:
            due = job.script.due(self._done, at)
            self._step(self._page, range(self._done, due), job.timeline.session_ms(at))
            self._done = due
            following = job.script.next_frame(self._done)
            if following is None or following >= frame:
                break
            at = max(at + 1, following)
        self._frame = frame - 1
