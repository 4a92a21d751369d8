"""Makes the video that the demonstration has analysed: a lamp for the tent, in five shots.

Each shot is a drawn picture under a moving camera. What is said is spoken by `espeak-ng` where
that is installed; elsewhere the film is silent, and says so.
"""

import shutil
import subprocess
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.filter import Graph
from av.video.frame import VideoFrame

from functions.domain.outcomes import Refused
from functions.media.motion import render_motion
from functions.media.photo import read_photo
from local.picture import draw_picture
from local.trouble import LocalTrouble

if TYPE_CHECKING:
    from av.packet import Packet

FPS = 25
VOICE = "espeak-ng"
SAMPLE_RATE = 22_050  # what it speaks with
LEAD_SECONDS = 0.4  # before somebody speaks in a shot


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One shot: what it shows, how the camera moves, how long, and what is said."""

    seed: int
    tint: tuple[str, str]  # a filter over the picture, so that no two look alike
    motion: str
    seconds: int
    says: str


SCENES = (
    Scene(
        seed=7,
        tint=("hue", "s=1"),
        motion="zoom-in",
        seconds=5,
        says="This is Ember, the lamp that fits into your pocket.",
    ),
    Scene(
        seed=21,
        tint=("hue", "h=200:s=1.4:b=-2"),
        motion="pan-right",
        seconds=4,
        says="It shines for forty hours on one charge.",
    ),
    Scene(
        seed=33,
        tint=("hue", "h=90:s=1.6:b=1"),
        motion="zoom-out",
        seconds=5,
        says="Rain does not hurt it, and neither does a fall.",
    ),
    Scene(
        seed=48,
        tint=("negate", ""),
        motion="pan-left",
        seconds=3,
        says="It weighs eighty grams.",
    ),
    Scene(
        seed=7,
        tint=("hue", "h=300:s=0.7:b=2"),
        motion="drift",
        seconds=4,
        says="Ember. Light for every tent.",
    ),
)
CUTS = tuple(accumulate(scene.seconds for scene in SCENES))[:-1]  # seconds at which shots change


def spoken() -> bool:
    """Whether this machine can speak."""
    return shutil.which(VOICE) is not None


def make_film(out: Path) -> Path:
    """Make the film unless it is there."""
    if out.is_file():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part.mp4")
    shots = [_shot(scene, out.parent, number) for number, scene in enumerate(SCENES)]
    with av.open(part, "w", options={"movflags": "faststart"}) as film:
        picture = film.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "crf": "20"})
        sound = film.add_stream("aac", rate=SAMPLE_RATE, layout="mono") if spoken() else None
        for number, frame in enumerate(_frames(shots)):
            if number == 0:
                picture.width, picture.height = frame.width, frame.height
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            film.mux(picture.encode(frame))
        film.mux(picture.encode(None))
        if sound is not None:
            for packet in _spoken(sound, out.parent):
                film.mux(packet)
    for shot in shots:
        shot.unlink()
    return part.replace(out)


def _shot(scene: Scene, folder: Path, number: int) -> Path:
    picture, clip = folder / f"scene-{number}.jpg", folder / f"scene-{number}.mp4"
    draw_picture(picture, scene.seed)
    _tint(picture, scene.tint)
    photo = read_photo(picture)
    if isinstance(photo, Refused):
        raise LocalTrouble(photo.reason)
    render_motion(photo, clip, motion=scene.motion, seconds=scene.seconds, aspect="16:9")
    picture.unlink()
    return clip


def _tint(picture: Path, tint: tuple[str, str]) -> None:
    graph = Graph()
    with av.open(picture) as source:
        frame = next(source.decode(video=0))
        steps = [graph.add_buffer(template=source.streams.video[0]), graph.add(*tint)]
    steps += [graph.add("format", "yuvj420p"), graph.add("buffersink")]
    graph.link_nodes(*steps).configure()
    graph.push(frame)
    with av.open(picture, "w", format="image2", options={"update": "1"}) as out:
        stream = out.add_stream("mjpeg", rate=1, options={"qmin": "2", "qmax": "2"})
        stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, "yuvj420p"
        for packet in (*stream.encode(graph.vpull()), *stream.encode(None)):
            out.mux(packet)


def _frames(shots: list[Path]) -> Iterator[VideoFrame]:
    for shot, scene in zip(shots, SCENES, strict=True):
        with av.open(shot) as clip:
            for number, frame in enumerate(clip.decode(video=0)):
                if number < scene.seconds * FPS:
                    yield frame


def _samples(folder: Path) -> bytes:
    """Speak each sentence into its shot."""
    track = bytearray()
    for scene in SCENES:
        start = len(track)
        track += bytes(2 * round(LEAD_SECONDS * SAMPLE_RATE)) + _said(scene.says, folder)
        whole = 2 * scene.seconds * SAMPLE_RATE
        track = track[: start + whole].ljust(start + whole, b"\0")
    return bytes(track)


def _said(sentence: str, folder: Path) -> bytes:
    speech = folder / "speech.wav"
    subprocess.run([VOICE, "-v", "en", "-s", "165", "-w", str(speech), sentence], check=True)
    with wave.open(str(speech), "rb") as file:
        said = file.readframes(file.getnframes())
    speech.unlink()
    return said


def _spoken(stream: AudioStream, folder: Path) -> "Iterator[Packet[AudioStream]]":
    track = _samples(folder)
    size = 1024
    for at in range(0, len(track) // 2, size):
        piece = track[2 * at : 2 * (at + size)]
        frame = AudioFrame(format="s16", layout="mono", samples=len(piece) // 2)
        frame.planes[0].update(piece)
        frame.sample_rate, frame.pts, frame.time_base = SAMPLE_RATE, at, Fraction(1, SAMPLE_RATE)
        yield from stream.encode(frame)
    yield from stream.encode(None)
