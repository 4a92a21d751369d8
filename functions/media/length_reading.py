"""A few short reads of a remote file, counted."""

from collections.abc import Callable
from enum import Enum

PIECE_BYTES = 64 << 10  # of one read


class Said(Enum):
    """What a file says instead of a length."""

    BROKEN = "video-unreadable"
    UNKNOWN = "length-unknown"


class Window:
    """Gives bytes of a file, read as rarely as possible; what cannot be had is missing."""

    def __init__(self, read_at: Callable[[int, int], bytes], size: int, *, reads_max: int) -> None:
        self._read_at, self.size, self._left = read_at, size, reads_max
        self._pieces: list[tuple[int, bytes]] = []

    def at(self, start: int, count: int) -> bytes:
        """Give `count` bytes from `start` on, or fewer where the file or the reads end."""
        count = min(count, PIECE_BYTES, self.size - start)
        if start < 0 or count <= 0:
            return b""
        best = b""
        for begin, piece in self._pieces:
            if begin <= start < begin + len(piece):
                found = piece[start - begin : start - begin + count]
                if len(found) == count:
                    return found
                best = max(best, found, key=len)
        if self._left <= 0:
            return best
        self._left -= 1
        wanted = min(PIECE_BYTES, self.size - start)
        piece = bytes(self._read_at(start, wanted)[:wanted])
        self._pieces.append((start, piece))
        return max(best, piece[:count], key=len)
