"""Real and made files from outside the repository, where they are present."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.media.inspect import inspect_file
from functions.media.verdict import Expected

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "media"
INDEX = CORPUS / "index.json"
NAMES = {"needs human": "review"}
# The same length and no trace in the decoder: only the transfer's checksum knows.
CHECKSUM_ONLY = {"m_noise_64B_mid.mp4"}
QUICK_BYTES_MAX = 120_000

FILES: list[dict[str, Any]] = (
    json.loads(INDEX.read_text(encoding="utf-8"))["files"] if INDEX.exists() else []
)
pytestmark = pytest.mark.skipif(not FILES, reason="the corpus is not here")


def wrong(entry: dict[str, Any]) -> str | None:
    path = CORPUS / entry["path"]
    verdict = inspect_file(path, Expected(seconds=entry["ordered_seconds"]))
    expected = NAMES.get(entry["expected"], entry["expected"])
    bad = {
        "reject": verdict.verdict != "reject" and entry["name"] not in CHECKSUM_ONLY,
        "accept": verdict.verdict == "reject",
        "review": False,
    }[expected]
    said = f"{entry['name']}: {expected}, but {verdict.verdict} ({verdict.code})"
    return said if bad else None


def test_small_files_get_the_verdict_they_deserve() -> None:
    small = [e for e in FILES if (CORPUS / e["path"]).stat().st_size <= QUICK_BYTES_MAX]
    assert len(small) > 30
    assert [said for entry in small if (said := wrong(entry))] == []


@pytest.mark.slow
def test_all_files_do() -> None:
    assert [said for entry in FILES if (said := wrong(entry))] == []
