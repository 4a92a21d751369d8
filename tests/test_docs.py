"""The documents say what is so."""

import re
from pathlib import Path

import pytest

from functions.analysis.judging import judge
from functions.domain.kinds import Promise
from functions.domain.verdicts import Ruling
from functions.kinds import video_analysis
from functions.media.lengths import REASONS as LENGTHS
from functions.media.viewing_words import FAILURES
from functions.media.viewing_words import REASONS as VIEWINGS
from local import states

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
ANALYSIS = (ROOT / "docs" / "analysis.md").read_text("utf-8")
# Where codes of an analysis are said by a call, and no table holds them.
SAY_CODES = (
    "adapters/web.py",
    "analysis/asking.py",
    "analysis/judging.py",
    "domain/answers.py",
    "kinds/video_analysis.py",
    "pipeline/ask.py",
    "pipeline/obtain.py",
    "providers/gemini.py",
)
A_CODE = re.compile(
    r'(?:code=|_failed\(|unusable\(|Fault\.TROUBLE, |Fault\.BAD_INPUT, )"([a-z-]{4,})"'
)


def test_the_state_diagram_is_the_table() -> None:
    assert states.FILE.read_text("utf-8") == states.document()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_example_of_an_analysis_could_be_charged(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```$", ANALYSIS, re.DOTALL | re.MULTILINE)
    (tmp_path / "result.json").write_text(example, "utf-8")

    assert judge(tmp_path / "result.json", Promise(seconds=9.5)).ruling is Ruling.ACCEPT


def test_every_code_of_an_analysis_is_listed() -> None:
    texts = [(ROOT / "functions" / name).read_text("utf-8") for name in SAY_CODES]
    said = {code for text in texts for code in A_CODE.findall(text)} | {*LENGTHS, *VIEWINGS}
    listed = set(re.findall(r"`([a-z-]+)`", ANALYSIS))

    assert len(said) > 20
    assert (said | {*FAILURES}) - listed == set()


def test_the_limits_of_an_analysis_are_the_kinds() -> None:
    assert f"{video_analysis.MINUTES_MAX} minutes" in ANALYSIS
    assert f"{video_analysis.KEY_FRAMES_MAX} key frames" in ANALYSIS
    assert f"{video_analysis.VIDEO_BYTES_MAX >> 30} GiB" in ANALYSIS
    assert video_analysis.CREDITS_PER_MINUTE == 5
    assert "Five credits per started minute" in ANALYSIS
