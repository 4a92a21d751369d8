"""A glance at each frame: the mean brightness of a few rows, at a hundredth of a decode's cost.

The filters look at eight frames a second; between them the picture could flash, and a
repetition shows only frame by frame.
"""

from array import array
from collections.abc import Sequence
from itertools import pairwise

from functions.media.loops import loop_length

ROWS = 8
SAMPLES = 160  # of each row
DARK_MEAN, LIT_MEAN = 32.0, 48.0  # video black is 16
FLASH_SECONDS = 0.25
STROBE_LEVELS = 20.0  # of mean brightness from one frame to the next, and back


class GlanceLog:
    """Collects one signature per frame."""

    def __init__(self) -> None:
        self._times = array("d")
        self._rows = [array("f") for _ in range(ROWS)]

    def take(self, seconds: float, plane: memoryview, pitch: int, width: int, height: int) -> None:
        """Add one frame's luma plane, of 8 bits."""
        self._times.append(seconds)
        step = max(1, width // SAMPLES)
        for index, column in enumerate(self._rows):
            start = (2 * index + 1) * height // (2 * ROWS) * pitch
            row = bytes(plane[start : start + width])[::step]
            column.append(sum(row) / len(row))

    def flashes(self, end: float) -> int:
        """Count the times that it was dark for less than a quarter of a second."""
        means, count, since = self._means(), 0, None
        for at, mean in zip(self._times, means, strict=True):
            if mean <= DARK_MEAN:
                since = at if since is None else since
            elif since is not None and mean >= LIT_MEAN:
                count += at - since < FLASH_SECONDS
                since = None
        return count + (since is not None and end - since < FLASH_SECONDS)

    def strobes(self) -> int:
        """Count the frames from which brightness jumps back to where it was."""
        means = self._means()
        steps = [b - a for a, b in pairwise(means)]
        return sum(
            abs(a) > STROBE_LEVELS and abs(b) > STROBE_LEVELS and a * b < 0
            for a, b in pairwise(steps)
        )

    def loop_seconds(self) -> float:
        """Say the period after which everything repeats; 0 if nothing does."""
        return loop_length(self._times, self._rows)

    def _means(self) -> Sequence[float]:
        return [sum(rows) / ROWS for rows in zip(*self._rows, strict=True)]
