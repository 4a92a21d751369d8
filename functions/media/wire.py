"""Values across the border to the child process, and out to people.

The child may be in a stranger's hands by the time it answers: its words are bounded, and
nothing but plain numbers and short names of the expected shape is let in.
"""

import json
import math
from dataclasses import asdict, fields
from typing import Any

from functions.media.measured import Measured
from functions.media.verdict import Expected, NotVerified, Verdict

ANSWER_BYTES_MAX = 16 << 10  # a full answer takes about 1 KB
NAME_LENGTH_MAX = 32
NUMBER_MAX = 10**12  # more than any count or second in a file that we accept
KINDS: dict[Any, type] = {"int": int, "float": float, "str": str, int: int, float: float, str: str}


class Garbled(ValueError):
    """An answer that this program would not have given."""


def encode_order(order: Expected) -> str:
    """Write an order for the child."""
    return json.dumps(asdict(order))


def decode_order(text: str) -> Expected:
    """Read our own words; the child trusts the parent."""
    data = json.loads(text)
    data["codecs"], data["codecs_review"] = tuple(data["codecs"]), tuple(data["codecs_review"])
    return Expected(**data)


def encode_measured(measured: Measured) -> str:
    """Write an answer for the parent."""
    return json.dumps(asdict(measured), allow_nan=False)


def decode_measured(answer: bytes) -> Measured:
    """Read an answer; raise `Garbled` for anything but exactly the expected fields."""
    if len(answer) > ANSWER_BYTES_MAX:
        raise Garbled
    try:
        data = json.loads(answer.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise Garbled from error
    known = {field.name: KINDS[field.type] for field in fields(Measured)}
    if not isinstance(data, dict) or data.keys() != known.keys():
        raise Garbled
    return Measured(**{name: _checked(data[name], kind) for name, kind in known.items()})


def _checked(value: object, kind: type) -> Any:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise Garbled
    if isinstance(value, str):
        if len(value) > NAME_LENGTH_MAX or not (value.isascii() and value.isprintable()):
            raise Garbled
    elif isinstance(value, int | float) and not (math.isfinite(value) and 0 <= value <= NUMBER_MAX):
        raise Garbled
    return value


def verdict_json(verdict: Verdict | NotVerified) -> str:
    """One line for people, scripts and the task's record."""
    return json.dumps(asdict(verdict), ensure_ascii=False, allow_nan=False)
