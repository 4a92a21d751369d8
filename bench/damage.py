"""Damage trials and a header fuzz: what the inspection finds, and what it survives.

python -m bench.damage                 all of it, a few minutes
python -m bench.damage --trials 20     fewer trials per kind of damage
python -m bench.damage --fuzz 200      fewer files in the fuzz
"""

import argparse
import collections
import hashlib
import io
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av

from bench.films import clip
from functions.media.boxes import read_layout
from functions.media.container_rules import judge_layout
from functions.media.decode_pass import measure
from functions.media.inspect import inspect_sandboxed
from functions.media.picture_rules import judge_measured
from functions.media.sandbox import Limits
from functions.media.verdict import Expected, Facts, NotVerified, conclude, hopeless

SECONDS = 6
# Only damage is judged here, not the length.
ORDER = Expected(seconds=SECONDS, codecs=("h264", "hevc", "av1"), tolerance_seconds=60)
Dice = random.Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A clean file, where its media lies, and the checksums of its pictures."""

    data: bytes
    start: int
    end: int
    pictures: tuple[bytes, ...]


def over(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def flip(m: Media, dice: Dice) -> bytes:
    at = dice.randrange(m.start, m.end)
    return over(m.data, at, bytes([m.data[at] ^ (1 << dice.randrange(8))]))


def noise(size: int) -> Callable[[Media, Dice], bytes]:
    return lambda m, dice: over(m.data, dice.randrange(m.start, m.end - size), dice.randbytes(size))


def zeros(size: int) -> Callable[[Media, Dice], bytes]:
    return lambda m, dice: over(m.data, dice.randrange(m.start, m.end - size), bytes(size))


def cut(m: Media, dice: Dice) -> bytes:
    return m.data[: dice.randrange(m.start, m.end)]


def hole(m: Media, dice: Dice) -> bytes:
    size = dice.randrange(1, 5000)
    at = dice.randrange(m.start, m.end - size)
    return m.data[:at] + m.data[at + size :]


DAMAGE: dict[str, Callable[[Media, Dice], bytes]] = {
    "1 bit": flip,
    "1 byte": noise(1),
    "16 random bytes": noise(16),
    "256 random bytes": noise(256),
    "512 zeros": zeros(512),
    "4 KiB zeros": zeros(4096),
    "64 KiB zeros": zeros(65536),
    "bytes missing": hole,
    "cut": cut,
}


def pictures(data: bytes) -> tuple[bytes, ...]:
    """Checksums of what a player would show, as far as it gets."""
    sums: list[bytes] = []
    try:
        with av.open(io.BytesIO(data), "r", format="mov", metadata_errors="ignore") as box:
            stream = box.streams.video[0]
            stream.thread_type = "NONE"
            for frame in box.decode(stream):
                digest = hashlib.blake2b(digest_size=16)
                for plane in frame.planes:
                    digest.update(memoryview(plane))
                sums.append(digest.digest())
    except (av.FFmpegError, EOFError, ValueError, OSError, IndexError):
        pass
    return tuple(sums)


def ruling(data: bytes) -> str:
    file = io.BytesIO(data)
    layout = read_layout(file)
    findings = list(judge_layout(layout, ORDER))
    if not hopeless(findings):
        file.seek(0)
        findings += judge_measured(measure(file, ORDER), ORDER, layout.listed)
    return conclude(findings, Facts()).verdict


def media_of(path: Path) -> Media:
    data = path.read_bytes()
    box = next(box for box in read_layout(io.BytesIO(data)).boxes if box.kind == "mdat")
    return Media(data=data, start=box.body, end=box.end, pictures=pictures(data))


def trials(codec: str, media: Media, count: int) -> None:
    if ruling(media.data) != "accept":
        sys.exit(f"the clean {codec} film is not accepted")
    all_found = all_changed = 0
    for name, damage in DAMAGE.items():
        found = missed = worst = 0
        for seed in range(count):
            mutant = damage(media, Dice(f"{codec} {name} {seed}"))
            if ruling(mutant) != "accept":
                found += 1
                continue
            shown = pictures(mutant)
            wrong = sum(a != b for a, b in zip(shown, media.pictures, strict=False))
            wrong += abs(len(shown) - len(media.pictures))
            missed += wrong > 0
            worst = max(worst, wrong)
        all_found, all_changed = all_found + found, all_changed + found + missed
        share = found / max(1, found + missed)
        print(f"{codec:6} {name:18} found {found:3} of {found + missed:3} = {share:4.0%}"
              f"   worst missed: {worst} pictures", flush=True)  # fmt: skip
    print(f"{codec:6} {'all':18} found {all_found} of {all_changed} = "
          f"{all_found / all_changed:.1%}\n", flush=True)  # fmt: skip


def mutated(data: bytes, dice: Dice) -> bytes:
    """Break the header: bytes, numbers and lengths in it, or its end."""
    start = data.index(b"moov") - 4
    end = start + int.from_bytes(data[start : start + 4], "big")
    mutant = bytearray(data)
    for _ in range(dice.choice((1, 2, 5, 20, 100))):
        at = dice.randrange(0, end)
        kind = dice.randrange(4)
        if kind == 0:
            mutant[at] = dice.randrange(256)
        elif kind == 1:
            mutant[at : at + 4] = dice.choice((b"\xff" * 4, bytes(4), b"\x7f" + b"\xff" * 3))
        elif kind == 2:  # noqa: PLR2004
            mutant[at] ^= 1 << dice.randrange(8)
        else:
            other = dice.randrange(0, end - 16)
            mutant[at : at + 8] = mutant[other : other + 8]
    if dice.random() < 0.1:  # noqa: PLR2004
        del mutant[dice.randrange(start, len(mutant)) :]
    return bytes(mutant)


def fuzz(media: Media, count: int) -> None:
    order = Expected(seconds=1)
    outcomes: collections.Counter[str] = collections.Counter()
    wrong = one = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mp4"
        for seed in range(count):
            data = mutated(media.data, Dice(f"fuzz {seed}"))
            path.write_bytes(data)
            started = time.perf_counter()
            outcome = inspect_sandboxed(path, order, limits=Limits(wall_seconds=20))
            slowest = max(slowest, time.perf_counter() - started)
            if isinstance(outcome, NotVerified):
                outcomes[f"not verified: {outcome.code}"] += 1
                continue
            outcomes[outcome.verdict] += 1
            if outcome.verdict == "accept":
                lost = len(set(media.pictures) - set(pictures(data)))
                one += lost == 1
                wrong += lost > 1
                if lost > 1:
                    print(f"fuzz {seed}: accepted, {lost} pictures lost")
    told = ", ".join(f"{name} {number}" for name, number in sorted(outcomes.items()))
    print(f"fuzz of {count} headers: {told}")
    print(f"accepted although one picture is lost: {one}, more than one: {wrong}")
    print(f"slowest {slowest:.2f} s; the parent is still here")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--fuzz", type=int, default=2000)
    parser.add_argument("--codecs", default="h264,av1,hevc")
    parser.add_argument("--film", type=Path, help="damage this MP4 instead of made ones")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.trials:
            for codec in given.codecs.split(","):
                film = given.film or clip(Path(folder) / f"{codec}.mp4", codec, SECONDS)
                media = media_of(film)
                trials(codec, media, given.trials)
        if given.fuzz:
            small = clip(Path(folder) / "small.mp4", "h264", 1, size=(160, 90))
            fuzz(media_of(small), given.fuzz)


if __name__ == "__main__":
    main()
