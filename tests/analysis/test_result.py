"""The document from what was measured and what was answered, and whether it may be charged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from functions.analysis.judging import judge
from functions.analysis.markdown import markdown
from functions.analysis.result import result
from functions.domain.kinds import Promise
from functions.domain.models import Answered, Usage
from functions.domain.verdicts import Ruling, Verdict
from tests.analysis.films import HEARS, SILENCE, diet, text, viewing

ORDER = {"provider": "local"}
USAGE = Usage(input_tokens=1_000_000, output_tokens=2_000)


def made(*texts: str, model: Any = HEARS, **changed: Any) -> dict[str, Any]:
    answers = [Answered(text=each, usage=USAGE) for each in texts]
    document: dict[str, Any] = json.loads(result(viewing(**changed), answers, ORDER, model))
    return document


def both(**changed: Any) -> dict[str, Any]:
    return made(text(0), text(1), **changed)


def test_times_of_a_part_become_times_of_the_video() -> None:
    found = both()

    assert [(said["start"], said["text"]) for said in found["transcript"]] == [
        (0.5, "Part 1 begins."),
        (3.0, "It goes on."),
        (10.5, "Part 2 begins."),
        (13.0, "It goes on."),
    ]
    assert [point["evidence"][0]["start"] for point in found["selling_points"]] == [1.0, 11.0]
    assert found["summary"] == "Summary 1. Summary 2."


def test_a_shot_in_two_parts_is_described_by_who_saw_most_of_it() -> None:
    described = [shot["description"] for shot in both()["shots"]]

    assert described == ["Shot 1 in part 1.", "Shot 2 in part 2."]


def test_cuts_are_the_measured_ones_and_name_their_pictures() -> None:
    found = [(shot["start"], shot["end"], shot["key_frame"]) for shot in both()["shots"]]

    assert found == [(0.0, 8.0, 1), (8.0, 20.0, 2)]


def test_it_says_who_was_asked_and_what_that_costs() -> None:
    model = replace(HEARS, input_price="0.30", output_price="2.50")

    assert both(model=model)["made_by"] == {
        "provider": "gemini",
        "model": HEARS.model,
        "listener": None,
        "questions": 2,
        "input_tokens": 2_000_000,
        "output_tokens": 4_000,
        "dollars": "0.610000",
    }
    assert both(model=replace(model, input_price=None))["made_by"]["dollars"] is None


def test_without_a_model_nothing_is_invented() -> None:
    found = made(model=None, parts=[])

    assert found["transcript"] is None
    assert found["selling_points"] is None
    assert {shot["description"] for shot in found["shots"]} == {None}
    assert "No model" in found["absent"]["transcript"]
    assert found["made_by"]["provider"] == "local"


def test_who_does_not_hear_gives_no_transcript() -> None:
    deaf = replace(HEARS, diet=diet(sound=False))
    quiet = {"spoken": False, "transcript": [], "language": None}
    found = made(text(0, **quiet), text(1, **quiet), model=deaf)

    assert found["transcript"] is None
    assert "does not hear" in found["absent"]["transcript"]
    assert found["selling_points"] != []


def test_a_missing_answer_is_never_an_empty_success() -> None:
    for texts in ([text(0)], [text(0), "{}"], []):
        with pytest.raises(ValueError, match="missing"):
            made(*texts)


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    def of(document: Any, seconds: float = 20.0) -> Verdict:
        path = tmp_path / "output.json"
        written = document if isinstance(document, bytes) else json.dumps(document).encode()
        path.write_bytes(written)
        return judge(path, Promise(seconds=seconds))

    return of


def test_a_whole_document_is_accepted(judged: Any) -> None:
    verdict = judged(both())

    assert (verdict.ruling, verdict.code) == (Ruling.ACCEPT, "ok")
    assert verdict.facts.codec == "json"
    assert judged(made(model=None, parts=[])).ruling is Ruling.ACCEPT


def test_sound_without_words_is_left_to_the_customer(judged: Any) -> None:
    quiet = {"spoken": False, "transcript": [], "language": None}
    music = made(text(0, **quiet), text(1, **quiet))

    assert (judged(music).ruling, judged(music).code) == (Ruling.REVIEW, "transcript")
    silent = made(text(0, **quiet), text(1, **quiet), sound=SILENCE)
    assert judged(silent).ruling is Ruling.ACCEPT


def test_a_transcript_that_ends_early_is_doubted(judged: Any) -> None:
    long = viewing(
        seconds=600.0,
        shots=[{"start": 0.0, "end": 600.0, "key_frame": None}],
        parts=[{"file": "part-1.mp4", "start": 0.0, "end": 600.0}],
        sound={"loudness": -20.0, "silences": [], "heard_seconds": 600.0},
    )
    verdict = judged(made(text(1, shots=[{"number": 1, "description": "x"}]), **long), 600.0)

    assert (verdict.ruling, verdict.code) == (Ruling.REVIEW, "transcript-end")


def _gap(document: dict[str, Any]) -> None:
    document["shots"][0]["end"] = 5.0


def _undescribed(document: dict[str, Any]) -> None:
    document["shots"][1]["description"] = None


def _late(document: dict[str, Any]) -> None:
    document["transcript"][-1]["end"] = 25.0


def _disordered(document: dict[str, Any]) -> None:
    document["transcript"].reverse()


def _evidence(document: dict[str, Any]) -> None:
    document["selling_points"][0]["evidence"][0]["end"] = 21.0


def _short(document: dict[str, Any]) -> None:
    document["shots"][-1]["end"] = 12.0


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (_gap, "shots"),
        (_short, "shots"),
        (_undescribed, "descriptions"),
        (_late, "times"),
        (_disordered, "times"),
        (_evidence, "times"),
    ],
)
def test_what_is_wrong_is_not_charged(judged: Any, break_it: Any, code: str) -> None:
    document = both()
    break_it(document)
    verdict = judged(document)

    assert (verdict.ruling, verdict.code) == (Ruling.REJECT, code)
    assert verdict.reason


@pytest.mark.parametrize(
    "document", [b"", b"{}", b"[]", b'{"version": 1}', b"\xff\xfe", b"x" * 9_000_000]
)
def test_what_cannot_be_read_back_is_not_charged(judged: Any, document: bytes) -> None:
    assert judged(document).ruling is Ruling.REJECT


def test_another_length_than_ordered_is_not_charged(judged: Any) -> None:
    assert judged(both(), seconds=60.0).code == "length"


def test_as_markdown_it_shows_everything_and_obeys_nothing() -> None:
    hostile = "# <img src=x onerror=1> [x](http://evil.example) *b*"
    answers = [
        Answered(text=text(0, summary=hostile), usage=USAGE),
        Answered(text=text(1), usage=USAGE),
    ]
    page = markdown(result(viewing(), answers, ORDER, HEARS), ["https://one", "https://two"])

    assert "![shot 1](https://one)" in page
    assert "- 0:00.5 Part 1 begins." in page
    assert "(0:01.0 to 0:02.0)" in page
    assert r"\# \<img src=x onerror=1\> \[x\](http\://evil.example) \*b\*" in page


def test_as_markdown_it_says_why_something_is_not_there() -> None:
    page = markdown(result(viewing(parts=[]), [], ORDER, None), [])

    assert page.count("No model was asked") == 2
