"""What a small copy of one frame consists of: flat ground, or rows that nothing was drawn on."""

from itertools import pairwise

from av.video.frame import VideoFrame

from functions.media.lanes import Grid

FLAT_LEVELS = 1  # between neighbours; a photograph's sky shades more than this
ROW_LEVELS = 6  # across a row that nothing was drawn on, after re-encoding
# A buffer of zeros shows as green far outside what cameras and screens produce; one that the
# decoder set to its neutral value shows as exact middle grey.
GREEN_CHROMA_MAX = 100
GREY_LUMA, GREY_CHROMA, GREY_LEVELS = 128, 128, 4


def card_share(luma: bytes, grid: Grid) -> float:
    """Measure the share of pixels that equal their right neighbour, on every fourth row."""
    flat = total = 0
    for y in range(0, grid.height, 4):
        row = luma[y * grid.pitch : y * grid.pitch + grid.width]
        flat += sum(-FLAT_LEVELS <= a - b <= FLAT_LEVELS for a, b in pairwise(row))
        total += grid.width - 1
    return flat / max(1, total)


def empty_rows_share(copy: VideoFrame) -> float:
    """Measure how much of the height, from the bottom, shows an empty decoder buffer."""
    rows = [_Rows(copy, index) for index in range(3)]
    bottom = tuple(plane.mean(plane.height - 1) for plane in rows)
    if not _is_empty(*bottom):
        return 0.0
    count = 0
    for up in range(rows[1].height):  # chroma rows: each stands for two of luma
        at = rows[1].height - 1 - up
        same = all(plane.flat(at * plane.height // rows[1].height, mean)
                   for plane, mean in zip(rows, bottom, strict=True))  # fmt: skip
        if not same:
            break
        count += 1
    return count / rows[1].height


def _is_empty(luma: int, blue: int, red: int) -> bool:
    green = blue <= GREEN_CHROMA_MAX and red <= GREEN_CHROMA_MAX
    grey = (
        abs(luma - GREY_LUMA) <= GREY_LEVELS
        and abs(blue - GREY_CHROMA) <= GREY_LEVELS
        and abs(red - GREY_CHROMA) <= GREY_LEVELS
    )
    return green or grey


class _Rows:
    """A plane, row by row."""

    def __init__(self, frame: VideoFrame, index: int) -> None:
        plane = frame.planes[index]
        self._data, self._pitch = bytes(plane), plane.line_size
        self.width, self.height = plane.width, plane.height

    def row(self, at: int) -> bytes:
        return self._data[at * self._pitch : at * self._pitch + self.width]

    def mean(self, at: int) -> int:
        return sum(self.row(at)) // self.width

    def flat(self, at: int, level: int) -> bool:
        row = self.row(at)
        return min(row) >= level - ROW_LEVELS and max(row) <= level + ROW_LEVELS
