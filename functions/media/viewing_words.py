"""What a viewing's child says, checked word by word: it has read a stranger's bytes."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from functions.domain.outcomes import Failed, Refused
from functions.media.wire import NAME_LENGTH_MAX, Garbled

SECONDS_MAX = 10**7
ANSWER_BYTES_MAX = 1 << 20
PICTURE_BYTES_MAX = 2 << 20
SIDE_MAX = 1 << 16

REASONS: Mapping[str, str] = {
    "no-picture": "The file contains no picture, only sound or nothing at all; "
    "choose a file with a video track.",
    "video-unreadable": "The video cannot be read: it is damaged, incomplete or encrypted; "
    "export it anew and upload it again.",
    "codec-unsupported": "The video is coded in a way that cannot be read here; "
    "export it as H.264, HEVC, VP9 or AV1.",
    "picture-too-large": "The picture has more pixels than 4K; export the video in 4K or smaller.",
    "longer-than-said": "The video lasts longer than its file says, and the price went by that; "
    "export it anew so that it says its true length.",
}
PART_TOO_LARGE, DISK_FULL = "part-too-large", "disk-full"
FAILURES: Mapping[str, str] = {
    PART_TOO_LARGE: "The video could not be compressed as far as the model needs it.",
    DISK_FULL: "There was no room left for the copies of the video.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One shot in seconds; `picture` is the number of its key frame."""

    start: float
    end: float
    picture: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """What is to be heard. Loudness in LUFS, None where there is nothing to measure."""

    loudness: float | None
    silences: tuple[tuple[float, float], ...]
    heard_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    """What was found. `pictures` are the sizes in bytes of the key frames, in their order."""

    seconds: float
    width: int
    height: int
    frames_per_second: float
    codec: str
    sound: Sound | None
    shots: tuple[Shot, ...]
    pictures: tuple[int, ...]
    parts: tuple[tuple[float, float], ...]


def read_answer(answer: bytes) -> Viewed | Refused | Failed:
    """Read an answer; raise `Garbled` for anything that this program would not have said."""
    try:
        said = json.loads(answer.decode("ascii"))
        if not isinstance(said, dict):
            raise Garbled
        if said["ended"] == "viewed":
            return _viewed(said)
        code = str(said["ended"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise Garbled from error
    if code in FAILURES:
        return Failed(code=code, reason=FAILURES[code])
    if code in REASONS:
        return Refused(code=code, reason=REASONS[code])
    raise Garbled


def _viewed(said: dict[str, Any]) -> Viewed:
    pictures = tuple(_whole(size, PICTURE_BYTES_MAX) for size in said["pictures"])
    codec = said["codec"]
    if not isinstance(codec, str) or not codec.isascii() or not codec.isprintable():
        raise Garbled
    return Viewed(
        seconds=_number(said["seconds"]),
        width=_whole(said["width"], SIDE_MAX),
        height=_whole(said["height"], SIDE_MAX),
        frames_per_second=_number(said["frames_per_second"]),
        codec=codec[:NAME_LENGTH_MAX],
        sound=_sound(said["sound"]),
        shots=_shots(said["shots"], _number(said["seconds"]), len(pictures)),
        pictures=pictures,
        parts=_pairs(said["parts"]),
    )


def _sound(said: Any) -> Sound | None:
    if said is None:
        return None
    loudness = said["loudness"]
    return Sound(
        loudness=None if loudness is None else _number(loudness, least=-200.0),
        silences=_pairs(said["silences"]),
        heard_seconds=_number(said["heard_seconds"]),
    )


def _shots(said: Any, seconds: float, pictures: int) -> tuple[Shot, ...]:
    """Read the shots, which leave no gap between zero and the end."""
    shots = []
    at = 0.0
    for start, end, picture in said:
        number = _whole(picture, pictures - 1, least=-1)
        if _number(start) != at or _number(end) < at:
            raise Garbled
        at = float(end)
        shots.append(Shot(start=float(start), end=at, picture=None if number < 0 else number))
    if not shots or at != seconds:
        raise Garbled
    return tuple(shots)


def _pairs(said: Any) -> tuple[tuple[float, float], ...]:
    pairs = tuple((_number(start), _number(end)) for start, end in said)
    if any(end < start for start, end in pairs):
        raise Garbled
    return pairs


def _number(value: Any, *, least: float = 0.0) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise Garbled
    if not least <= value <= SECONDS_MAX:
        raise Garbled
    return float(value)


def _whole(value: Any, most: int, *, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= most:
        raise Garbled
    return value
