"""A recorded session, checked and put in order: what a replay can rely on.

The file is read once, event by event. What the replayer needs goes to a scratch file; what the
planning needs stays in memory as a few numbers per event.
"""

import hashlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from functions.domain.outcomes import Refused
from functions.media.pointer_track import PointerTrack, Sample, samples
from functions.media.recording_events import ACTIVITY, MOVES, UNSEEN, Event, Source, Type, event
from functions.media.recording_events import number as finite
from functions.media.recording_text import GZIP, Unreadable, refuse, values

VIEWPORT_FALLBACK = (1280, 720)  # for recordings that never say; the commonest laptop's
VIEWPORT_SIDE_MAX = 16384  # larger is no window, and no browser lays it out
LISTS, BLANK = (b"[", b"{"), b"\xef\xbb\xbf\xfe\xff\x00 \t\r\n"
EVENTS_MIN = 2  # a picture and something that happens
# Clocks of recorders in seconds lie between 2001 and 2286; in milliseconds that is 1970.
SECONDS_EPOCH = (1e9, 1e10)
# No session pauses for a day; an event that far from the others has a wrong clock.
OUTLIER_MS = 86_400_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is accepted. The defaults fit sessions of a working day."""

    file_bytes_max: int = 200 << 20
    unpacked_bytes_max: int = 600 << 20
    events_max: int = 1_000_000
    seconds_max: float = 4 * 3600.0


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """The size of the recorded window from a time on."""

    at: float
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Where one event lies in the scratch file, and what it is; of no length if unseen."""

    at: float
    type: Type
    source: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A session that can be replayed: times in milliseconds after its first picture."""

    events: Path  # the scratch file
    entries: Sequence[Entry]  # in order; what comes before the first picture is at 0
    pointer: PointerTrack
    activity: "array[float]"  # when a person did something
    viewports: Sequence[Viewport]
    duration_ms: float
    ignored: int  # values that were no events of rrweb's, or came twice

    @property
    def event_count(self) -> int:
        """How many events will be replayed."""
        return len(self.entries)

    @property
    def snapshots(self) -> list[int]:
        """Where a replay can begin."""
        return [at for at, entry in enumerate(self.entries) if entry.type is Type.FULL_SNAPSHOT]

    def viewport(self, at: float) -> Viewport:
        """Return the window at a time."""
        seen = [view for view in self.viewports if view.at <= at]
        return seen[-1] if seen else self.viewports[0]

    def main_viewport(self) -> Viewport:
        """Return the window that was shown longest."""
        shown: dict[tuple[int, int], float] = {}
        ends = [view.at for view in self.viewports[1:]] + [max(self.duration_ms, 1.0)]
        for view, end in zip(self.viewports, ends, strict=True):
            size = (view.width, view.height)
            shown[size] = shown.get(size, 0.0) + max(0.0, end - view.at)
        width, height = max(shown, key=lambda size: shown[size])
        return Viewport(at=0.0, width=width, height=height)


@dataclass(slots=True)
class _Found:
    """What a reading has gathered so far."""

    entries: list[Entry] = field(default_factory=list)
    positions: "array[int]" = field(default_factory=lambda: array("q"))  # in the file
    digests: "array[int]" = field(default_factory=lambda: array("q"))
    samples: list[Sample] = field(default_factory=list)
    viewports: list[Viewport] = field(default_factory=list)
    metas: int = 0
    seen: int = 0
    ignored: int = 0


def open_recording(path: Path, scratch: Path, bounds: Bounds = BOUNDS) -> Recording | Refused:
    """Check a recording and put it in order; its events are copied into `scratch`."""
    if path.stat().st_size > bounds.file_bytes_max:
        return Refused(
            code="recording-too-large",
            reason=f"The recording is larger than {bounds.file_bytes_max >> 20} MB.",
        )
    events = scratch / "events"
    try:
        with path.open("rb") as source, events.open("wb") as sink:
            return _in_order(_gather(source, sink, bounds), events, bounds)
    except Unreadable as ended:
        return ended.refusal


def examine_head(head: bytes, size_bytes: int, bounds: Bounds = BOUNDS) -> Refused | None:
    """Look at a file's beginning; all of it, where that is all there is."""
    if size_bytes > bounds.file_bytes_max:
        return Refused(
            code="recording-too-large",
            reason=f"The recording is larger than {bounds.file_bytes_max >> 20} MB.",
        )
    try:
        if len(head) >= size_bytes:
            _in_order(_gather(BytesIO(head), BytesIO(), bounds), Path(), bounds)
        elif not head.startswith((GZIP, *LISTS)) and not head.lstrip(BLANK).startswith(LISTS):
            raise refuse("recording-invalid-json", "The file is not a recording: not JSON.")
    except Unreadable as ended:
        return ended.refusal
    return None


def _gather(source: BinaryIO, sink: BinaryIO, bounds: Bounds) -> _Found:
    found, offset = _Found(), 0
    for position, value in enumerate(values(source, bytes_max=bounds.unpacked_bytes_max)):
        if position >= bounds.events_max:
            raise refuse("recording-too-large", "The recording has too many events.")
        found.seen += 1
        read = event(value, position)
        if read is None:
            found.ignored += 1
            continue
        found.samples.extend(samples(read))
        text = read.text.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=8).digest()
        found.digests.append(int.from_bytes(digest, "big", signed=True))
        length = len(text) if _shown(read, found) else 0
        sink.write(text[:length])
        found.positions.append(position)
        found.entries.append(
            Entry(at=read.at, type=read.type, source=read.source, offset=offset, length=length)
        )
        offset += length
    return found


