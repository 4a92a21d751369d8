"""Small videos, good and bad, made on the spot."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.filter import Graph
from av.video.frame import VideoFrame

RATE = 25
WIDTH, HEIGHT = 320, 180
FAST_START = {"movflags": "faststart"}
Step = tuple[str, str]

# What a clip shows: a source filter, and filters behind it.
LOOKS: dict[str, tuple[Step, ...]] = {
    "moving": (("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}:start_scale=2:end_scale=0.5"),),
    "black": (("color", f"black:s={WIDTH}x{HEIGHT}:r={RATE}"),),
    "grey": (("color", f"gray:s={WIDTH}x{HEIGHT}:r={RATE}"),),
    "still": (
        ("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}"),
        ("loop", "loop=-1:size=1"),
        ("setpts", f"N/{RATE}/TB"),
    ),
    "grain": (
        ("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}"),
        ("loop", "loop=-1:size=1"),
        ("setpts", f"N/{RATE}/TB"),
        ("noise", "alls=8:allf=t"),
    ),
    "noise": (
        ("color", f"gray:s={WIDTH}x{HEIGHT}:r={RATE}"),
        ("noise", "alls=90:allf=t"),
    ),
    "small motion": (
        ("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}"),
        ("loop", "loop=-1:size=1"),
        ("setpts", f"N/{RATE}/TB"),
        ("drawbox", "100:90:24:8:black@0.5:fill:enable=lt(mod(n\\,7)\\,3)"),
    ),
    "flicker": (
        ("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}:start_scale=2:end_scale=0.5"),
        ("drawbox", "0:0:iw:ih:black:fill:enable=mod(n\\,2)"),
    ),
    "half green": (
        ("mandelbrot", f"s={WIDTH}x{HEIGHT}:rate={RATE}:start_scale=2:end_scale=0.5"),
        ("drawbox", "0:ih/2:iw:ih/2:green:fill"),
    ),
}


def pictures(steps: Sequence[Step], count: int, pixels: str = "yuv420p") -> Iterator[VideoFrame]:
    """Run filters from a source on."""
    graph = Graph()
    nodes = [graph.add(*step) for step in [*steps, ("format", pixels)]]
    graph.link_nodes(*nodes, graph.add("buffersink")).configure()
    for index in range(count):
        frame = graph.vpull()
        frame.pts, frame.time_base, frame.pict_type = index, Fraction(1, RATE), 0
        yield frame


def film(
    path: Path,
    *looks: str,
    seconds: float = 3.0,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    sound: str = "",
    rate: int = RATE,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    mux: dict[str, str] | None = None,
    x264: str = "",
    **options: str,
) -> Path:
    """Encode a clip whose time is shared equally by the looks; `sound` is tone or silence."""
    presets = {"preset": "ultrafast", "crf": "23"} if codec in ("libx264", "libx265") else {}
    if codec == "libx265":
        presets["x265-params"] = "log-level=none:pools=1"
    if x264:
        presets["x264-params"] = x264
    frames_each = round(seconds * rate / max(1, len(looks)))
    with av.open(path, "w", options=mux if mux is not None else FAST_START) as box:
        stream: Any = box.add_stream(codec, rate=rate, options=presets | options)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        stream.thread_type = "FRAME"  # whole pictures, not slices, as services deliver them
        track: Any = box.add_stream("aac", rate=44100) if sound else None
        index = 0
        for look in looks or ("moving",):
            for frame in pictures(LOOKS[look], frames_each, pixels):
                if size != (WIDTH, HEIGHT):
                    frame = frame.reformat(*size)  # noqa: PLW2901
                frame.pts, frame.time_base = index, Fraction(1, rate)
                index += 1
                box.mux(stream.encode(frame))
        box.mux(stream.encode(None))
        if track is not None:
            for heard in _sound(sound, seconds):
                box.mux(track.encode(heard))
            box.mux(track.encode(None))
    return path


def _sound(sound: str, seconds: float) -> Iterator[AudioFrame]:
    source = ("sine", "440:r=44100") if sound == "tone" else ("anullsrc", "r=44100")
    graph = Graph()
    nodes = [graph.add(*source), graph.add("aformat", "fltp:44100:stereo")]
    graph.link_nodes(*nodes, graph.add("abuffersink")).configure()
    taken = 0
    while taken < seconds * 44100:
        frame = graph.pull()
        assert isinstance(frame, AudioFrame)
        taken += frame.samples
        yield frame


def joined(path: Path, parts: Sequence[Path], *, late: int = 0) -> Path:
    """Pack the video packets of several clips into one track, from `late` ticks on."""
    with av.open(path, "w", options=FAST_START) as new:
        stream = None
        shift = late
        for part in parts:
            with av.open(part) as old:
                source = old.streams.video[0]
                stream = stream or new.add_stream_from_template(source)
                end = 0
                for packet in old.demux(source):
                    if packet.dts is None or packet.pts is None:
                        continue
                    packet.dts += shift
                    packet.pts += shift
                    end = max(end, packet.pts + (packet.duration or 0))
                    packet.stream = stream
                    new.mux(packet)
                shift = end
    return path


def patched(path: Path, box: bytes, offset: int, new: bytes) -> Path:
    """Overwrite bytes at an offset behind the first name of a box."""
    data = bytearray(path.read_bytes())
    at = data.index(box) + len(box) + offset
    data[at : at + len(new)] = new
    path.write_bytes(data)
    return path
