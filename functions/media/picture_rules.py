"""Rules on what decoding showed: is it whole, is it long enough, is there something to see."""

from collections.abc import Iterator

from functions.media.measured import Measured
from functions.media.verdict import Expected, Finding, fault, info, ok

# 8 bits and 4:2:0 are what every browser and phone decodes in hardware.
FORMATS = ("yuv420p", "yuvj420p", "nv12")
PIXEL_ASPECT_MIN, PIXEL_ASPECT_MAX = 0.7, 1.5
START_SECONDS_MAX = 0.5

# Below 5 pictures a second nothing moves, it jumps; below 8 it is at least unusual.
RATE_MIN, RATE_USUAL = 5.0, 8.0
# Shares of the length. A fade to or from black takes up to 0.6 s, 6 % of 10 s.
BLACK_FAIL, BLACK_REVIEW = 0.5, 0.15
PLAIN_FAIL, PLAIN_REVIEW = 0.9, 0.5
PLAIN_RANGE_MAX = 12.0  # levels: more, and the colour was made to change
# What runs out of pictures holds the last one to the end; a quiet shot amid others is content.
STILL_FAIL, STILL_REVIEW, EDGE_REVIEW = 0.7, 0.3, 0.15
STILL_WHOLE = 0.97
# A flat ground with lettering may be meant to stand still, a photographic picture may not.
CARD_SHARE = 0.8
NOISE_SHARE = 0.8
FLASHES_PER_SECOND = 3.0  # the limit beyond which strobing is held to endanger viewers
EMPTY_ROWS_SHARE = 0.1
HOLD_SECONDS_MAX = 1.0
SILENT_FAIL, SILENT_REVIEW = 0.98, 0.6
SOUND_PEAK_MIN = 0.003  # -50 dB: audible only with the volume turned up


def judge_measured(m: Measured, order: Expected) -> Iterator[Finding]:
    """Yield findings in the order in which they explain a file best."""
    if m.opened:
        yield fault("fail", "open", m.opened, "opens", code="unreadable",
                    reason="The video cannot be opened.")  # fmt: skip
        return
    yield from _integrity(m)
    if m.frames == 0:
        return
    yield from _shape(m, order)
    yield from _length(m, order)
    yield from _rate(m, order)
    yield from _emptiness(m)
    yield from _oddity(m)
    yield from _stillness(m, order)
    if order.sound:
        yield from _sound(m, order)


def _integrity(m: Measured) -> Iterator[Finding]:
    faults = {
        "decoding errors": m.errors,
        "damaged frames": m.corrupt_frames,
        "damaged packets": m.corrupt_packets,
        "impossible packets": m.impossible_packets,
    }
    for name, count in faults.items():
        if count:
            yield fault("fail", name, count, "0", code="damaged",
                        reason="The video is damaged: some pictures cannot be shown "
                        "as they were made.")  # fmt: skip
        else:
            yield ok(name, 0, "0")
    limit = f">= {m.packets - 1}"
    if m.frames == 0:
        yield fault("fail", "frames", 0, limit, code="no_pictures",
                    reason="The video contains no picture that can be shown.")  # fmt: skip
    elif m.frames < m.packets - 1 and not m.stopped:
        yield fault("fail", "frames", m.frames, limit, code="damaged",
                    reason="Some pictures of the video are missing.")  # fmt: skip
    else:
        yield ok("frames", m.frames, limit)
    if m.backward:
        yield fault("fail", "frames out of order", m.backward, "0", code="bad_times",
                    reason="Pictures of the video are out of order.")  # fmt: skip


def _shape(m: Measured, order: Expected) -> Iterator[Finding]:
    if m.pixel_format not in FORMATS:
        # Where the codec itself goes to review, ten bits belong to it.
        mark = "review" if m.codec != "h264" and m.pixel_format == "yuv420p10le" else "fail"
        yield fault(mark, "pixel format", m.pixel_format, "yuv420p", code="pixel_format",
                    reason="The colours are stored in a way that browsers and phones "
                    "cannot play.")  # fmt: skip
    else:
        yield ok("pixel format", m.pixel_format, "yuv420p")
    if m.shapes > 1:
        yield fault("fail", "picture sizes", m.shapes, "1", code="size_changes",
                    reason="The picture changes its size in the middle of the video.")  # fmt: skip
    if not PIXEL_ASPECT_MIN <= m.pixel_aspect <= PIXEL_ASPECT_MAX:
        yield fault("review", "pixel aspect", m.pixel_aspect, "0.7 to 1.5", code="pixel_aspect",
                    reason="The picture looks squeezed in some players.")  # fmt: skip
    if m.rotation % 360:
        yield fault("review", "rotation", m.rotation, "0", code="rotated",
                    reason="The picture lies on its side in players that do not turn it.")  # fmt: skip
    yield from _ordered_size(m, order)


