"""Whether a document may be charged for. It reads the file, and takes nobody's word for it."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from functions.analysis.asking import QUIET_SECONDS
from functions.analysis.schema import Result, Span
from functions.domain.kinds import Promise
from functions.domain.media import SLACK_SECONDS, length_slack
from functions.domain.verdicts import Check, Facts, Ruling, Verdict

BYTES_MAX: Final = 8 << 20
CUT_SECONDS: Final = 0.1  # between one shot and the next
END_SECONDS: Final = 60.0  # heard and not written down, at the end of a transcript


def judge(path: Path, promise: Promise) -> Verdict:
    """Check a document against its schema, its own times, and what was ordered."""
    content = path.read_bytes()
    if len(content) > BYTES_MAX:
        return _unreadable("too large")
    try:
        found = Result.model_validate_json(content)
    except ValidationError as error:
        return _unreadable(f"{error.error_count()} faults")
    checks = _checks(found, promise)
    worst = next((c for c in checks if c.verdict == "fail"), None)
    doubt = next((c for c in checks if c.verdict == "review"), None)
    blamed = worst or doubt
    ruling = Ruling.REJECT if worst else Ruling.REVIEW if doubt else Ruling.ACCEPT
    return Verdict(
        ruling=ruling,
        code=blamed.name if blamed else "ok",
        reason=_REASONS[blamed.name] if blamed else "",
        checks=checks,
        facts=Facts(
            size_bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            seconds=found.video.seconds,
            width=found.video.width,
            height=found.video.height,
            codec="json",
        ),
    )


_REASONS: Final = {
    "length": "The analysis is of another length than the video that was ordered.",
    "shots": "The storyboard has gaps.",
    "times": "The analysis names times that the video does not have.",
    "transcript": "There is sound in this video, and no speech was found in it.",
    "transcript-end": "The transcript ends long before the sound does.",
    "descriptions": "Parts of the storyboard are not described.",
}


def _checks(found: Result, promise: Promise) -> tuple[Check, ...]:
    seconds = found.video.seconds
    off = abs(seconds - promise.seconds)
    allowed = length_slack(promise.seconds)
    asked = found.made_by.model is not None
    described = sum(shot.description is not None for shot in found.shots)
    return (
        _check("schema", f"version {found.version}", "", ok=True),
        _check(
            "length",
            f"{seconds:.2f} s",
            f"{promise.seconds:.2f} s ± {allowed:.1f}",
            ok=off <= allowed,
        ),
        _check("shots", str(len(found.shots)), "without gaps", ok=_covered(found.shots, seconds)),
        _check("times", "", f"0 to {seconds:.2f} s", ok=_inside(found)),
        _check(
            "descriptions",
            f"{described} of {len(found.shots)}",
            "all" if asked else "none asked for",
            ok=not asked or described == len(found.shots),
        ),
        *_words(found),
    )


def _words(found: Result) -> tuple[Check, ...]:
    """Sound without words is a doubt: it may be music. What is said must be written to the end."""
    if found.transcript is None or found.sound is None:
        return ()
    heard = found.sound.heard_seconds
    said = len(found.transcript)
    silent = said == 0 and heard > QUIET_SECONDS
    checks = [_check("transcript", f"{said} utterances", f"{heard:.0f} s heard", doubt=silent)]
    if said:
        last = found.transcript[-1].end
        unwritten = _heard_after(found, last)
        late = unwritten > max(END_SECONDS, heard / 2)
        checks.append(
            _check("transcript-end", f"{last:.0f} s", f"{unwritten:.0f} s after", doubt=late)
        )
    return tuple(checks)


def _heard_after(found: Result, seconds: float) -> float:
    quiet = sum(
        span.end - max(span.start, seconds)
        for span in (found.sound.silences if found.sound else ())
        if span.end > seconds
    )
    return max(0.0, found.video.seconds - seconds - quiet)


def _covered(shots: Sequence[Span], seconds: float) -> bool:
    joined = all(abs(a.end - b.start) <= CUT_SECONDS for a, b in pairwise(shots))
    forward = all(shot.start < shot.end for shot in shots)
    return (
        joined
        and forward
        and shots[0].start <= CUT_SECONDS
        and abs(shots[-1].end - seconds) <= SLACK_SECONDS
    )


def _inside(found: Result) -> bool:
    spans: list[Span] = [*found.shots, *(found.transcript or ())]
    spans += [span for point in found.selling_points or () for span in point.evidence]
    end = found.video.seconds + CUT_SECONDS
    said = found.transcript or []
    return all(span.start <= span.end <= end for span in spans) and all(
        a.start <= b.start for a, b in pairwise(said)
    )


def _check(name: str, value: str, limit: str, *, ok: bool = True, doubt: bool = False) -> Check:
    verdict = "review" if doubt else "pass" if ok else "fail"
    return Check(name=name, value=value, limit=limit, verdict=verdict)


def _unreadable(what: str) -> Verdict:
    return Verdict(
        ruling=Ruling.REJECT,
        code="result-unreadable",
        reason="The analysis could not be read back.",
        checks=(_check("schema", what, "version 1", ok=False),),
    )
