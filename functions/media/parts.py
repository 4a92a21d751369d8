"""The compressed parts that a model is shown: small, slow, mono, each within its bytes.

Pictures are taken at fixed steps from zero on: whatever is being shown at that moment. That is
what models sample, and it makes the same of steady, varying and broken frame rates.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import IO, TYPE_CHECKING, Any

import av
from av.audio.frame import AudioFrame
from av.video.frame import PictureType, VideoFrame

from functions.media.diet import BUFFER_SECONDS, SOUND_BLOCK, SOUND_RATE, Plan
from functions.media.key_frames import Shrinker, fitted

if TYPE_CHECKING:
    from av.container import OutputContainer

# Text on the screen stays readable; at two pictures a second the preset hardly costs time.
PRESET, QUALITY = "veryfast", "25"
KEY_SECONDS = 10.0
BT709, LIMITED = 1, 1


class Parts:
    """Writes all parts, each into a file of its own that is open already."""

    def __init__(
        self, plan: Plan, files: Sequence[IO[bytes]], *, size: tuple[int, int], sound: bool
    ) -> None:
        self._plan, self._files, self._sound = plan, files, sound
        self._fps = plan.frames_per_second
        self._size = fitted(size, plan.side_max, longer=False)
        self._shrinker = Shrinker(
            self._size, pixels="yuv420p", colours="out_color_matrix=bt709:out_range=limited"
        )
        self._open: dict[int, _Part] = {}
        self._held: VideoFrame | None = None
        self._small: VideoFrame | None = None
        self._slot = 0
        self._done: set[int] = set()

    @property
    def seconds(self) -> float:
        """How far pictures have been taken."""
        return float(self._slot / self._fps)

    def show(self, frame: VideoFrame, seconds: float) -> None:
        """Take a frame that is shown from `seconds` on."""
        if self._held is None:
            self._held = frame
        self.hold_until(seconds)
        self._held, self._small = frame, None

    def hold_until(self, seconds: float) -> None:
        """Go on showing the last frame until then."""
        while self._held is not None and self.seconds < seconds:
            index = self._plan.part_at(self.seconds)
            self._close_before(index, pictures=True)
            self._part(index).show(self._copy(self._held), self._slot)
            self._slot += 1

    def _copy(self, frame: VideoFrame) -> VideoFrame:
        """Shrink the held frame, once."""
        if self._small is None:
            self._small = self._shrinker.shrink(frame)
        return self._small

    def hear(self, block: bytes, seconds: float) -> None:
        """Take one block of sound."""
        if not self._sound:
            return
        index = self._plan.part_at(seconds)
        self._close_before(index, pictures=False)
        if index not in self._done:
            self._part(index).hear(block, round(seconds * SOUND_RATE))

    def finish(self, end: float) -> list[tuple[float, float]]:
        """Close everything; list the parts that were made, in order."""
        self.hold_until(end)
        self._close_before(self._plan.parts, pictures=True)
        self._close_before(self._plan.parts, pictures=False)
        return [self._plan.span(index, end) for index in sorted(self._done)]

    def _part(self, index: int) -> "_Part":
        if index not in self._open:
            plan = self._plan
            picture_bits, sound_bits = plan.rates(sound=self._sound)
            self._open[index] = _Part(
                self._files[index], size=self._size, fps=plan.frames_per_second,
                room=plan.index_bytes, picture_bits=picture_bits,
                sound_bits=sound_bits, start=index * plan.part_seconds,
            )  # fmt: skip
        return self._open[index]

    def _close_before(self, index: int, *, pictures: bool) -> None:
        """End what earlier parts show, or what they let hear; with both ended they are written."""
        for earlier in [one for one in self._open if one < index]:
            part = self._open[earlier]
            if pictures:
                if not part.frames and self._held is not None:  # sound alone is no video
                    slot = ceil(earlier * self._plan.part_seconds * self._fps)
                    part.show(self._copy(self._held), slot)
                part.shown()
            if not pictures or not self._sound:
                part.heard()
            if part.complete:
                part.close()
                del self._open[earlier]
                self._done.add(earlier)


class _Part:
    """One file in the making."""

    def __init__(
        self, file: IO[bytes], *, size: tuple[int, int], fps: Fraction, room: int,
        picture_bits: int, sound_bits: int, start: float,
    ) -> None:  # fmt: skip
        # Without dates and versions, so that the same video gives the same bytes.
        options = {"moov_size": str(room), "fflags": "bitexact"}
        self._box: OutputContainer = av.open(file, "w", format="mp4", options=options)
        self._first_slot = ceil(start * fps)
        self._first_sample = round(start * SOUND_RATE)
        kilobits = max(1, picture_bits // 1000)
        self._pictures: Any = self._box.add_stream("libx264", rate=fps, options={
            "preset": PRESET, "crf": QUALITY,
            "x264-params": f"vbv-maxrate={kilobits}:vbv-bufsize={round(kilobits * BUFFER_SECONDS)}:"
            f"keyint={max(1, round(KEY_SECONDS * fps))}:bframes=0:threads=1:lookahead-threads=1:"
            "sliced-threads=0:sync-lookahead=0:rc-lookahead=10:log=-1",
        })  # fmt: skip
        self._pictures.width, self._pictures.height = size
        self._pictures.pix_fmt = "yuv420p"
        context = self._pictures.codec_context
        context.time_base, context.thread_count = 1 / fps, 1
        context.colorspace, context.color_range = BT709, LIMITED
        self._sound: Any = None
        if sound_bits:
            self._sound = self._box.add_stream("aac", rate=SOUND_RATE, layout="mono")
            self._sound.codec_context.bit_rate = sound_bits
        self._shown = self._heard = False
        self.frames = 0
        self._fps = fps

    @property
    def complete(self) -> bool:
        """Whether nothing more will come."""
        return self._shown and self._heard

    def show(self, frame: VideoFrame, slot: int) -> None:
        frame.pts, frame.time_base = slot - self._first_slot, 1 / self._fps
        frame.pict_type = PictureType.NONE
        self.frames += 1
        self._box.mux(self._pictures.encode(frame))

    def hear(self, block: bytes, sample: int) -> None:
        if self._heard:
            return
        frame = AudioFrame(format="s16", layout="mono", samples=SOUND_BLOCK)
        frame.planes[0].update(block)
        frame.sample_rate, frame.time_base = SOUND_RATE, Fraction(1, SOUND_RATE)
        frame.pts = sample - self._first_sample
        self._box.mux(self._sound.encode(frame))

    def shown(self) -> None:
        if not self._shown:
            self._box.mux(self._pictures.encode(None))
        self._shown = True

    def heard(self) -> None:
        if not self._heard and self._sound is not None:
            self._box.mux(self._sound.encode(None))
        self._heard = True

    def close(self) -> None:
        self._box.close()
