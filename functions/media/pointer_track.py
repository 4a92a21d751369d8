"""Where the pointer was when: the recorded positions, taken out of their batches."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from functions.media.recording_events import MOVES, Event, Source, number

# As far outside the window as a pointer is still believed.
FAR = 65536.0


class Act(IntEnum):
    """What the pointer did at a position."""

    MOVE = 0
    CLICK = 1
    TOUCH = 2  # a finger came down
    DRAG = 3  # and moves
    LIFT = 4  # and is gone


INTERACTIONS = {0: Act.MOVE, 1: Act.MOVE, 2: Act.CLICK, 4: Act.CLICK, 7: Act.TOUCH, 9: Act.LIFT,
                10: Act.LIFT}  # fmt: skip


class Sample(NamedTuple):
    """One position, relative to the document that the node is in."""

    at: float
    x: float
    y: float
    node: int
    act: Act


def samples(read: Event) -> Iterator[Sample]:
    """Take the positions out of an event; each has a time of its own in a batch."""
    data = read.data
    if read.source in MOVES:
        act = Act.DRAG if read.source == Source.TOUCH_MOVE else Act.MOVE
        batch = data.get("positions")
        for position in batch if isinstance(batch, list) else ():
            if isinstance(position, dict):
                later = number(position.get("timeOffset")) or 0.0
                yield from _sample(read.at + later, position, act)
    elif read.source == Source.MOUSE_INTERACTION:
        found = INTERACTIONS.get(data.get("type", -1))
        # Keys click too, always in the very corner, where the pointer is not.
        if found is not None and (found is Act.LIFT or data.get("x") or data.get("y")):
            yield from _sample(read.at, data, found)


def _sample(at: float, given: Any, act: Act) -> Iterator[Sample]:
    x, y, node = number(given.get("x")), number(given.get("y")), given.get("id")
    if act is Act.LIFT and (x is None or y is None):
        x = y = 0.0
    if x is None or y is None or abs(x) > FAR or abs(y) > FAR:
        return
    yield Sample(at, x, y, node if isinstance(node, int) else -1, act)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerTrack:
    """All positions in order of time, as plain numbers: sessions have many."""

    at: "array[float]" = field(default_factory=lambda: array("d"))
    x: "array[float]" = field(default_factory=lambda: array("f"))
    y: "array[float]" = field(default_factory=lambda: array("f"))
    node: "array[int]" = field(default_factory=lambda: array("q"))
    act: "array[int]" = field(default_factory=lambda: array("b"))

    @classmethod
    def of(cls, given: Iterable[Sample]) -> "PointerTrack":
        """Order positions and drop those that came twice."""
        track = cls()
        last = None
        for sample in sorted(given):
            if sample == last:
                continue
            last = sample
            track.at.append(sample.at)
            track.x.append(sample.x)
            track.y.append(sample.y)
            track.node.append(sample.node)
            track.act.append(sample.act)
        return track

    def __len__(self) -> int:
        return len(self.at)

    def upto(self, at: float) -> int:
        """How many positions there are up to a time, that time included."""
        return bisect_right(self.at, at)
