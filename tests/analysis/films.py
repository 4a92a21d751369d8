"""Made-up viewings and answers."""

import json
from typing import Any

from functions.domain.models import Diet, Model
from functions.providers.gemini import PROVIDER

HEARS: Model = PROVIDER
SILENCE: dict[str, Any] = {"loudness": None, "silences": [], "heard_seconds": 0.0}


def viewing(**changed: Any) -> dict[str, Any]:
    """Two shots, of which the second goes on in the second part."""
    return {
        "seconds": 20.0,
        "width": 1280,
        "height": 720,
        "frames_per_second": 25.0,
        "codec": "h264",
        "sound": {
            "loudness": -20.0,
            "silences": [[15.0, 20.0]],
            "heard_seconds": 15.0,
        },
        "shots": [
            {"start": 0.0, "end": 8.0, "key_frame": "shot-001.jpg"},
            {"start": 8.0, "end": 20.0, "key_frame": "shot-002.jpg"},
        ],
        "parts": [
            {"file": "part-1.mp4", "start": 0.0, "end": 10.0},
            {"file": "part-2.mp4", "start": 10.0, "end": 20.0},
        ],
        **changed,
    }


def answer(part: int = 0, **changed: Any) -> dict[str, Any]:
    """A good one about a part of that video."""
    numbers = (1, 2) if part == 0 else (2,)
    return {
        "language": "en",
        "spoken": True,
        "transcript": [
            {"start": 0.5, "end": 2.0, "text": f"Part {part + 1} begins."},
            {"start": 3.0, "end": 4.0, "text": "It goes on."},
        ],
        "shots": [
            {"number": n, "description": f"Shot {n} in part {part + 1}.", "on_screen_text": None}
            for n in numbers
        ],
        "selling_points": [{"text": "It is light.", "evidence": [{"start": 1.0, "end": 2.0}]}],
        "summary": f"Summary {part + 1}.",
        **changed,
    }


def text(part: int = 0, **changed: Any) -> str:
    return json.dumps(answer(part, **changed))


def diet(**changed: Any) -> Diet:
    given = {
        "side_max": 480,
        "frames_per_second": 1.0,
        "sound": True,
        "part_seconds": 10,
        "bytes_max": 1 << 20,
    }
    return Diet(**(given | changed))


def header_of(seconds: float) -> bytes:
    """A film of a given length, as far as its header goes."""
    length = round(seconds * 1000).to_bytes(4, "big")
    mvhd = bytes(12) + (1000).to_bytes(4, "big") + length + bytes(80)
    return (
        _box(b"ftyp", b"isom\0\0\2\0isommp42")
        + _box(b"moov", _box(b"mvhd", mvhd))
        + _box(b"mdat", b"picture")
    )


def _box(kind: bytes, body: bytes) -> bytes:
    return (len(body) + 8).to_bytes(4, "big") + kind + body
