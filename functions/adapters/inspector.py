"""The inspection of finished files, in a child process, with repacking where that is enough."""

from pathlib import Path

from functions.domain.kinds import Promise
from functions.domain.verdicts import Check, Facts, Inspected, NotVerified, Ruling, Verdict
from functions.media import verdict as found
from functions.media.inspect import POSTER, STRIP
from functions.media.verify import verify_file


class ChildInspector:
    """Provides `Inspector`."""

    def inspect(
        self, path: Path, promise: Promise, *, kind: str, workdir: Path
    ) -> Inspected | NotVerified:
        expected = found.Expected(
            kind=kind,
            seconds=promise.seconds,
            width=promise.width,
            height=promise.height,
            sound=promise.sound,
            still_allowed=promise.still_allowed,
            held_allowed=promise.held_allowed,
        )
        outcome = verify_file(path, expected, workdir, thumbnails=workdir)
        if isinstance(outcome, found.NotVerified):
            return NotVerified(reason=outcome.reason)
        thumbnails = [workdir / name for name in (POSTER, STRIP)]
        return Inspected(
            verdict=_verdict(outcome.verdict),
            path=outcome.path,
            mended=bool(outcome.repairs),
            thumbnails=tuple(each for each in thumbnails if each.is_file()),
        )


def _verdict(outcome: found.Verdict) -> Verdict:
    facts = outcome.facts
    return Verdict(
        ruling=Ruling(outcome.verdict),
        code=outcome.code,
        reason=outcome.reason,
        checks=tuple(
            Check(name=c.name, value=str(c.value), limit=c.limit, verdict=c.verdict)
            for c in outcome.checks
        ),
        facts=Facts(
            size_bytes=facts.bytes,
            sha256=facts.sha256,
            seconds=facts.duration_seconds,
            width=facts.width,
            height=facts.height,
            codec=facts.codec,
        ),
    )
