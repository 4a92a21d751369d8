"""A photo of soft dots on grey, and where they are found in a clip: how smoothness is measured."""

import math
from collections.abc import Iterable

from av.video.frame import VideoFrame

from functions.media.motion_plan import Move
from functions.media.photo import Photo

DOT = 6.0  # the standard deviation of a dot, in the photo's pixels
GROUND, BRIGHT = 40, 200
REACH = 22


def grey_photo(rows: list[bytes]) -> Photo:
    width, height = len(rows[0]), len(rows)
    frame = VideoFrame(width, height, "yuv444p")
    luma, *chroma = frame.planes
    luma.update(b"".join(row.ljust(luma.line_size, b"\0") for row in rows))
    for plane in chroma:
        plane.update(bytes([128]) * plane.buffer_size)
    return Photo(kind="png", width=width, height=height, frame=frame)


def dotted(width: int, height: int, dots: list[tuple[float, float]]) -> Photo:
    rows = [bytearray([GROUND]) * width for _ in range(height)]
    for cx, cy in dots:
        for y in range(int(cy) - 30, int(cy) + 30):
            for x in range(int(cx) - 30, int(cx) + 30):
                away = ((x + 0.5 - cx) ** 2 + (y + 0.5 - cy) ** 2) / (2 * DOT**2)
                rows[y][x] = round(GROUND + (BRIGHT - GROUND) * math.exp(-away))
    return grey_photo([bytes(row) for row in rows])


def centre(frame: VideoFrame, near_x: float, near_y: float) -> tuple[float, float]:
    """Return the centre of light around a place, in pixels."""
    plane = frame.planes[0]
    light = memoryview(plane)
    left, top = int(near_x) - REACH, int(near_y) - REACH
    total = across = down = 0.0
    for y in range(top, top + 2 * REACH + 1):
        start = y * plane.line_size + left
        row = [max(0, v - GROUND - 3) for v in light[start : start + 2 * REACH + 1]]
        weight = sum(row)
        total += weight
        across += sum(v * i for i, v in enumerate(row))
        down += weight * (y + 0.5)
    return left + 0.5 + across / total, down / total


def misses(
    frames: Iterable[VideoFrame], move: Move, dot: tuple[float, float], first: int = 0
) -> list[tuple[float, float]]:
    """Return how far the dot is from where the plan puts it, for each frame."""
    found = []
    for index, frame in enumerate(frames, start=first):
        window = move.at(index)
        x = (dot[0] - window.x) * move.width / window.w
        y = (dot[1] - window.y) * move.height / window.h
        seen = centre(frame, x, y)
        found.append((seen[0] - x, seen[1] - y))
    return found