def _ordered_size(m: Measured, order: Expected) -> Iterator[Finding]:
    width, height = m.width, m.height
    if m.rotation % 180:
        width, height = height, width
    size = f"{width}x{height}"
    if order.width is None or order.height is None:
        yield info("size", size)
    elif (width, height) == (order.width, order.height):
        yield ok("size", size, f"{order.width}x{order.height}")
    else:
        # Within a macroblock of the order, or smaller but in the right shape, it is a matter
        # of taste; the wrong shape shows something else than was ordered.
        skew = abs(width * m.pixel_aspect / height / (order.width / order.height) - 1)
        mark = "review" if skew <= 0.05 else "fail"  # noqa: PLR2004
        yield fault(mark, "size", size, f"{order.width}x{order.height}", code="wrong_size",
                    reason=f"The picture is {width} by {height} instead of "
                    f"{order.width} by {order.height} pixels.")  # fmt: skip


def _length(m: Measured, order: Expected) -> Iterator[Finding]:
    low, high = order.seconds - order.tolerance, order.seconds + order.tolerance
    limit = f"{low:.2f} to {high:.2f}"
    if m.seconds < low and not m.stopped:
        yield fault("fail", "seconds", m.seconds, limit, code="too_short",
                    reason=f"The video lasts {m.seconds:.1f} seconds instead of "
                    f"{order.seconds:g}.", seconds=m.seconds)  # fmt: skip
    elif m.seconds > high:
        yield fault("review", "seconds", m.seconds, limit, code="too_long",
                    reason=f"The video lasts {m.seconds:.1f} seconds instead of "
                    f"{order.seconds:g}.", seconds=m.seconds)  # fmt: skip
    else:
        yield ok("seconds", m.seconds, limit)
    if m.start_seconds > START_SECONDS_MAX:
        yield fault("review", "start", m.start_seconds, f"<= {START_SECONDS_MAX}",
                    code="late_start", gap=m.start_seconds,
                    reason=f"The picture starts only after {m.start_seconds:.1f} seconds.")  # fmt: skip


def _rate(m: Measured, order: Expected) -> Iterator[Finding]:
    rate = m.frames / m.seconds if m.seconds > 0 else 0.0
    limit = f">= {RATE_MIN:g}"
    if order.held_allowed:
        yield info("frames per second", rate)
    elif m.frames == 1:
        yield fault("fail", "frames", 1, "> 1", code="frozen",
                    reason="The video is a single picture.", frozen=m.seconds)  # fmt: skip
    elif rate < RATE_MIN:
        yield fault("fail", "frames per second", rate, limit, code="stutter",
                    reason=f"The video shows only {rate:.1f} pictures a second.")  # fmt: skip
    elif rate < RATE_USUAL or m.hold_longest_seconds > HOLD_SECONDS_MAX:
        yield fault("review", "frames per second", rate, f">= {RATE_USUAL:g}", code="stutter",
                    reason="The video moves in jumps.",
                    longest_hold=m.hold_longest_seconds)  # fmt: skip
    else:
        yield ok("frames per second", rate, limit)


