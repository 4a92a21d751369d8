"""Scenes with known cuts, drawn on the spot."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.filter import Graph
from av.video.frame import VideoFrame

RATE = 25
SIZE = (320, 180)
Step = tuple[str, str]
S, WIDE = "s=320x180:rate=25", "s=1600x180:rate=25"
HELD: tuple[Step, ...] = (("loop", "loop=-1:size=1"), ("setpts", "N/25/TB"))

SCENES: dict[str, tuple[Step, ...]] = {
    "fractal": (("mandelbrot", f"{S}:start_scale=2:end_scale=0.5"),),
    "corner": (("mandelbrot", f"{S}:start_scale=0.3:end_scale=0.2:start_x=-1.2"),),
    "test": (("testsrc2", S),),
    "bars": (("smptebars", S),),
    "gradient": (("gradients", f"{S}:seed=7:nb_colors=4:speed=0.01"),),
    "squares": (("testsrc", S),),
    "still": (("mandelbrot", S), *HELD),
    "noise": (("mandelbrot", S), *HELD, ("noise", "alls=60:allf=t")),
    "zoom": (("mandelbrot", f"{S}:start_scale=2:end_scale=1.2"),),
    "fast pan": (("mandelbrot", WIDE), *HELD, ("crop", "320:180:n*14:0")),
    "other pan": (
        ("mandelbrot", f"{WIDE}:start_scale=0.3:start_x=-1.2"),
        *HELD,
        ("hue", "h=120"),
        ("crop", "320:180:1200-n*14:0"),
    ),
    "jolt": (("mandelbrot", WIDE), *HELD, ("crop", "320:180:400+40*gt(mod(n\\,25)\\,20):0")),
    "flash": (
        ("mandelbrot", S),
        *HELD,
        ("drawbox", "0:0:iw:ih:white@0.9:fill:enable=between(mod(n\\,30)\\,14\\,16)"),
    ),
    "blink": (
        ("testsrc2", S),
        ("drawbox", "0:0:iw:ih:black:fill:enable=between(mod(n\\,30)\\,14\\,16)"),
    ),
    "light on": (("mandelbrot", S), *HELD, ("hue", "b=n/50")),
    "black": (("color", "black:s=320x180:r=25"),),
    "white": (("color", "white:s=320x180:r=25"),),
    "red": (("color", "0xc02020:s=320x180:r=25"),),
    "blue": (("color", "0x2020c0:s=320x180:r=25"),),
}


def pictures(
    *looks: tuple[str, int], fades: Mapping[int, Sequence[Step]] | None = None
) -> Iterator[VideoFrame]:
    """Show so many frames of each look; `fades` are filters behind the look of that number."""
    index = 0
    for number, (look, count) in enumerate(looks):
        graph = Graph()
        steps = [*SCENES[look], *(fades or {}).get(number, ()), ("format", "yuv420p")]
        graph.link_nodes(*(graph.add(*step) for step in steps), graph.add("buffersink")).configure()
        for _ in range(count):
            frame = graph.vpull()
            frame.pts, frame.time_base, frame.pict_type = index, Fraction(1, RATE), 0
            index += 1
            yield frame


def write(
    path: Path,
    frames: Iterator[VideoFrame],
    *,
    codec: str = "libx264",
    size: tuple[int, int] = SIZE,
    pixels: str = "yuv420p",
    times: Sequence[int] | None = None,
    sound: Iterator[AudioFrame] | None = None,
    mux: dict[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    aspect: int = 1,
) -> Path:
    """Encode frames, at 25 a second or at `times` in milliseconds, and sound beside them."""
    presets = {"preset": "ultrafast", "crf": "20"} if codec in ("libx264", "libx265") else {}
    if codec == "libx265":
        presets["x265-params"] = "log-level=none:pools=1"
    with av.open(path, "w", options=mux or {}) as box:
        stream: Any = box.add_stream(codec, rate=RATE, options=presets | dict(options or {}))
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        if aspect != 1:  # of a pixel
            stream.codec_context.sample_aspect_ratio = Fraction(aspect)
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        sounds: Any = box.add_stream("aac", rate=44100, layout="stereo") if sound else None
        for index, frame in enumerate(frames):
            shown = frame.reformat(*size, pixels)
            shown.pts, shown.time_base = index, Fraction(1, RATE)
            if times is not None:
                shown.pts, shown.time_base = times[index], Fraction(1, 1000)
            box.mux(stream.encode(shown))
        box.mux(stream.encode(None))
        for heard in sound or ():
            box.mux(sounds.encode(heard))
        if sounds is not None:
            box.mux(sounds.encode(None))
    return path


def tone(*spans: tuple[str, float], start: float = 0.0) -> Iterator[AudioFrame]:
    """Sound from `start` on: spans of tone or silence, so many seconds each."""
    at = round(start * 44100)
    for what, seconds in spans:
        source = ("sine", "440:r=44100") if what == "tone" else ("anullsrc", "r=44100")
        graph = Graph()
        nodes = [graph.add(*source), graph.add("aformat", "fltp:44100:stereo")]
        graph.link_nodes(*nodes, graph.add("abuffersink")).configure()
        end = at + round(seconds * 44100)
        while at < end:
            frame = graph.pull()
            assert isinstance(frame, AudioFrame)
            frame.pts, frame.time_base = at, Fraction(1, 44100)
            at += frame.samples
            yield frame
