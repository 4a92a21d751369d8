"""Reads the values of an untrusted JSON document one by one, in bounded memory.

Recordings arrive as an array, as an object around one, as one event per line, compressed or
not. Whoever reads them sees one flat run of values.
"""

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from functions.domain.outcomes import Refused

READ_BYTES = 256 << 10
VALUE_CHARS_MAX = 96 << 20  # one event; the largest snapshots in use are a tenth of it
GZIP, ZLIB_WINDOW = b"\x1f\x8b", 16 + zlib.MAX_WBITS
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
SPACE = re.compile(r"[ \t\r\n]*")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
SHALLOW_LEVELS = 8  # as deep as anything lies that is asked for outside the replayer


class Unreadable(Exception):
    """Ends the reading of a document; carries the refusal that says why."""

    def __init__(self, refusal: Refused) -> None:
        self.refusal = refusal


def refuse(code: str, reason: str) -> Unreadable:
    """Make an ending out of a stable code and a sentence for the customer."""
    return Unreadable(Refused(code=code, reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value, understood, and the text that it was written as."""

    parsed: Any
    text: str


def values(file: BinaryIO, *, bytes_max: int) -> Iterator[Value]:
    """Yield the events of a document, whatever they are wrapped in."""
    reader = _Reader(_text(file, bytes_max))
    if not reader.peek():
        raise refuse("recording-empty", "The recording is empty: it contains no events.")
    while start := reader.peek():
        if start == "[":
            yield from reader.array()
        elif start == "{":
            yield from reader.wrapper()
        else:
            raise _invalid("it does not start with an event or a list of events")


def understand(text: str) -> Any:
    """Parse one JSON value; where it nests too deep, only what lies near the surface."""
    try:
        return json.loads(text)
    except RecursionError:
        return json.loads(shallow(text, 0)[0])


def shallow(text: str, start: int) -> tuple[str, int]:
    """Copy the value at `start` without what lies deep inside, and say where it ends."""
    kept: list[str] = []
    level, since = 0, start
    for token in TOKEN.finditer(text, start):
        mark = token.group()
        if mark in "[{":
            if level == SHALLOW_LEVELS:
                kept += (text[since : token.start()], "null")
            level += 1
        elif mark in "]}":
            level -= 1
            if level == SHALLOW_LEVELS:
                since = token.end()
            if level == 0:
                kept.append(text[since : token.end()])
                return "".join(kept), token.end()
    raise json.JSONDecodeError("unfinished", text, start)


def _invalid(what: str) -> Unreadable:
    return refuse("recording-invalid-json", f"The recording is not valid JSON: {what}.")


def _too_large() -> Unreadable:
    return refuse("recording-too-large", "The recording is larger than can be replayed.")


def _text(file: BinaryIO, bytes_max: int) -> Iterator[str]:
    chunks = _bytes(file, bytes_max)
    first = next(chunks, b"")
    name = next((name for mark, name in MARKS if first.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(name)()
    try:
        while first:
            yield decoder.decode(first)
            first = next(chunks, b"")
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise _invalid("it contains bytes that are not text") from None


def _bytes(file: BinaryIO, bytes_max: int) -> Iterator[bytes]:
    """Unpack on the way; a bomb is noticed when it has unpacked one chunk too much."""
    head = file.read(READ_BYTES)
    unpack = zlib.decompressobj(ZLIB_WINDOW) if head.startswith(GZIP) else None
    total = 0
    while head:
        if unpack is None:
            total += len(head)
            yield head
        else:
            given = head
            while given:
                out = _inflate(unpack, given)
                total += len(out)
                if total > bytes_max:
                    raise _too_large()
                if out:
                    yield out
                given = unpack.unconsumed_tail
                if unpack.eof:  # archives may consist of several members
                    given = unpack.unused_data.lstrip(b"\x00")
                    unpack = zlib.decompressobj(ZLIB_WINDOW)
        if total > bytes_max:
            raise _too_large()
        head = file.read(READ_BYTES)


def _inflate(unpack: "zlib._Decompress", given: bytes) -> bytes:
    try:
        return unpack.decompress(given, READ_BYTES * 4)
    except zlib.error:
        raise refuse("recording-damaged", "The compressed recording is damaged.") from None


class _Reader:
    """A window on the text that grows only as far as the value being read."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._window, self._at = "", 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """Return the next character that is not space, or nothing at the end."""
        while True:
            match = SPACE.match(self._window, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._window):
                return self._window[self._at]
            if not self._grow(READ_BYTES):
                return ""

    def array(self) -> Iterator[Value]:
        """Yield the elements of an array."""
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self._expect(",]") == "]":
                return

    def wrapper(self) -> Iterator[Value]:
        """Yield the events of an object around a list, or the object as an event itself."""
        self._expect("{")
        fields: dict[str, Any] = {}
        found = False
        if self.peek() == "}":
            self._at += 1
            raise refuse("recording-not-rrweb", "The file is JSON, but not a recording.")
        while True:
            key = self._value().parsed
            self._expect(":")
            if key in {"events", "snapshots"} and self.peek() == "[":
                found = True
                yield from self.array()
            else:
                fields[str(key)] = self._value().parsed
            if self._expect(",}") == "}":
                break
        if not found:
            yield Value(parsed=fields, text=json.dumps(fields))

    def _expect(self, allowed: str) -> str:
        found = self.peek()
        if not found or found not in allowed:
            raise _invalid("it ends too early" if not found else "a sign is in the wrong place")
        self._at += 1
        return found

    def _value(self) -> Value:
        self.peek()
        while True:
            try:
                parsed, end = self._decode()
            except json.JSONDecodeError:
                if not self._grow(len(self._window) - self._at):
                    raise _invalid("it ends too early or is damaged") from None
                continue
            # A number at the window's end may go on behind it.
            if end == len(self._window) and self._grow(READ_BYTES):
                continue
            text = self._window[self._at : end]
            self._at = end
            return Value(parsed=parsed, text=text)

    def _decode(self) -> tuple[Any, int]:
        try:
            return self._decoder.raw_decode(self._window, self._at)
        except RecursionError:
            text, end = shallow(self._window, self._at)
            return json.loads(text), end

    def _grow(self, least: int) -> bool:
        """Read at least as much again, so that a long value is not tried too often."""
        if self._ended:
            return False
        parts = [self._window[self._at :]]
        self._at = 0
        size, wanted = len(parts[0]), max(least, READ_BYTES)
        if size > VALUE_CHARS_MAX:
            raise _too_large()
        while wanted > 0:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
                break
            parts.append(chunk)
            wanted -= len(chunk)
        self._window = "".join(parts)
        return len(self._window) > size
