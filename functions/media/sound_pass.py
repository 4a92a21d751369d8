"""Listens to the sound as far as a silent track can be told from one that is not."""

from array import array
from typing import TYPE_CHECKING, Any

from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.container import InputContainer

from functions.media.media_library import MEDIA_ERRORS, heard_sound

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream

# Speech and music lie below 4 kHz for this purpose, and fewer samples cost less.
RATE = 8000
SILENT = 33  # of 32,768: -60 dB, below any room's noise
ERRORS_MAX = 50


class SoundPass:
    """Decodes the first sound track beside the picture."""

    def __init__(self, box: InputContainer) -> None:
        self.stream = heard_sound(box)
        self._resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
        self._peak = 0
        self._samples = 0
        self._silent = 0
        self._errors = 0

    def take(self, packet: "Packet[Stream]") -> None:
        """Decode one packet."""
        if self._errors > ERRORS_MAX:
            return
        try:
            for frame in packet.decode():
                if type(frame) is AudioFrame:
                    for small in self._resampler.resample(frame):
                        self._listen(small)
        except MEDIA_ERRORS:
            self._errors += 1

    def _listen(self, frame: AudioFrame) -> None:
        samples = array("h")
        samples.frombytes(bytes(frame.planes[0])[: frame.samples * 2])
        if not samples:
            return
        quietest, loudest = min(samples), max(samples)
        loudest = max(-quietest, loudest)
        self._peak = max(self._peak, loudest)
        self._samples += len(samples)
        if loudest < SILENT:
            self._silent += len(samples)

    def finish(self) -> dict[str, Any]:
        """Sum up in the terms of `Measured`."""
        if self.stream is None:
            return {}
        return {
            "sound_codec": self.stream.codec_context.name[:16],
            "sound_seconds": self._samples / RATE,
            "sound_errors": self._errors,
            "sound_peak": self._peak / 32768,
            "silent_seconds": self._silent / RATE,
        }
