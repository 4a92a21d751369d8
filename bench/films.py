"""Films to measure on, made here so that nothing has to be fetched."""

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.filter import Graph

RATE = 24
LOOP_SECONDS = 10  # a minute is the same ten seconds packed six times: decoding does not care

# A test picture decodes twice as fast as anything filmed, so it is the hardest to keep up with.
FILMS = {
    f"{look} {height}p {seconds} s": (width, height, seconds, look)
    for look in ("film", "test")
    for width, height in ((1280, 720), (1920, 1080))
    for seconds in (10, 60)
}
BITS = {720: "5300000", 1080: "8900000"}


def film(folder: Path, width: int, height: int, seconds: int, look: str) -> Path:
    """Encode a film; `film` has texture and grain, `test` is flat and sharp."""
    if look == "film":
        steps = [("mandelbrot", f"s={width}x{height}:rate={RATE}"), ("noise", "alls=6:allf=t")]
        options = {"preset": "veryfast", "b": BITS[height]}
    else:
        steps = [("testsrc2", f"s={width}x{height}:rate={RATE}")]
        options = {"preset": "veryfast"}
    short = folder / f"{look}-{height}.mp4"
    if not short.exists():
        _encode(short, steps, options, width, height)
    path = folder / f"{look}-{height}-{seconds}.mp4"
    _repeat(short, path, seconds // LOOP_SECONDS)
    return path


def _encode(
    path: Path,
    steps: list[tuple[str, str]],
    options: dict[str, str],
    width: int,
    height: int,
    *,
    encoder: str = "libx264",
    seconds: int = LOOP_SECONDS,
) -> None:
    graph = Graph()
    nodes = [graph.add(*step) for step in [*steps, ("format", "yuv420p")]]
    graph.link_nodes(*nodes, graph.add("buffersink")).configure()
    with av.open(path, "w", options={"movflags": "faststart"}) as box:
        stream: Any = box.add_stream(encoder, rate=RATE, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.thread_type = "FRAME"  # slices, one per thread, are not what services deliver
        for index in range(RATE * seconds):
            frame = graph.vpull()
            frame.pts, frame.time_base, frame.pict_type = index, Fraction(1, RATE), 0
            box.mux(stream.encode(frame))
        box.mux(stream.encode(None))


ENCODERS = {
    "h264": ("libx264", {"preset": "medium", "b": "1500000"}),
    "hevc": ("libx265", {"preset": "fast", "b": "1500000", "x265-params": "log-level=none"}),
    "av1": ("libsvtav1", {"preset": "10", "b": "1500000"}),
}


def clip(path: Path, codec: str, seconds: int, size: tuple[int, int] = (640, 360)) -> Path:
    """Encode a short film with texture, movement and grain."""
    width, height = size
    steps = [
        ("mandelbrot", f"s={width}x{height}:rate={RATE}:start_scale=2:end_scale=0.5"),
        ("noise", "alls=4:allf=t"),
    ]
    encoder, options = ENCODERS[codec]
    _encode(path, steps, options, width, height, encoder=encoder, seconds=seconds)
    return path


def _repeat(short: Path, path: Path, times: int) -> None:
    with av.open(path, "w", options={"movflags": "faststart"}) as new:
        stream = None
        for turn in range(times):
            with av.open(short) as old:
                source = old.streams.video[0]
                stream = stream or new.add_stream_from_template(source)
                shift = round(turn * LOOP_SECONDS / (source.time_base or 1))
                for packet in old.demux(source):
                    if packet.dts is None or packet.pts is None:
                        continue
                    packet.dts += shift
                    packet.pts += shift
                    packet.stream = stream
                    new.mux(packet)


def early_rejects(folder: Path) -> dict[str, Path]:
    """Files that must be refused without decoding."""
    whole = (folder / "film-720.mp4").read_bytes()
    contents = {
        "web page": b"<!DOCTYPE html><html><body>Access denied</body></html>",
        "cut in half": whole[: len(whole) // 2],
        "cut by one byte": whole[:-1],
        "encryption mark": whole.replace(b"avc1", b"encv"),
        "no index": whole.replace(b"moov", b"free", 1),
        "a gigabyte of zeros": b"",
    }
    paths = {}
    for name, content in contents.items():
        path = folder / f"{name}.mp4"
        path.write_bytes(content)
        paths[name] = path
    os.truncate(paths["a gigabyte of zeros"], 1 << 30)
    return paths
