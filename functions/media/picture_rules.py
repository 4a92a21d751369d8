"""Rules on what decoding showed: is it whole, is it long enough, is there something to see."""

from collections.abc import Iterator

from functions.media.boxes import Listed
from functions.media.measured import Measured
from functions.media.verdict import Expected, Fault, Finding, fault, info, ok

# 8 bits and 4:2:0 are what every browser and phone decodes in hardware.
FORMATS = ("yuv420p", "yuvj420p")
PIXEL_ASPECT_MIN, PIXEL_ASPECT_MAX = 0.7, 1.5
ASPECTS_APART = 0.05  # between container and coded pictures; some players obey either
START_SECONDS_MAX = 0.5
# Another picture in the same shape is a matter of taste; another shape is another picture.
SHAPE_SHARE_MAX = 0.05

# Below 5 pictures a second nothing moves, it jumps; below 8 it is at least unusual.
RATE_MIN, RATE_USUAL = 5.0, 8.0
HOLD_SECONDS_MAX = 1.0
CHANGES_MIN = 3.0  # new pictures a second where something moves at all
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
FLASHES_PER_SECOND = 3.0  # beyond it strobing is held to endanger viewers
EMPTY_ROWS_SHARE = 0.1
SILENT_FAIL, SILENT_REVIEW = 0.98, 0.6
SOUND_PEAK_MIN = 0.003  # -50 dB: audible only with the volume turned up


def judge_measured(m: Measured, order: Expected, listed: Listed | None = None) -> Iterator[Finding]:
    """Yield findings in the order in which they explain a file best."""
    listed = listed or Listed()
    if m.opened:
        yield fault("fail", "open", m.opened, "opens", "unreadable")
        return
    yield from _integrity(m, listed.frames)
    if m.frames == 0 or m.seconds <= 0:
        return
    yield from _shape(m, order)
    promised = (listed.width, listed.height)
    if promised not in ((0, 0), (m.width, m.height)):
        limit = f"{listed.width} by {listed.height}"
        value = f"{m.width} by {m.height}"
        yield fault("review", "coded size", value, limit, "size_differs")
    yield from _length(m, order)
    yield from _rate(m, order)
    yield from _flicker(m)
    yield from _emptiness(m, order)
    yield from _oddity(m, order)
    yield from _stillness(m, order)
    if order.sound:
        yield from _sound(m, order)


def _integrity(m: Measured, listed: int) -> Iterator[Finding]:
    faults = {
        "decoding errors": m.errors,
        "damaged frames": m.corrupt_frames,
        "damaged packets": m.corrupt_packets,
        "impossible packets": m.impossible_packets,
    }
    for name, count in faults.items():
        yield fault("fail", name, count, "0", "damaged") if count else ok(name, 0, "0")
    # One may be missing: encoders and edit lists hide a first or last picture.
    least = max(m.packets, listed) - 1
    limit = f">= {least}"
    if m.frames == 0 or m.seconds <= 0:
        yield fault("fail", "frames", m.frames, limit, "no_pictures")
    elif m.frames < least and not m.stopped:
        yield fault("fail", "frames", m.frames, limit, "damaged")
    else:
        yield ok("frames", m.frames, limit)
    if m.backward:
        yield fault("fail", "frames out of order", m.backward, "0", "bad_times")


def _shape(m: Measured, order: Expected) -> Iterator[Finding]:
    limit = ", ".join(FORMATS)
    if m.pixel_format in FORMATS:
        yield ok("pixel format", m.pixel_format, limit)
    else:
        # Devices that play HEVC, AV1 and VP9 mostly play their ten bits too.
        ten = m.codec != "h264" and m.pixel_format == "yuv420p10le"
        yield fault("review" if ten else "fail", "pixel format", m.pixel_format, limit,
                    "pixel_format")  # fmt: skip
    if m.shapes > 1:
        yield fault("fail", "picture sizes", m.shapes, "1", "size_changes")
    apart = abs(m.coded_aspect / m.pixel_aspect - 1) > ASPECTS_APART if m.pixel_aspect else True
    if apart or not PIXEL_ASPECT_MIN <= m.pixel_aspect <= PIXEL_ASPECT_MAX:
        odd = m.coded_aspect if apart else m.pixel_aspect
        yield fault("review", "pixel aspect", odd, "0.7 to 1.5", "pixel_aspect")
    if m.rotation:
        yield fault("review", "rotation", m.rotation, "0", "rotated")
    yield from _ordered_size(m, order)


def _ordered_size(m: Measured, order: Expected) -> Iterator[Finding]:
    width, height = m.width, m.height
    if m.rotation % 180:
        width, height = height, width
    size = f"{width} by {height}"
    if order.width is None or order.height is None:
        yield info("size", size)
        return
    limit = f"{order.width} by {order.height}"
    if (width, height) == (order.width, order.height):
        yield ok("size", size, limit)
        return
    skew = abs(width * m.pixel_aspect / height / (order.width / order.height) - 1)
    yield fault("review" if skew <= SHAPE_SHARE_MAX else "fail", "size", size, limit, "wrong_size")


def _length(m: Measured, order: Expected) -> Iterator[Finding]:
    low, high = order.seconds - order.tolerance, order.seconds + order.tolerance
    limit, told = f"{low:.2f} to {high:.2f}", {"seconds": m.seconds, "ordered": order.seconds}
    if m.seconds < low and not m.stopped:
        yield fault("fail", "seconds", m.seconds, limit, "too_short", told)
    elif m.seconds > high:
        yield fault("review", "seconds", m.seconds, limit, "too_long", told)
    else:
        yield ok("seconds", m.seconds, limit)
    start = m.start_seconds
    if start > START_SECONDS_MAX:
        yield fault(
            "review", "start", start, f"<= {START_SECONDS_MAX}", "late_start", {"gap": start}
        )


