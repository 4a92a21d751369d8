"""Draws the photo that the demonstration films: a lake in the mountains before sunset.

Each column of the land is a few slices of ready-made gradients, and each line of the water is a
line of the land, moved a little; so a picture of two million pixels takes well under a second.
"""

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from av.codec.context import CodecContext
from av.filter import Graph
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

WIDTH, HEIGHT = 1600, 1200
HORIZON = 740
SUN = (1090.0, 560.0)
SUN_RADIUS = 44.0
# The sky has no detail: it is painted small and scaled up.
SKY_SCALE = 10
SHADES = 48
DETAIL = 10

Colour = tuple[float, float, float]
Planes = tuple[bytearray, bytearray, bytearray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A mountain range: where it stands, how high, how rough, and its colours from top to foot."""

    base: float
    height: float
    rough: float
    top: Colour
    foot: Colour
    light: float


RANGES = (
    Range(base=650, height=250, rough=0.50, top=(206, 184, 186), foot=(214, 176, 158), light=0.14),
    Range(base=690, height=230, rough=0.54, top=(150, 138, 164), foot=(196, 162, 158), light=0.20),
    Range(base=712, height=170, rough=0.54, top=(104, 102, 134), foot=(166, 142, 150), light=0.26),
    Range(base=728, height=105, rough=0.56, top=(64, 72, 94), foot=(118, 108, 122), light=0.32),
    Range(base=738, height=62, rough=0.60, top=(36, 48, 54), foot=(62, 66, 72), light=0.36),
    Range(base=744, height=40, rough=0.80, top=(16, 26, 26), foot=(26, 34, 34), light=0.4),
)


def draw_picture(path: Path, seed: int = 7) -> None:
    """Write a JPEG of 1600 x 1200 pixels; the same seed draws the same picture."""
    rng = random.Random(seed)  # noqa: S311 - a landscape, not a secret
    land = _filter(
        _sky(), ("scale", f"{WIDTH}:{HEIGHT}:flags=bicubic"), ("transpose", "cclock_flip")
    )
    columns = _planes(land)
    for mountains in RANGES:
        _raise(columns, mountains, rng)
    picture = _filter(_frame(columns, HEIGHT, WIDTH), ("transpose", "cclock_flip"))
    lines = _planes(picture)
    _flood(lines, rng)
    finished = _filter(
        _frame(lines, WIDTH, HEIGHT),
        ("noise", f"alls=7:allf=u:all_seed={seed}"),
        ("scale", "out_color_matrix=bt601:out_range=full"),
        ("format", "yuvj444p"),
    )
    path.write_bytes(_jpeg(finished))


def _sky() -> VideoFrame:
    width, height = WIDTH // SKY_SCALE, HEIGHT // SKY_SCALE
    planes: Planes = (bytearray(), bytearray(), bytearray())
    for y in range(height):
        depth = min(1.0, y * SKY_SCALE / HORIZON)
        for x in range(width):
            away = math.hypot(x * SKY_SCALE - SUN[0], (y * SKY_SCALE - SUN[1]) * 1.3)
            glow = math.exp(-away / 300) + 0.8 * math.exp(-((away / 90) ** 2))
            cloud = _clouds(x / width, depth) * (0.35 + 0.65 * glow)
            for plane, low, high, sun, veil in zip(
                planes, (236, 172, 128), (52, 88, 150), (70, 90, 96), (60, 34, 22), strict=True
            ):
                mixed = high + (low - high) * depth**1.5
                plane.append(_byte(mixed + sun * glow + veil * cloud))
    return _frame(planes, width, height)


def _clouds(across: float, depth: float) -> float:
    """Return 0..1: long veils, denser towards the horizon."""
    wave = math.sin(across * 9 + depth * 14) + math.sin(across * 23 - depth * 31 + 1.7) * 0.6
    wave += math.sin(across * 47 + depth * 67 + 0.6) * 0.35
    return max(0.0, wave) * 0.5 * depth


def _raise(columns: Planes, mountains: Range, rng: random.Random) -> None:
    """Draw a range over the columns: each is a slice of a gradient, lit by its slope."""
    ridge = _ridge(mountains, rng)
    shades = [_gradient(mountains, shade) for shade in range(SHADES)]
    drift = 0.0
    for x in range(WIDTH):
        drift = 0.9 * drift + rng.uniform(-0.035, 0.035)
        # The sun stands on the right: what falls towards it is lit.
        slope = ridge[min(WIDTH - 1, x + 9)] - ridge[max(0, x - 9)]
        lit = 0.5 + slope / 40 * (1 if x < SUN[0] else -1) + drift
        shade = shades[max(0, min(SHADES - 1, int(lit * SHADES)))]
        top = min(HORIZON, int(ridge[x]))
        start = x * HEIGHT
        for plane, gradient in zip(columns, shade, strict=True):
            plane[start + top : start + HORIZON] = gradient[: HORIZON - top]


def _ridge(mountains: Range, rng: random.Random) -> list[float]:
    """Midpoint displacement: rough at every scale, as rock is."""
    points = [rng.uniform(-1, 1) for _ in range(5)]
    size = 1.0
    for _ in range(DETAIL):
        size *= mountains.rough
        between = ((a + b) / 2 + rng.uniform(-size, size) for a, b in pairwise(points))
        points = [p for pair in zip(points, between, strict=False) for p in pair] + points[-1:]
    step = (len(points) - 1) / WIDTH
    heights = [0.5 + 0.5 * points[int(x * step)] for x in range(WIDTH)]
    return [mountains.base - mountains.height * max(0.0, height) for height in heights]


def _gradient(mountains: Range, shade: int) -> tuple[bytes, bytes, bytes]:
    lit = 1 + mountains.light * (shade / (SHADES - 1) - 0.5) * 2
    length = HORIZON
    reach = mountains.height * 1.2
    red, green, blue = (
        bytes(_byte((top + (foot - top) * min(1.0, i / reach)) * lit * warm) for i in range(length))
        for top, foot, warm in zip(mountains.top, mountains.foot, (1.08, 1.0, 0.94), strict=True)
    )
    return red, green, blue


def _flood(lines: Planes, rng: random.Random) -> None:
    """Mirror the land in the water below, darker, bluer and moved by ripples that grow nearer."""
    dark = [bytes(_byte(v * gain + lift) for v in range(256)) for gain, lift in _WATER]
    bright = [bytes(_byte(v * 1.05 + 34) for v in range(256)) for _ in range(3)]
    for y in range(HORIZON, HEIGHT):
        near = (y - HORIZON) / (HEIGHT - HORIZON)
        source = max(0, int(HORIZON - 1 - (y - HORIZON) * 1.25 - rng.uniform(0, 9) * near))
        wave = math.sin(y * 0.9 / (0.25 + near)) + math.sin(y * 0.37 + 2) * 0.7
        shift = int(wave * (1 + 13 * near))
        for plane, table, light in zip(lines, dark, bright, strict=True):
            line = plane[source * WIDTH : (source + 1) * WIDTH]
            plane[y * WIDTH : (y + 1) * WIDTH] = _moved(line, shift).translate(table)
            _glitter(plane, y, near, light, random.Random(y * 31 + 7))  # noqa: S311


def _moved(line: bytearray, shift: int) -> bytearray:
    """Move a line sideways; what comes in from outside is the line's end, mirrored."""
    if shift < 0:
        return line[:-shift][::-1] + line[:shift]
    return line[shift:] + line[WIDTH - shift :][::-1]


_WATER = ((0.74, -4), (0.80, 0), (0.86, 8))


def _glitter(plane: bytearray, y: int, near: float, light: bytes, rng: random.Random) -> None:
    """Lay short bright strokes on the waves below the sun."""
    for _ in range(3):
        length = int(rng.uniform(4, 10 + 40 * near))
        x = int(rng.gauss(SUN[0], 22 + 120 * near))
        if 0 <= x < WIDTH - length and rng.random() < 1 - 0.5 * near:
            start = y * WIDTH + x
            plane[start : start + length] = plane[start : start + length].translate(light)


def _byte(value: float) -> int:
    return max(0, min(255, int(value)))


def _frame(planes: Planes, width: int, height: int) -> VideoFrame:
    frame = VideoFrame(width, height, "gbrp")
    red, green, blue = planes
    for plane, data in zip(frame.planes, (green, blue, red), strict=True):
        gap = bytes(plane.line_size - width)
        rows = (bytes(data[y * width : (y + 1) * width]) + gap for y in range(height))
        plane.update(b"".join(rows))
    return frame


def _planes(frame: VideoFrame) -> Planes:
    green, blue, red = (
        bytearray().join(
            memoryview(plane)[y * plane.line_size : y * plane.line_size + frame.width]
            for y in range(frame.height)
        )
        for plane in frame.planes
    )
    return red, green, blue


def _filter(frame: VideoFrame, *steps: tuple[str, str]) -> VideoFrame:
    graph = Graph()
    size = f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}"
    source = graph.add("buffer", f"{size}:time_base=1/1:colorspace=gbr:range=pc")
    sink = graph.add("buffersink")
    graph.link_nodes(source, *(graph.add(*step) for step in steps), sink).configure()
    frame.pts = 0
    source.push(frame)
    result = sink.pull()
    if not isinstance(result, VideoFrame):
        raise TypeError(type(result))
    return result


def _jpeg(frame: VideoFrame) -> bytes:
    codec = CodecContext.create("mjpeg", "w")
    if not isinstance(codec, VideoCodecContext):
        raise TypeError(type(codec))
    codec.width, codec.height, codec.pix_fmt = frame.width, frame.height, frame.format.name
    codec.time_base = Fraction(1)
    codec.qmin = codec.qmax = 3
    packets = [*codec.encode(frame), *codec.encode(None)]
    return b"".join(bytes(packet) for packet in packets)
