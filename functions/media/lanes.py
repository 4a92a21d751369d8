"""Arithmetic on whole pictures held in Python integers.

A plane of 8-bit samples becomes one integer of 16-bit lanes, each the sum of a cell of two by two
samples. One addition then adds all cells at once, and counting bits counts cells: a few
microseconds for 160x90, without an array library. The room in a lane bounds how much may be
added: 4 pictures of 4 samples take 12 bits, bringing two such sums to a common depth takes two
more, and the topmost bit keeps a subtraction from borrowing from the next lane.
"""

from dataclasses import dataclass
from functools import lru_cache

DEPTH_MAX = 4  # pictures per sum
CELL = 4  # samples per cell
LANE = 16  # bits
GUARD = 1 << (LANE - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The shape of a plane in memory: its pitch may exceed its width."""

    width: int
    height: int
    pitch: int

    @property
    def cells(self) -> int:
        """How many lanes hold a cell: one per two columns, one per row, overlapping by a row."""
        return (self.width + 1) // 2 * self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Masks:
    """Constants of a grid."""

    even: int  # 0x00FF in each even column
    odd: int  # the same for the odd ones, shifted onto the even ones
    ones: int  # 0x0001 in each lane that holds a cell


@lru_cache(maxsize=4)
def masks(grid: Grid) -> Masks:
    """Build the constants of a grid. Padding behind each row is masked out."""

    def lanes(start: int) -> int:
        row = bytearray(grid.pitch)
        for x in range(start, grid.width, 2):
            row[x - start] = 1
        return int.from_bytes(bytes(row) * grid.height, "little")

    even, odd = lanes(0), lanes(1)
    return Masks(even=even * 0xFF, odd=odd * 0xFF, ones=even)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The sum of `depth` pictures, lane by lane."""

    lanes: int
    depth: int


def load(plane: bytes, grid: Grid) -> Sum:
    """Read one plane. The last row's cells hold one row only, in all pictures alike."""
    raw, mask = int.from_bytes(plane, "little"), masks(grid)
    pairs = (raw & mask.even) + ((raw >> 8) & mask.odd)
    return Sum(lanes=pairs + (pairs >> (8 * grid.pitch)), depth=1)


def add(a: Sum, b: Sum) -> Sum:
    """Add two sums of pictures, to a depth of `DEPTH_MAX` at most."""
    return Sum(lanes=a.lanes + b.lanes, depth=a.depth + b.depth)


def differing(a: Sum, b: Sum, grid: Grid, levels: float) -> int:
    """Mark the cells whose means differ by more than `levels` with a 1 in their lanes."""
    one, two = a.lanes, b.lanes
    depth = a.depth
    if a.depth != b.depth:
        one, two, depth = one * b.depth, two * a.depth, a.depth * b.depth
    ones = masks(grid).ones
    guard, reach = ones * GUARD, ones * (int(levels * CELL * depth) + 1)
    over = (one + guard - two - reach) & guard
    under = (two + guard - one - reach) & guard
    return (over | under) >> (LANE - 1)


def often(counts: int, grid: Grid, least: int) -> int:
    """Count the cells whose added-up marks reach `least`, which is below 32,768."""
    ones = masks(grid).ones
    guard = ones * GUARD
    return ((counts + guard - ones * least) & guard).bit_count()
