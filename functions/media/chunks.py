"""Where an index says that a track's samples lie."""

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """The byte ranges [start, end) of a track, as its tables give them."""

    samples: int
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    broken: str = ""  # what contradicts itself

    @property
    def end(self) -> int:
        """One past the last byte that is pointed at."""
        return max(self.ends, default=0)

    def outside(self, spans: Sequence[tuple[int, int]]) -> int:
        """Count the chunks that do not lie wholly in one of the given byte spans."""
        ordered = sorted(spans)
        begins = [start for start, _ in ordered]
        stray = 0
        for start, end in zip(self.starts, self.ends, strict=True):
            at = bisect_right(begins, start) - 1
            stray += at < 0 or end > ordered[at][1]
        return stray


def read_chunks(tables: Mapping[str, memoryview]) -> Chunks:
    """Combine stsz, stsc and stco or co64. Work is bounded by the bytes of the tables."""
    uniform, samples, sizes = _sizes(tables.get("stsz", memoryview(b"")))
    if "stz2" in tables:
        return Chunks(samples=int.from_bytes(tables["stz2"][8:12], "big"))
    wide = "co64" in tables
    offsets = _numbers(tables.get("co64" if wide else "stco", memoryview(b"")), wide=wide)
    runs = list(_runs(tables.get("stsc", memoryview(b"")), len(offsets)))
    if sizes is not None and len(sizes) < samples:
        return Chunks(samples=samples, broken="sizes")
    ends: list[int] = []
    taken = 0
    for first, last, per_chunk in runs:
        for chunk in range(first, last):
            count = min(per_chunk, samples - taken)
            size = count * uniform if sizes is None else sum(sizes[taken : taken + count])
            ends.append(offsets[chunk] + size)
            taken += count
    broken = "chunks" if taken < samples or len(ends) != len(offsets) else ""
    return Chunks(samples=samples, starts=offsets[: len(ends)], ends=ends, broken=broken)


def _sizes(stsz: memoryview) -> tuple[int, int, "array[int] | None"]:
    """Uniform size, number of samples, and their sizes unless uniform."""
    uniform = int.from_bytes(stsz[4:8], "big")
    samples = int.from_bytes(stsz[8:12], "big")
    if uniform:
        return uniform, samples, None
    return 0, samples, _array(stsz[12 : 12 + 4 * samples], "I")


def _numbers(table: memoryview, *, wide: bool) -> "array[int]":
    """Read the offsets of an stco or co64, as many as are really there."""
    width = 8 if wide else 4
    count = int.from_bytes(table[4:8], "big")
    return _array(table[8 : 8 + width * count], "Q" if wide else "I")


def _array(raw: memoryview, code: str) -> "array[int]":
    numbers: array[int] = array(code)
    numbers.frombytes(raw[: len(raw) - len(raw) % numbers.itemsize])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def _runs(stsc: memoryview, chunks: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first chunk, one past the last, samples per chunk), in order and in range."""
    flat = _array(stsc[8 : 8 + 12 * int.from_bytes(stsc[4:8], "big")], "I")
    firsts, counts = flat[0::3], flat[1::3]
    at = 0
    for index in range(min(len(firsts), len(counts))):
        after = firsts[index + 1] - 1 if index + 1 < len(firsts) else chunks
        last = min(after, chunks)
        if firsts[index] - 1 != at or last < at:
            return
        yield at, last, counts[index]
        at = last