def _emptiness(m: Measured) -> Iterator[Finding]:
    """Black, one colour, flashing."""
    black, plain = m.black_seconds / m.seconds, m.plain_seconds / m.seconds
    flashing = max(m.flashes, m.strobes) / m.seconds
    limit = f"< {BLACK_REVIEW:g}"
    if m.flashes / m.seconds >= FLASHES_PER_SECOND:
        yield fault("fail", "flashes per second", flashing, f"< {FLASHES_PER_SECOND:g}",
                    code="flicker", reason="The picture flickers between black and "
                    "the scene.", flashes=m.flashes)  # fmt: skip
    elif flashing >= FLASHES_PER_SECOND:
        yield fault("review", "flashes per second", flashing, f"< {FLASHES_PER_SECOND:g}",
                    code="flicker", reason="The picture flickers.", flashes=m.strobes)  # fmt: skip
    if black >= BLACK_REVIEW:
        yield fault("fail" if black >= BLACK_FAIL else "review", "black", black, limit,
                    code="black", black=m.black_seconds,
                    reason=f"The picture is black for {m.black_seconds:.1f} of "
                    f"{m.seconds:.1f} seconds.")  # fmt: skip
    else:
        yield ok("black", black, limit)
    if m.dim_seconds / m.seconds >= BLACK_FAIL:
        yield fault("review", "dim", m.dim_seconds / m.seconds, f"< {BLACK_FAIL:g}", code="dim",
                    dim=m.dim_seconds, reason="The picture is so dark that little can be "
                    "seen.")  # fmt: skip
    limit = f"< {PLAIN_REVIEW:g}"
    if plain < PLAIN_REVIEW:
        yield ok("one colour", plain, limit)
        return
    dead = plain >= PLAIN_FAIL and m.plain_range <= PLAIN_RANGE_MAX
    yield fault("fail" if dead else "review", "one colour", plain, limit, code="no_picture",
                plain=m.plain_seconds, reason="The video shows one colour instead of a "
                f"picture for {m.plain_seconds:.1f} of {m.seconds:.1f} seconds.")  # fmt: skip


def _oddity(m: Measured) -> Iterator[Finding]:
    """What only a person can judge."""
    if m.noise_share >= NOISE_SHARE:
        yield fault("review", "noise", m.noise_share, f"< {NOISE_SHARE:g}", code="noise",
                    reason="The video looks like noise.", noise=m.noise_share)  # fmt: skip
    if m.loop_seconds:
        yield fault("review", "repeats after", m.loop_seconds, "never", code="loop",
                    reason=f"The video is the same {m.loop_seconds:.1f} seconds again and "
                    "again.", period=m.loop_seconds)  # fmt: skip
    if m.empty_rows_share >= EMPTY_ROWS_SHARE:
        yield fault("review", "empty rows", m.empty_rows_share, f"< {EMPTY_ROWS_SHARE:g}",
                    code="half_picture", rows=m.empty_rows_share,
                    reason="The lower part of the picture is missing.")  # fmt: skip


def _stillness(m: Measured, order: Expected) -> Iterator[Finding]:
    still, either = m.still_seconds / m.seconds, (m.still_seconds + m.grain_seconds) / m.seconds
    evidence = {"still": m.still_seconds, "grain": m.grain_seconds}
    limit = f"< {STILL_REVIEW:g}"
    if order.held_allowed:
        yield info("standing still", either)
        return
    if order.still_allowed:
        if still >= STILL_WHOLE:
            yield fault("review", "standing still", still, f"< {STILL_WHOLE:g}", code="still",
                        reason="The picture does not move at all.", **evidence)  # fmt: skip
        else:
            yield info("standing still", either)
        return
    if either < STILL_REVIEW and m.edge_seconds / m.seconds < EDGE_REVIEW:
        yield ok("standing still", either, limit)
        return
    mark = "fail" if still >= STILL_FAIL and m.card_share < CARD_SHARE else "review"
    yield fault(mark, "standing still", either, limit, code="frozen", **evidence,
                reason=f"The picture stands still for {m.still_seconds + m.grain_seconds:.1f} of "
                f"{m.seconds:.1f} seconds.")  # fmt: skip


def _sound(m: Measured, order: Expected) -> Iterator[Finding]:
    low = min(order.seconds, m.seconds) - 2 * order.tolerance
    share = m.silent_seconds / m.sound_seconds if m.sound_seconds else 1.0
    if not m.sound_seconds or m.sound_errors:
        yield fault("fail", "sound", m.sound_errors, "0 errors", code="no_sound",
                    reason="Sound was ordered and cannot be played.")  # fmt: skip
    elif share >= SILENT_FAIL:
        yield fault("fail", "silence", share, f"< {SILENT_FAIL:g}", code="silent",
                    reason="Sound was ordered and the video is silent.", silent=share)  # fmt: skip
    elif share >= SILENT_REVIEW or m.sound_peak < SOUND_PEAK_MIN:
        yield fault("review", "silence", share, f"< {SILENT_REVIEW:g}", code="quiet",
                    reason="The video is nearly silent.", silent=share)  # fmt: skip
    elif m.sound_seconds < low:
        yield fault("review", "sound seconds", m.sound_seconds, f">= {low:.2f}",
                    code="sound_short", reason="The sound ends before the picture.",
                    sound=m.sound_seconds)  # fmt: skip
    else:
        yield ok("sound seconds", m.sound_seconds, f">= {low:.2f}")
