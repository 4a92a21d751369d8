"""Understands single events of a recording, in all the forms in which recorders send them."""

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from functions.media.recording_text import Value, refuse, understand

UNPACKED_BYTES_MAX = 96 << 20  # of one event
COMPRESSED_FORM = "2024-10"  # events whose larger parts are compressed one by one
COMPRESSED_PARTS = {0: ("texts", "attributes", "removes", "adds"), 8: ("adds", "removes")}


class Type(IntEnum):
    """What an event is."""

    DOM_CONTENT_LOADED = 0
    LOAD = 1
    FULL_SNAPSHOT = 2
    INCREMENTAL = 3
    META = 4
    CUSTOM = 5
    PLUGIN = 6


class Source(IntEnum):
    """What an incremental event changes."""

    MUTATION = 0
    MOUSE_MOVE = 1
    MOUSE_INTERACTION = 2
    SCROLL = 3
    VIEWPORT_RESIZE = 4
    INPUT = 5
    TOUCH_MOVE = 6
    MEDIA = 7
    DRAG = 12
    SELECTION = 14


MOVES = frozenset({Source.MOUSE_MOVE, Source.TOUCH_MOVE, Source.DRAG})
# What a person does; everything else a page does on its own.
ACTIVITY = MOVES | {
    Source.MOUSE_INTERACTION, Source.SCROLL, Source.VIEWPORT_RESIZE, Source.INPUT,
    Source.MEDIA, Source.SELECTION,
}  # fmt: skip
# Played in other places than the page, or nowhere: nothing of them is seen.
UNSEEN = frozenset({Type.DOM_CONTENT_LOADED, Type.LOAD, Type.CUSTOM, Type.PLUGIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: when, what, and the text for the replayer."""

    at: float  # milliseconds since an epoch of the recorder's
    type: Type
    source: int  # of an incremental event; -1 otherwise
    data: Mapping[str, Any]
    text: str


def event(value: Value, position: int) -> Event | None:
    """Understand one value; None if it is none of rrweb's events."""
    parsed, text = value.parsed, value.text
    if isinstance(parsed, str):
        text = _unpack(parsed, position)
        try:
            parsed = understand(text)
        except ValueError:
            return None
    if not isinstance(parsed, dict):
        return None
    kind = parsed.get("type")
    if isinstance(kind, bool) or not isinstance(kind, int) or kind not in Type.__members__.values():
        return None
    if parsed.get("cv") == COMPRESSED_FORM:
        parsed = _expand(parsed, position)
        text = json.dumps(parsed)
    data = parsed.get("data")
    if not isinstance(data, dict):
        data = {}
        if kind in {Type.FULL_SNAPSHOT, Type.INCREMENTAL, Type.META}:
            return None
    source = data.get("source", -1)
    return Event(
        at=_time(parsed.get("timestamp"), position),
        type=Type(kind),
        source=source if kind == Type.INCREMENTAL and isinstance(source, int) else -1,
        data=data,
        text=text,
    )


def number(value: Any) -> float | None:
    """Read a finite number, also from a string that holds one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _time(value: Any, position: int) -> float:
    at = number(value)
    if at is None or at < 0:
        raise refuse(
            "recording-timestamp-missing",
            f"Event {position + 1} of the recording has no usable timestamp.",
        )
    return at


def _unpack(text: str, position: int) -> str:
    """Open a string that holds an event: as JSON, or compressed by `@rrweb/packer`."""
    if text.lstrip().startswith("{"):
        return text
    damaged = refuse(
        "recording-damaged", f"Event {position + 1} of the recording cannot be unpacked."
    )
    unpack = zlib.decompressobj()
    try:
        raw = unpack.decompress(text.encode("latin-1"), UNPACKED_BYTES_MAX).decode("utf-8")
    except (UnicodeError, zlib.error):
        raise damaged from None
    if unpack.unconsumed_tail:
        raise refuse("recording-too-large", f"Event {position + 1} unpacks to too much.")
    if not unpack.eof:
        raise damaged
    return raw


def _expand(parsed: dict[str, Any], position: int) -> dict[str, Any]:
    data = parsed.get("data")
    if isinstance(data, str):
        return parsed | {"data": _part(data, position)}
    if isinstance(data, dict) and isinstance(data.get("source"), int):
        opened = {
            key: _part(data[key], position)
            for key in COMPRESSED_PARTS.get(data["source"], ())
            if isinstance(data.get(key), str)
        }
        return parsed | {"data": data | opened}
    return parsed


def _part(text: str, position: int) -> Any:
    try:
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
        return json.loads(unpack.decompress(text.encode("latin-1"), UNPACKED_BYTES_MAX))
    except (ValueError, zlib.error, RecursionError):
        raise refuse(
            "recording-damaged", f"Event {position + 1} of the recording cannot be unpacked."
        ) from None