def _rate(m: Measured, order: Expected) -> Iterator[Finding]:
    rate, name = m.frames / m.seconds, "frames per second"
    if order.may_hold:
        yield info(name, rate)
        return
    told = {"longest_hold": m.hold_longest_seconds}
    moving = m.seconds - m.still_seconds - m.grain_seconds
    changes = m.pictures_per_second * m.seconds / moving if moving > 0 else CHANGES_MIN
    if m.frames == 1:
        yield fault("fail", "frames", 1, "> 1", "frozen", {"still": m.seconds, "of": m.seconds})
    elif rate < RATE_MIN:
        yield fault("fail", name, rate, f">= {RATE_MIN:g}", "stutter", told)
    elif rate < RATE_USUAL or m.hold_longest_seconds > HOLD_SECONDS_MAX:
        yield fault("review", name, rate, f">= {RATE_USUAL:g}", "stutter", told)
    elif changes < CHANGES_MIN:
        yield fault("review", "pictures per second", changes, f">= {CHANGES_MIN:g}", "stutter")
    else:
        yield ok(name, rate, f">= {RATE_USUAL:g}")


def _flicker(m: Measured) -> Iterator[Finding]:
    dark, any_jump = m.flashes / m.seconds, m.strobes / m.seconds
    limit = f"< {FLASHES_PER_SECOND:g}"
    if dark >= FLASHES_PER_SECOND:
        yield fault("fail", "flashes per second", dark, limit, "flicker", {"flashes": m.flashes})
    elif any_jump >= FLASHES_PER_SECOND:
        yield fault(
            "review", "flashes per second", any_jump, limit, "flicker", {"flashes": m.strobes}
        )
    else:
        yield ok("flashes per second", max(dark, any_jump), limit)


def _emptiness(m: Measured, order: Expected) -> Iterator[Finding]:
    """Judge black, nearly black and one colour. A recorded page may be dark or blank."""
    black, dim, plain = (
        seconds / m.seconds for seconds in (m.black_seconds, m.dim_seconds, m.plain_seconds)
    )
    limit, told = f"< {BLACK_REVIEW:g}", {"black": m.black_seconds, "of": m.seconds}
    if black >= BLACK_REVIEW:
        mark: Fault = "fail" if black >= BLACK_FAIL else "review"
        yield fault(mark, "black", black, limit, "black", told)
    else:
        yield ok("black", black, limit)
    if dim >= BLACK_FAIL and not order.may_hold:
        yield fault("review", "dim", dim, f"< {BLACK_FAIL:g}", "dim", {"dim": m.dim_seconds})
    limit, told = f"< {PLAIN_REVIEW:g}", {"plain": m.plain_seconds, "of": m.seconds}
    if plain < PLAIN_REVIEW:
        yield ok("one colour", plain, limit)
        return
    dead = plain >= PLAIN_FAIL and m.plain_range <= PLAIN_RANGE_MAX and not order.may_hold
    yield fault("fail" if dead else "review", "one colour", plain, limit, "no_picture", told)


def _oddity(m: Measured, order: Expected) -> Iterator[Finding]:
    """Judge what only a person can decide."""
    noise, rows, period = m.noise_share, m.empty_rows_share, m.loop_seconds
    if noise >= NOISE_SHARE:
        yield fault("review", "noise", noise, f"< {NOISE_SHARE:g}", "noise", {"noise": noise})
    if period and not order.may_hold:  # a page may show the same animation for ever
        yield fault("review", "repeats after", period, "never", "loop", {"period": period})
    if rows >= EMPTY_ROWS_SHARE and not order.may_hold:  # a recorded page may well be grey
        limit = f"< {EMPTY_ROWS_SHARE:g}"
        yield fault("review", "empty rows", rows, limit, "half_picture", {"rows": rows})


def _stillness(m: Measured, order: Expected) -> Iterator[Finding]:
    still, either = m.still_seconds / m.seconds, (m.still_seconds + m.grain_seconds) / m.seconds
    told = {"still": m.still_seconds, "grain": m.grain_seconds, "of": m.seconds}
    name, limit = "standing still", f"< {STILL_REVIEW:g}"
    if order.still_allowed and still >= STILL_WHOLE:
        yield fault("review", name, still, f"< {STILL_WHOLE:g}", "still", told)
    elif order.still_allowed or order.may_hold:
        yield info(name, either)
    elif either < STILL_REVIEW and m.edge_seconds / m.seconds < EDGE_REVIEW:
        yield ok(name, either, limit)
    else:
        mark: Fault = "fail" if still >= STILL_FAIL and m.card_share < CARD_SHARE else "review"
        code = "frozen" if m.still_seconds >= m.grain_seconds else "grain"
        yield fault(mark, name, either, limit, code, told)


def _sound(m: Measured, order: Expected) -> Iterator[Finding]:
    low = min(order.seconds, m.seconds) - 2 * order.tolerance
    share = m.silent_seconds / m.sound_seconds if m.sound_seconds else 1.0
    if not m.sound_seconds or m.sound_errors:
        yield fault("fail", "sound", m.sound_errors, "0 errors", "no_sound")
    elif share >= SILENT_FAIL:
        yield fault("fail", "silence", share, f"< {SILENT_FAIL:g}", "silent", {"silent": share})
    elif share >= SILENT_REVIEW or m.sound_peak < SOUND_PEAK_MIN:
        yield fault("review", "silence", share, f"< {SILENT_REVIEW:g}", "quiet", {"silent": share})
    elif m.sound_seconds < low:
        yield fault("review", "sound seconds", m.sound_seconds, f">= {low:.2f}", "sound_short")
    else:
        yield ok("sound seconds", m.sound_seconds, f">= {low:.2f}")
