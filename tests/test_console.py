"""The console's files, as far as they can be judged without a browser."""

import gzip
import json
import re
from pathlib import Path

import pytest

from functions import kinds
from functions.analysis import result
from functions.domain.credits import EntryKind
from functions.domain.states import TaskState
from functions.media.lengths import REASONS

CONSOLE = Path(__file__).parents[1] / "console"
SCRIPTS = {path.name: path.read_text("utf-8") for path in sorted(CONSOLE.glob("*.js"))}
TEXTS = {
    language: json.loads((CONSOLE / f"texts.{language}.json").read_text("utf-8"))
    for language in ("en", "zh")
}
ADDRESSES = ("url-refused", "url-not-found", "url-unreachable", "url-without-size")
# What English takes from the service itself, because it speaks English.
SAID_BY_THE_SERVICE = ("sentence.", "problem.", "help.", "error.", "absent.")
ALL_BYTES_MAX = 110_000  # pages that are opened later included
PACKED_BYTES_MAX = 40_000


def test_both_languages_have_the_same_words() -> None:
    english, chinese = (set(TEXTS[language]) for language in ("en", "zh"))
    assert english <= chinese
    assert all(name.startswith(SAID_BY_THE_SERVICE) for name in chinese - english)


def test_both_languages_fill_in_the_same_values() -> None:
    for name, english in TEXTS["en"].items():
        held = [set(re.findall(r"\{\w+\}", text)) for text in (english, TEXTS["zh"][name])]
        assert held[0] == held[1], name


@pytest.mark.parametrize("language", TEXTS)
def test_every_word_that_a_page_asks_for_is_there(language: str) -> None:
    for name, script in SCRIPTS.items():
        for asked in re.findall(r'\bt\("([^"]+)"', script):
            assert asked in TEXTS[language], f"{name} asks for {asked}"


@pytest.mark.parametrize("language", TEXTS)
def test_whatever_the_service_can_name_has_a_word(language: str) -> None:
    words = TEXTS[language]
    for state in [*TaskState, "expired"]:
        assert f"state.{state}" in words
        assert language == "en" or f"sentence.{state}" in words
    assert {f"entry.{kind}" for kind in EntryKind} <= set(words)
    for kind in kinds.load().values():
        assert f"kind.{kind.name}" in words


@pytest.mark.parametrize("reason", [result.NO_MODEL, result.DEAF, result.SOUNDLESS])
def test_whatever_an_analysis_lacks_is_said_in_chinese_too(reason: str) -> None:
    assert f"absent.{reason}" in TEXTS["zh"]


@pytest.mark.parametrize(
    "code", [*REASONS, "video-too-long", "type-unsupported", "source-too-large", *ADDRESSES]
)
def test_a_refused_video_is_explained_in_chinese_too(code: str) -> None:
    assert f"problem.{code}" in TEXTS["zh"]


def test_text_can_never_become_markup_and_nothing_comes_from_outside() -> None:
    for name, script in SCRIPTS.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", script)
        assert not re.search(r"https?://", script), name
    page = (CONSOLE / "index.html").read_text("utf-8")
    assert not re.search(r"<style|<script(?![^>]*src=)|\son\w+=|\sstyle=", page)
    assert not re.search(r'(src|href)="(?!console/\{version\}/|v1/)', page)


def test_all_of_it_is_small() -> None:
    contents = [path.read_bytes() for path in CONSOLE.iterdir()]
    assert sum(map(len, contents)) < ALL_BYTES_MAX
    assert sum(len(gzip.compress(each)) for each in contents) < PACKED_BYTES_MAX