def _shown(read: Event, found: _Found) -> bool:
    """Whether the replayer needs to see it; sizes are noted on the way."""
    if read.type is Type.META:
        found.metas += 1
    elif read.source != Source.VIEWPORT_RESIZE:
        return read.type not in UNSEEN and read.source not in MOVES
    width, height = finite(read.data.get("width")), finite(read.data.get("height"))
    if not width or not height or width < 1 or height < 1:
        return False
    width, height = min(VIEWPORT_SIDE_MAX, round(width)), min(VIEWPORT_SIDE_MAX, round(height))
    found.viewports.append(Viewport(at=read.at, width=width, height=height))
    return True


def _in_order(found: _Found, events: Path, bounds: Bounds) -> Recording:
    _demand(found)
    unit = _unit(found)
    kept = _once(found)
    start = next(
        found.entries[at].at for at in kept if found.entries[at].type is Type.FULL_SNAPSHOT
    )
    kept = _near(kept, found, start, unit)

    def clock(at: float) -> float:
        return round(max(0.0, (at - start) * unit), 3)

    entries = [replace(found.entries[at], at=clock(found.entries[at].at)) for at in kept]
    duration = entries[-1].at
    if duration > bounds.seconds_max * 1000:
        raise refuse(
            "recording-too-long",
            f"The recording lasts {duration / 3.6e6:.1f} hours; "
            f"at most {bounds.seconds_max / 3600:g} can be replayed.",
        )
    moved = [
        sample._replace(at=clock(sample.at)) for sample in found.samples
        if abs(sample.at - start) * unit <= duration + OUTLIER_MS
    ]  # fmt: skip
    pointer = PointerTrack.of(sample for sample in moved if sample.at <= duration)
    done = [entry.at for entry in entries if entry.source in ACTIVITY] + list(pointer.at)
    return Recording(
        events=events,
        entries=[entry for entry in entries if entry.length],
        pointer=pointer,
        activity=array("d", sorted(set(done))),
        viewports=_viewports(found, clock),
        duration_ms=duration,
        ignored=found.ignored + len(found.entries) - len(kept),
    )


def _demand(found: _Found) -> None:
    """Refuse what cannot be replayed at all."""
    if not found.seen:
        raise refuse("recording-empty", "The recording is empty: it contains no events.")
    if not found.entries:
        raise refuse("recording-not-rrweb", "The file contains no events of an rrweb recording.")
    if found.seen < EVENTS_MIN:
        raise refuse("recording-too-short", "The recording has only one event.")
    if not any(entry.type is Type.FULL_SNAPSHOT for entry in found.entries):
        raise refuse(
            "recording-without-snapshot",
            "The recording has no full snapshot of the page, so there is nothing to show. "
            "Record from the page's start, or take a new snapshot when recording resumes.",
        )
    if found.metas and not found.viewports:
        raise refuse(
            "recording-viewport-empty", "The recorded window has no size: nothing was visible."
        )


def _unit(found: _Found) -> float:
    """Milliseconds in one unit of the recorder's clock."""
    low, high = SECONDS_EPOCH
    return 1000.0 if all(low <= entry.at < high for entry in found.entries) else 1.0


def _once(found: _Found) -> list[int]:
    """Order the events by time and drop those that came twice."""
    entries, kept = found.entries, []
    now, twins = -1.0, set[int]()
    for at in sorted(range(len(entries)), key=lambda at: entries[at].at):
        if entries[at].at != now:
            now, twins = entries[at].at, set()
        if found.digests[at] not in twins:
            twins.add(found.digests[at])
            kept.append(at)
    return kept


def _near(kept: list[int], found: _Found, start: float, unit: float) -> list[int]:
    """Drop what cannot be seen: events before the first picture, and far from all others."""
    near, last = [], start
    for at in kept:
        entry = found.entries[at]
        if entry.at < start:
            if entry.type is Type.META:
                near.append(at)
        elif (entry.at - last) * unit <= OUTLIER_MS:
            near.append(at)
            last = entry.at
        elif entry.type not in UNSEEN:
            raise refuse(
                "recording-timestamp-outlier",
                f"Event {found.positions[at] + 1} of the recording lies "
                f"{(entry.at - last) * unit / OUTLIER_MS:.0f} days after the one before it.",
            )
    return near


def _viewports(found: _Found, clock: Callable[[float], float]) -> list[Viewport]:
    """Order the sizes by time; the first holds from the start."""
    ordered = [replace(view, at=clock(view.at)) for view in
               sorted(found.viewports, key=lambda view: view.at)]  # fmt: skip
    if not ordered:
        width, height = VIEWPORT_FALLBACK
        return [Viewport(at=0.0, width=width, height=height)]
    before = [view for view in ordered if view.at <= 0.0]
    first = replace((before or ordered)[-1 if before else 0], at=0.0)
    return [first, *(view for view in ordered if view.at > 0.0)]
