"""What happens to the page in which frame: the recording, laid out on the film."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge
from typing import BinaryIO

from functions.media.recording import Recording
from functions.media.recording_events import Type
from functions.media.timeline import Timeline

Turn = tuple[int, int]  # an event's place in the recording and -1, or -1 and a node pointed at


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Turns in order, each with its frame, and where the page can be built anew."""

    frames: list[int] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    entrances: list[int] = field(default_factory=list)  # turns that are full snapshots

    def due(self, done: int, frame: int) -> int:
        """How many turns are over once a frame has been shown; `done` of them are known."""
        return bisect_right(self.frames, frame, lo=done)

    def next_frame(self, done: int) -> int | None:
        """Return the frame of the first turn that is not done."""
        return self.frames[done] if done < len(self.frames) else None

    def entrance(self, frame: int) -> int:
        """Return the turn from which the page stands in `frame` as if played from the start."""
        # A snapshot in the frame itself builds the page there; what came before is gone.
        over = bisect_left(self.frames, frame)
        return max((turn for turn in self.entrances if turn < over), default=0)

    def text(self, turns: range, recording: Recording, events: BinaryIO) -> str:
        """Write turns as the player reads them."""
        parts = []
        for turn in turns:
            place, node = self.turns[turn]
            if place < 0:
                parts.append(str(node))
                continue
            entry = recording.entries[place]
            events.seek(entry.offset)
            parts.append(events.read(entry.length).decode("utf-8", "surrogatepass"))
        return f"[{','.join(parts)}]" if parts else ""


def write_script(recording: Recording, timeline: Timeline) -> Script:
    """Lay out the events, and the elements that the pointer comes over."""
    script = Script()
    for at, _, turn in merge(_events(recording), _hovers(recording)):
        place = turn[0]
        if place >= 0 and recording.entries[place].type is Type.FULL_SNAPSHOT:
            script.entrances.append(len(script.turns))
        # In order even where cuts and rounding meet.
        last = script.frames[-1] if script.frames else 0
        script.frames.append(max(last, min(timeline.frame(at), timeline.frames - 1)))
        script.turns.append(turn)
    return script


def _events(recording: Recording) -> Iterator[tuple[float, int, Turn]]:
    for place, entry in enumerate(recording.entries):
        yield entry.at, 0, (place, -1)


def _hovers(recording: Recording) -> Iterator[tuple[float, int, Turn]]:
    """Yield the moments at which the pointer is over another element than before."""
    track = recording.pointer
    snapshots = [recording.entries[place].at for place in recording.snapshots]
    over, page = -1, -1
    for at, node in zip(track.at, track.node, strict=True):
        now = bisect_right(snapshots, at)
        if node > 0 and (node != over or now != page):
            over, page = node, now
            yield at, 1, (-1, node)
