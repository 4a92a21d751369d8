"""How a video is compressed for a model: how many parts, and what fits into their bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Self

from functions.domain.media import length_slack

SOUND_RATE = 16_000  # samples a second: all that recognisers of speech take in
SOUND_BLOCK = 1024  # samples: one packet of AAC
BLOCK_SECONDS = SOUND_BLOCK / SOUND_RATE
SOUND_BITS, SOUND_BITS_MIN = 64_000, 24_000  # a second
SOUND_SHARE_MAX = 0.5  # of the bits, where there are few
SOUND_OVERRUN = 1.1  # by which the encoder may miss its rate
FILL = 0.94  # of the bytes allowed; what a rate control misses by stays in the rest
BUFFER_SECONDS = 4.0  # over which the rate holds
PICTURE_BITS_MAX, PICTURE_BITS_MIN = 20_000_000, 1000  # a second; no model looks closer
INDEX_BYTES_BASE, INDEX_BYTES_PER_SAMPLE = 8 << 10, 40
# A part is not begun for less: lengths are said by containers with a frame or two of slack.
LAST_SECONDS_MIN = 0.5


def latest_end(seconds: float) -> float:
    """Say until when a video may last whose length was said to be `seconds`."""
    return seconds + length_slack(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a video is to be compressed."""

    side_max: int
    frames_per_second: Fraction
    sound: bool
    part_seconds: float
    bytes_max: int
    parts: int
    latest: float  # the end of the video, if it lasts as long as it may

    @classmethod
    def of(cls, diet: Mapping[str, Any], seconds: float, tight: float = 1.0) -> Self:
        """Plan for a length in seconds. `tight` below one leaves more of the bytes unused."""
        span = float(diet["part_seconds"])
        return cls(
            side_max=diet["side_max"],
            frames_per_second=Fraction(diet["frames_per_second"]).limit_denominator(1000),
            sound=diet["sound"],
            part_seconds=span,
            bytes_max=round(diet["bytes_max"] * tight),
            parts=max(1, ceil((seconds - LAST_SECONDS_MIN) / span)),
            latest=latest_end(seconds),
        )

    def part_at(self, seconds: float) -> int:
        """Say which part a moment belongs to; the last has no end of its own."""
        return min(int(seconds / self.part_seconds), self.parts - 1)

    def span(self, part: int, end: float) -> tuple[float, float]:
        """Start and end of a part of a video that lasts until `end`."""
        last = part == self.parts - 1
        stop = end if last else min((part + 1) * self.part_seconds, end)
        return part * self.part_seconds, stop

    @property
    def index_bytes(self) -> int:
        """Room to leave in front of a part's media for its index."""
        samples = self.longest * (float(self.frames_per_second) + (1 / BLOCK_SECONDS))
        return INDEX_BYTES_BASE + ceil(INDEX_BYTES_PER_SAMPLE * samples)

    def rates(self, *, sound: bool) -> tuple[int, int]:
        """Bits a second for pictures, at most, and for sound."""
        usable = FILL * 8 * max(0, self.bytes_max - self.index_bytes)
        bits = usable / (self.longest + BUFFER_SECONDS)
        heard = min(SOUND_BITS, max(SOUND_BITS_MIN, SOUND_SHARE_MAX * bits)) if sound else 0.0
        seen = round(bits - SOUND_OVERRUN * heard)
        return max(PICTURE_BITS_MIN, min(PICTURE_BITS_MAX, seen)), round(heard)

    @property
    def longest(self) -> float:
        """Seconds of the longest part, if the video lasts as long as it may."""
        whole = (self.parts - 1) * self.part_seconds
        return max(min(self.part_seconds, self.latest), self.latest - whole)
