"""Repack a video without rendering it: the same coded pictures in a container that plays.

What packing can mend: an index behind the media, a wrong declared length, foreign bytes at
the end, fragments, a relative of MP4, and the label that Apple refuses. Packing reads hostile
bytes as decoding does, so it is done in the same sandbox.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from functions.media.boxes import Layout, read_layout
from functions.media.sandbox import Limits, run
from functions.media.verdict import NotVerified

# Copying is limited by the disk; a gigabyte takes seconds.
COPY_SECONDS = 60.0
# Packing anew adds an index at most: 40 bytes a sample are more than all tables together.
INDEX_BYTES_BASE, INDEX_BYTES_PER_SAMPLE = 64 << 10, 40
# In fragments the samples are not listed up front; none is smaller than this on average.
SAMPLE_BYTES_MIN = 64
ANSWER = b"packed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A new file whose coded pictures are those of the old one."""

    path: Path
    repairs: tuple[str, ...]
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRepaired:
    """Repacking did not work; the old file is as it was."""

    reason: str


def repair_file(
    src: Path, dst: Path, repairs: Sequence[str], *, limits: Limits | None = None
) -> Repaired | NotRepaired:
    """Repack `src` into `dst`, which is removed again if that fails. The source is only read."""
    with src.open("rb") as file:
        before = read_layout(file)
    index = _index_bytes(before)
    bounds = replace(
        limits or Limits(wall_seconds=COPY_SECONDS),
        file_bytes=before.size_bytes + 2 * index + (1 << 20),
    )
    with src.open("rb", buffering=0) as source, dst.open("w+b", buffering=0) as target:
        answer = run("functions.media.repack:answer", str(index), [source, target], bounds)
        size = target.seek(0, os.SEEK_END)
        target.seek(0)
        digest = hashlib.file_digest(target, "sha256").hexdigest()
        after = read_layout(target)
    if isinstance(answer, NotVerified) or answer != ANSWER or not _holds_as_much(before, after):
        dst.unlink()
        why = answer.reason if isinstance(answer, NotVerified) else "Pictures would be lost."
        return NotRepaired(reason=why)
    return Repaired(path=dst, repairs=tuple(repairs), bytes=size, sha256=digest)


def _index_bytes(layout: Layout) -> int:
    """Room to leave for the index in front of the media."""
    listed = sum(track.samples for track in layout.movie.tracks) if layout.movie else 0
    samples = layout.size_bytes // SAMPLE_BYTES_MIN if layout.fragmented else listed
    return INDEX_BYTES_BASE + INDEX_BYTES_PER_SAMPLE * samples


def _holds_as_much(before: Layout, after: Layout) -> bool:
    """Whether the new index lists at least the old one's pictures, and all of them are there."""
    if before.movie is None or after.movie is None or after.missing_bytes:
        return False
    old, new = before.movie.of("vide"), after.movie.of("vide")
    if len(new) != 1 or not old:
        return False
    return before.fragmented or new[0].samples == old[0].samples
