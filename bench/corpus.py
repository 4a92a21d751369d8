"""Run the inspection over a corpus of good and bad files, and other tools beside it.

    python -m bench.corpus                  a confusion table and each miss
    python -m bench.corpus --table          Markdown, side by side with ffprobe, ffmpeg, mediainfo
    python -m bench.corpus --index FILE     another corpus; paths are relative to its folder

The other tools are Debian's packages `ffmpeg` and `mediainfo`. A corpus is a JSON file with
`files`: name, path, ordered_seconds, expected (accept, reject, needs human), fault.
"""

import argparse
import collections
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions.media.inspect import inspect_sandboxed
from functions.media.verdict import Expected, Verdict

INDEX = Path(__file__).parents[2] / "shared" / "corpus" / "media" / "index.json"
EXPECTED = {"accept": "accept", "reject": "reject", "needs human": "review", "review": "review"}
TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One file: what it deserves, what it got, and which tools raised an alarm."""

    name: str
    fault: str
    expected: str
    verdict: str
    code: str
    milliseconds: float
    alarms: frozenset[str] = frozenset()


def call(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False,
        timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ffprobe_status(path: Path) -> bool:
    return call("ffprobe", "-v", "error", str(path)).returncode != 0


def ffprobe_anything(path: Path) -> bool:
    done = call("ffprobe", "-v", "error", "-show_entries", "stream=codec_type", str(path))
    return done.returncode != 0 or bool(done.stderr) or "codec_type=video" not in done.stdout


def ffmpeg_status(path: Path) -> bool:
    return call("ffmpeg", "-v", "error", "-i", str(path), "-f", "null", "-").returncode != 0


def ffmpeg_anything(path: Path) -> bool:
    done = call("ffmpeg", "-v", "error", "-i", str(path), "-f", "null", "-")
    return done.returncode != 0 or bool(done.stderr)


def mediainfo_anything(path: Path) -> bool:
    done = call("mediainfo", "--Full", "--Output=JSON", str(path))
    try:
        media = json.loads(done.stdout).get("media") or {}
    except ValueError:
        return True
    tracks: list[dict[str, Any]] = media.get("track", [])
    types = {track.get("@type") for track in tracks}
    extra = json.dumps(tracks)
    return done.returncode != 0 or "Video" not in types or any(
        word in extra for word in ("IsTruncated", "ConformanceErrors")
    )  # fmt: skip


TOOLS: dict[str, Callable[[Path], bool]] = {
    "ffprobe, exit status": ffprobe_status,
    "ffprobe, any message or no video": ffprobe_anything,
    "ffmpeg -f null, exit status": ffmpeg_status,
    "ffmpeg -f null, any message": ffmpeg_anything,
    "mediainfo, truncated, conformance or no video": mediainfo_anything,
}


def alarms(path: Path) -> frozenset[str]:
    found = set()
    for name, tool in TOOLS.items():
        try:
            if tool(path):
                found.add(name)
        except subprocess.TimeoutExpired:
            found.add(name)
    return frozenset(found)


def results(index: Path, *, tools: bool) -> Iterable[Result]:
    for entry in json.loads(index.read_text(encoding="utf-8"))["files"]:
        path = index.parent / entry["path"]
        started = time.perf_counter()
        outcome = inspect_sandboxed(path, Expected(seconds=entry["ordered_seconds"]))
        spent = (time.perf_counter() - started) * 1e3
        yield Result(
            name=entry["name"],
            fault=entry.get("fault", ""),
            expected=EXPECTED[entry["expected"]],
            verdict=outcome.verdict if isinstance(outcome, Verdict) else "not verified",
            code=outcome.code,
            milliseconds=spent,
            alarms=alarms(path) if tools else frozenset(),
        )


def confusion(found: list[Result]) -> None:
    verdicts = ["accept", "review", "reject", "not verified"]
    count = collections.Counter((r.expected, r.verdict) for r in found)
    print(f"{'':18}" + "".join(f"{verdict:>14}" for verdict in verdicts))
    for expected in verdicts[:3]:
        row = "".join(f"{count[expected, verdict]:14}" for verdict in verdicts)
        print(f"{'deserves ' + expected:18}{row}")
    for r in found:
        if r.expected != r.verdict:
            print(f"  {r.name}: deserves {r.expected} ({r.fault}), got {r.verdict} ({r.code})")


def table(found: list[Result]) -> None:
    groups = {group: [r for r in found if r.expected == group]
              for group in ("reject", "review", "accept")}  # fmt: skip
    print("| tool | must not be charged | for a person | good |")
    print("|---|---|---|---|")
    print("| files | " + " | ".join(str(len(group)) for group in groups.values()) + " |")
    for tool in TOOLS:
        counts = [str(sum(tool in r.alarms for r in group)) for group in groups.values()]
        print(f"| {tool} | {' | '.join(counts)} |")
    for verdict in ("reject", "review"):
        counts = [str(sum(r.verdict == verdict for r in group)) for group in groups.values()]
        print(f"| **Tallyreel, {verdict}** | {' | '.join(counts)} |")
    print("\n| fault (must not be charged) | files | " + " | ".join(TOOLS) + " | Tallyreel |")
    print("|---" * (len(TOOLS) + 3) + "|")
    faults = collections.Counter(r.fault for r in groups["reject"])
    for fault, number in faults.most_common():
        rows = [r for r in groups["reject"] if r.fault == fault]
        print(f"| {fault} | {number} | " + " | ".join(
            str(sum(tool in r.alarms for r in rows)) for tool in TOOLS)
            + f" | {sum(r.verdict == 'reject' for r in rows)} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", type=Path, default=INDEX)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.index.exists():
        sys.exit(f"{given.index} is not here")
    found = list(results(given.index, tools=given.table))
    if given.table:
        table(found)
    else:
        confusion(found)


if __name__ == "__main__":
    main()
