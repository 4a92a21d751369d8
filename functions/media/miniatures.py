"""Miniatures of decoded frames, held in Python integers so that comparing two is a few additions.

Scaling goes straight to 128 by 72 without filtering, at a hundredth of the price of decoding a
1080p frame; cells of two by two samples then take out most noise. Areas averaged by libswscale
would cost fifteen times as much. One integer holds a cell in each of its 16-bit lanes.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

WIDTH, HEIGHT = 128, 72  # of the scaled frame, whatever its shape
ACROSS, DOWN = WIDTH // 2, HEIGHT // 2  # cells
CELLS = ACROSS * DOWN
SAMPLES = 4  # per cell of luma; two per cell of colour
LANE = 16
GUARD = 1 << (LANE - 1)  # keeps a subtraction from borrowing from the next lane
ROW_BITS = LANE * ACROSS  # a row of cells takes as many bits as one of samples
# How far a picture may have moved between two frames, in cells: a fifth of its width.
REACH_ACROSS, REACH_DOWN, STRIDE = 12, 6, 3
BLACK_MAX, WHITE_MIN = 30, 222  # levels of luma, where black is 16 and white 235
BLANK_EXCEPTIONS: Final = CELLS // 300  # a speck of light does not make a picture
_SUM_MODULUS: Final = (1 << 32) - 1

Shift = tuple[int, int]
STILL: Shift = (0, 0)


def _rows(row: bytes, rows: int) -> int:
    return int.from_bytes(row * rows, "little")


_PAIRS = _rows(b"\xff\x00" * ACROSS, HEIGHT)
_ONES = _rows(b"\x01\x00" * ACROSS, DOWN)
_COLOUR_PAIRS = _rows(b"\xff\x00" * (ACROSS // 2), DOWN)
_COLOUR_ONES = _rows(b"\x01\x00" * (ACROSS // 2), DOWN)
_WIDE = _rows(b"\xff\xff\x00\x00" * (ACROSS // 2), DOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Miniature:
    """One frame at a glance."""

    luma: int = field(repr=False)  # sums of four samples
    blue: int = field(repr=False)  # sums of two
    red: int = field(repr=False)
    sums: tuple[int, int, int]
    blank: bool  # black or white all over

    @property
    def brightness(self) -> float:
        """Mean luma, in levels."""
        return self.sums[0] / (CELLS * SAMPLES)


class Miniaturist:
    """Makes miniatures. One scaler is kept: setting it up costs more than using it."""

    def __init__(self) -> None:
        self._scaler = VideoReformatter()

    def draw(self, frame: VideoFrame) -> Miniature:
        """Draw one frame, of whatever size and format."""
        small = self._scaler.reformat(
            frame, WIDTH, HEIGHT, "yuv420p", interpolation="FAST_BILINEAR", threads=1
        )
        luma = _cells(_plane(small, 0, WIDTH, HEIGHT))
        blue, red = (_colour(_plane(small, index, ACROSS, DOWN)) for index in (1, 2))
        bright = _reaching(luma, BLACK_MAX + 1)
        dark = CELLS - _reaching(luma, WHITE_MIN)
        return Miniature(
            luma=luma,
            blue=blue,
            red=red,
            sums=(_sum(luma), _sum(blue), _sum(red)),
            blank=min(bright, dark) <= BLANK_EXCEPTIONS,
        )


def _plane(frame: VideoFrame, index: int, width: int, height: int) -> int:
    plane = frame.planes[index]
    data, pitch = bytes(plane), plane.line_size
    if pitch != width:
        data = b"".join(data[at : at + width] for at in range(0, pitch * height, pitch))
    return int.from_bytes(data[: width * height], "little")


def _cells(raw: int) -> int:
    """Add up pairs in each row, then pairs of rows, of which every second sum is wanted."""
    pairs = (raw & _PAIRS) + ((raw >> 8) & _PAIRS)
    data = (pairs + (pairs >> ROW_BITS)).to_bytes(WIDTH * HEIGHT, "little")
    wanted = range(0, WIDTH * HEIGHT, 2 * WIDTH)
    return int.from_bytes(b"".join([data[at : at + WIDTH] for at in wanted]), "little")


def _colour(raw: int) -> int:
    return (raw & _COLOUR_PAIRS) + ((raw >> 8) & _COLOUR_PAIRS)


def _reaching(luma: int, level: int) -> int:
    """Count the cells of at least this level."""
    guard = _ONES * GUARD
    return (((luma | guard) - _ONES * (level * SAMPLES)) & guard).bit_count()


def _sum(lanes: int) -> int:
    """Add up all lanes: first two and two, then by the remainder, as one adds up digits by nine."""
    return ((lanes & _WIDE) + ((lanes >> LANE) & _WIDE)) % _SUM_MODULUS


def _apart(one: int, two: int, ones: int, sums: int) -> int:
    """Add up the absolute differences; `sums` is the sum of `one` less that of `two`."""
    differences = (one | ones * GUARD) - two
    rising = (differences >> (LANE - 1)) & ones  # the lanes in which `one` is the larger
    return 2 * _sum(differences & ((rising << (LANE - 1)) - rising)) - sums


def difference(one: Miniature, two: Miniature) -> float:
    """Say how far two pictures are apart: mean levels of luma and of both colours, added up."""
    luma = _apart(one.luma, two.luma, _ONES, one.sums[0] - two.sums[0])
    blue = _apart(one.blue, two.blue, _COLOUR_ONES, one.sums[1] - two.sums[1])
    red = _apart(one.red, two.red, _COLOUR_ONES, one.sums[2] - two.sums[2])
    return (luma + blue + red) / (CELLS * SAMPLES)  # a cell of colour is half as wide and deep


@lru_cache(maxsize=4 * REACH_ACROSS * REACH_DOWN * 2)
def _overlap(shift: Shift) -> tuple[int, int]:
    """Mask the cells that stay in the picture when it moves, and count them."""
    across, down = shift
    row = bytes(
        byte
        for column in range(ACROSS)
        for byte in ((1, 0) if 0 <= column - across < ACROSS else (0, 0))
    )
    rows = (row if 0 <= line - down < DOWN else bytes(len(row)) for line in range(DOWN))
    ones = int.from_bytes(b"".join(rows), "little")
    return ones, ones.bit_count()


def shifted_difference(one: Miniature, two: Miniature, shift: Shift) -> float:
    """Compare the luma of `two` with that of `one` moved by so many cells."""
    across, down = shift
    bits = LANE * across + ROW_BITS * down
    ones, cells = _overlap(shift)
    mask = (ones << LANE) - ones
    moved = (one.luma << bits if bits >= 0 else one.luma >> -bits) & mask
    there = two.luma & mask
    return _apart(moved, there, ones, _sum(moved) - _sum(there)) / (cells * SAMPLES)


def unexplained(one: Miniature, two: Miniature) -> float:
    """Say which share of a difference is left when the camera's movement is taken out, 0 to 1."""
    still = shifted_difference(one, two, STILL)
    if not still:
        return 1.0
    coarse = {
        (across, down): shifted_difference(one, two, (across, down))
        for across in range(-REACH_ACROSS, REACH_ACROSS + 1, STRIDE)
        for down in range(-REACH_DOWN, REACH_DOWN + 1, STRIDE)
    }
    x, y = min(coarse, key=coarse.__getitem__)
    fine = (
        shifted_difference(one, two, (x + across, y + down))
        for across in range(-(STRIDE // 2), STRIDE // 2 + 1)
        for down in range(-(STRIDE // 2), STRIDE // 2 + 1)
    )
    return min(1.0, min(fine) / still)
