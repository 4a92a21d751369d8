"""Listens to a sound track: how loud it is, where it is silent, and a plain copy for a model.

Whatever the track is like, what comes out is one unbroken row of blocks of mono sound from zero
on: gaps are filled with silence and what overlaps is dropped, so that time stays true.
"""

from array import array
from collections.abc import Callable
from math import ceil, isfinite, log10
from operator import mul
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.filter import Graph

from functions.media.diet import BLOCK_SECONDS
from functions.media.diet import SOUND_BLOCK as BLOCK
from functions.media.diet import SOUND_RATE as RATE
from functions.media.media_library import MEDIA_ERRORS

BLOCK_BYTES = 2 * BLOCK
JITTER_SAMPLES = RATE // 10  # by which time stamps may stray before they are believed
FLOOR_DB = -100
FULL_SCALE_SQUARED = 32_768**2
# A pause in speech is this far below the speech, but never louder than a quiet room and never
# quieter than what equipment hisses. Loudness is about 3 above the level of the loud parts.
PAUSE_BELOW_DB, PAUSE_MAX_DB, PAUSE_MIN_DB = 25.0, -40.0, -60.0
SILENCE_SECONDS_MIN = 0.5
SILENCES_MAX = 5_000  # two and a half hours of one every two seconds
LOUDNESS_NONE = -69.0  # the filter says -70 where there was nothing to measure
ERRORS_MAX = 200

Block = Callable[[bytes, float], None]  # samples, and when they are heard


class Hearing:
    """Takes decoded frames in order of time."""

    def __init__(self, on_block: Block | None = None) -> None:
        self._on_block = on_block
        self._loudness = Loudness()
        self._resampler: AudioResampler | None = None
        self._shape: tuple[int, str, str] | None = None
        self._waiting = bytearray()
        self._blocks = 0
        self._levels = bytearray()  # of each block, in dB below full scale
        self._heard_until = 0.0
        self._errors = 0

    @property
    def seconds(self) -> float:
        """How far the row of blocks reaches."""
        return self._blocks * BLOCK_SECONDS

    @property
    def end(self) -> float:
        """When the last sound ends that was really there."""
        return self._heard_until

    def take(self, frame: AudioFrame, seconds: float) -> None:
        """Hear one frame that begins at `seconds`."""
        if self._errors > ERRORS_MAX:
            return
        try:
            self._loudness.take(frame)
            pieces = self._resampled(frame)
        except MEDIA_ERRORS:
            self._errors += 1
            return
        due, at = round(seconds * RATE), self._blocks * BLOCK + len(self._waiting) // 2
        if due < at - JITTER_SAMPLES:
            return
        self._heard_until = max(self._heard_until, seconds + frame.samples / frame.sample_rate)
        if due > at + JITTER_SAMPLES:
            self._pad(due - at)
        for piece in pieces:
            self._waiting += bytes(piece.planes[0])[: 2 * piece.samples]
        self._cut()

    def hold_until(self, seconds: float) -> None:
        """Fill up with silence to there."""
        missing = round(seconds * RATE) - self._blocks * BLOCK - len(self._waiting) // 2
        if missing > 0:
            self._pad(missing)

    def finish(self, end: float) -> dict[str, Any]:
        """Fill up to the end of the video and sum up."""
        self.hold_until(ceil(end / BLOCK_SECONDS) * BLOCK_SECONDS)
        loudness = self._loudness.value
        silences = self._silences(end, loudness)
        quiet = sum(stop - start for start, stop in silences)
        return {
            "loudness": loudness,
            "silences": [list(pair) for pair in silences],
            "heard_seconds": round(max(0.0, end - quiet), 3),
        }

    def _resampled(self, frame: AudioFrame) -> list[AudioFrame]:
        shape = (frame.sample_rate, frame.format.name, frame.layout.name)
        if self._resampler is None or shape != self._shape:
            self._resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
            self._shape = shape
        return self._resampler.resample(frame)

    def _pad(self, samples: int) -> None:
        while samples > 0:
            step = min(samples, 64 * BLOCK)
            self._waiting += bytes(2 * step)
            samples -= step
            self._cut()

    def _cut(self) -> None:
        """Hand on what fills whole blocks."""
        whole = len(self._waiting) // BLOCK_BYTES
        for index in range(whole):
            block = bytes(self._waiting[index * BLOCK_BYTES : (index + 1) * BLOCK_BYTES])
            samples = array("h", block)
            power = sum(map(mul, samples, samples)) / BLOCK / FULL_SCALE_SQUARED
            level = max(FLOOR_DB, round(10 * log10(power))) if power else FLOOR_DB
            self._levels.append(min(-FLOOR_DB, -level))
            if self._on_block is not None:
                self._on_block(block, self.seconds)
            self._blocks += 1
        del self._waiting[: whole * BLOCK_BYTES]

    def _silences(self, end: float, loudness: float | None) -> list[tuple[float, float]]:
        wanted = PAUSE_MAX_DB if loudness is None else loudness - PAUSE_BELOW_DB
        limit = -min(PAUSE_MAX_DB, max(PAUSE_MIN_DB, wanted))
        found: list[tuple[float, float]] = []
        start: int | None = None
        for index, below in enumerate((*self._levels, 0)):  # a loud one closes the last
            if below > limit:
                start = index if start is None else start
                continue
            if start is not None:
                begin = start * BLOCK_SECONDS
                stop = min(index * BLOCK_SECONDS, end)
                if stop - begin >= SILENCE_SECONDS_MIN and len(found) < SILENCES_MAX:
                    found.append((round(begin, 3), round(stop, 3)))
            start = None
        return found


class Loudness:
    """Integrated loudness after EBU R 128, of the track as it is."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._shape: tuple[int, str, str] | None = None
        self.value: float | None = None

    def take(self, frame: AudioFrame) -> None:
        """Measure one frame; if the track changes its form, the first form counts."""
        shape = (frame.sample_rate, frame.format.name, frame.layout.name)
        if self._graph is None:
            self._graph, self._shape = _meter(frame), shape
        if shape != self._shape:
            return
        self._graph.push(frame)
        while True:
            try:
                measured = self._graph.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            self._read(dict(measured.metadata) if isinstance(measured, AudioFrame) else {})

    def _read(self, said: dict[str, str]) -> None:
        value = float(said.get("lavfi.r128.I", "nan"))
        if isfinite(value):
            self.value = round(value, 1) if value > LOUDNESS_NONE else None


def _meter(frame: AudioFrame) -> Graph:
    graph = Graph()
    graph.threads = 1
    graph.link_nodes(
        graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=frame.time_base,
        ),
        graph.add("ebur128", "metadata=1:framelog=quiet"),
        graph.add("abuffersink"),
    )
    graph.configure()
    return graph
