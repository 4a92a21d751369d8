"""The document as a page for people. What it quotes is a stranger's: none of it is markup."""

import re
from collections.abc import Sequence
from typing import Final

from functions.analysis.schema import Result, Shot, Span

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>!|~&]|:(?=//))")
_START: Final = re.compile(r"^(\d+)?([#+\-=.)])")  # what makes headings, lists and rules
_SPACE: Final = re.compile(r"\s+")


def markdown(document: bytes, pictures: Sequence[str]) -> str:
    """Write a document as Markdown; `pictures` are addresses of its key frames."""
    found = Result.model_validate_json(document)
    lines = ["# Video analysis", "", _facts(found), ""]
    if found.summary:
        lines += [_plain(found.summary), ""]
    lines += ["## Selling points", "", *_points(found), ""]
    lines += ["## Storyboard", ""]
    for shot in found.shots:
        lines += [*_shot(shot, pictures), ""]
    lines += ["## Transcript", "", *_transcript(found), ""]
    return "\n".join(lines)


def _facts(found: Result) -> str:
    video, by = found.video, found.made_by
    parts = [
        f"{_clock(video.seconds)}, {video.width}x{video.height}, {len(found.shots)} shots",
        f"by {_plain(' and '.join(filter(None, (by.model or by.provider, by.listener))))}",
    ]
    if found.language:
        parts.append(f"spoken: {_plain(found.language)}")
    if by.dollars:
        parts.append(f"model cost {by.dollars} USD")
    return " · ".join(parts)


def _points(found: Result) -> list[str]:
    if found.selling_points is None:
        return [_absent(found, "selling_points")]
    if not found.selling_points:
        return ["The video gives none."]
    return [
        f"- {_plain(p.text)} ({', '.join(map(_span, p.evidence))})" for p in found.selling_points
    ]


def _shot(shot: Shot, pictures: Sequence[str]) -> list[str]:
    lines = [f"### {shot.number} · {_span(shot)}", ""]
    if shot.key_frame is not None and shot.key_frame <= len(pictures):
        lines += [f"![shot {shot.number}]({pictures[shot.key_frame - 1]})", ""]
    if shot.description:
        lines.append(_plain(shot.description))
    if shot.on_screen_text:
        lines += ["", f"> {_plain(shot.on_screen_text)}"]
    return lines


def _transcript(found: Result) -> list[str]:
    if found.transcript is None:
        return [_absent(found, "transcript")]
    if not found.transcript:
        return ["Nothing is said."]
    return [f"- {_clock(said.start)} {_plain(said.text)}" for said in found.transcript]


def _absent(found: Result, name: str) -> str:
    return f"*{found.absent.get(name, 'Not there.')}*"


def _span(span: Span) -> str:
    return f"{_clock(span.start)} to {_clock(span.end)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}:{rest:04.1f}"


def _plain(text: str) -> str:
    line = _MARKUP.sub(r"\\\1", _SPACE.sub(" ", text).strip())
    return _START.sub(r"\1\\\2", line)
