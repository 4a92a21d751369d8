"""What a video looks like over time, one row of numbers per frame looked at."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# Flat to eight levels all over, chroma included: what encoders make of one colour.
PLAIN_LEVELS = 8
# blackdetect calls a picture black of which 98 % lie at luma 37 or below. A dark scene is not:
# something stands out, and the mean lies above video black; nor is lettering on black.
DIM_LEVELS, DIM_MEAN, DIM_BRIGHT = 8, 18, 80
# Between frames of pure noise the mean difference is 0.44 of the range in which 80 % of the
# pixels lie; between frames of a picture it is a tenth of that.
NOISE_RATIO, NOISE_RANGE = 0.35, 4
SAME = 0.004  # mean difference: 10 pixels of 14,400 by 6 levels are a new picture

COLUMNS = ("YMIN", "YMAX", "YAVG", "YLOW", "YHIGH", "UMIN", "UMAX", "UAVG", "VMIN", "VMAX", "VAVG",
           "YDIF")  # fmt: skip
STATS = tuple(f"lavfi.signalstats.{name}" for name in COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The summary of a log: seconds and shares."""

    black_seconds: float
    black_longest_seconds: float
    dim_seconds: float
    plain_seconds: float
    plain_range: float
    noise_share: float
    froze_seconds: float
    pictures_per_second: float


class PictureLog:
    """Collects a row per frame from the filters' metadata, and sums them up."""

    def __init__(self) -> None:
        self._times = array("d")
        self._columns = {name: array("f") for name in COLUMNS}
        self._black = bytearray()
        self._in_black = False
        self._freezes: list[tuple[float, float]] = []
        self._froze_at: float | None = None

    def take(self, seconds: float, metadata: Mapping[str, str]) -> None:
        """Add one frame shown from `seconds` on."""
        self._times.append(seconds)
        for name, key in zip(COLUMNS, STATS, strict=True):
            self._columns[name].append(float(metadata[key]))
        # The filters mark only where a stretch begins and ends.
        if "lavfi.black_start" in metadata:
            self._in_black = True
        if "lavfi.black_end" in metadata:
            self._in_black = "lavfi.black_start" in metadata
        self._black.append(self._in_black)
        if "lavfi.freezedetect.freeze_start" in metadata:
            self._froze_at = float(metadata["lavfi.freezedetect.freeze_start"])
        if "lavfi.freezedetect.freeze_end" in metadata and self._froze_at is not None:
            end = float(metadata["lavfi.freezedetect.freeze_end"])
            self._freezes.append((self._froze_at, end))
            self._froze_at = None

    def __len__(self) -> int:
        return len(self._times)

    @property
    def contrast(self) -> float:
        """The range of the newest frame's brightness."""
        return self._columns["YHIGH"][-1] - self._columns["YLOW"][-1]

    def look(self, end: float) -> Look:
        """Sum up; the last frame is shown until `end`."""
        times = self._times
        lasts = [max(0.0, b - a) for a, b in zip(times, [*times[1:], end], strict=True)]
        whole = sum(lasts) or 1.0
        dim = bytes(map(self._is_dim, range(len(times))))
        black = bytes(b and not d for b, d in zip(self._black, dim, strict=True))
        plain = bytes(not self._black[i] and self._is_plain(i) for i in range(len(times)))
        noise = bytes(map(self._is_noise, range(len(times))))
        freezes = [*self._freezes]
        if self._froze_at is not None:  # a stretch open at the end has no end mark
            freezes.append((self._froze_at, end))
        return Look(
            black_seconds=_within(black, lasts),
            black_longest_seconds=max(_runs(black, lasts), default=0.0),
            dim_seconds=_within(dim, lasts),
            plain_seconds=_within(plain, lasts),
            plain_range=self._plain_range(plain),
            noise_share=_within(noise, lasts) / whole,
            froze_seconds=sum(stop - start for start, stop in freezes),
            pictures_per_second=sum(dif > SAME for dif in self._columns["YDIF"]) / whole,
        )

    def _is_dim(self, at: int) -> bool:
        if not self._black[at]:
            return False
        c = self._columns
        seen = c["YAVG"][at] > DIM_MEAN or c["YMAX"][at] >= DIM_BRIGHT
        return seen and c["YMAX"][at] - c["YMIN"][at] > DIM_LEVELS

    def _is_plain(self, at: int) -> bool:
        c = self._columns
        return all(c[f"{plane}MAX"][at] - c[f"{plane}MIN"][at] <= PLAIN_LEVELS for plane in "YUV")

    def _is_noise(self, at: int) -> bool:
        spread = self._columns["YHIGH"][at] - self._columns["YLOW"][at]
        return spread >= NOISE_RANGE and self._columns["YDIF"][at] >= NOISE_RATIO * spread

    def _plain_range(self, plain: bytes) -> float:
        ranges = []
        for name in ("YAVG", "UAVG", "VAVG"):
            values = [v for v, on in zip(self._columns[name], plain, strict=True) if on]
            ranges.append(max(values) - min(values) if values else 0.0)
        return max(ranges)


def _within(flags: bytes, lasts: Sequence[float]) -> float:
    """Add up the seconds of the flagged frames."""
    return sum(last for last, on in zip(lasts, flags, strict=True) if on)


def _runs(flags: bytes, lasts: Sequence[float]) -> Iterator[float]:
    """Yield the seconds of each unbroken run of flagged frames."""
    run = 0.0
    for last, on in zip(lasts, flags, strict=True):
        if on:
            run += last
        elif run:
            yield run
            run = 0.0
    if run:
        yield run
