"""Inspect: look at an output where it was made, because films can be longer than a function runs.

The word about a file is put beside it, in a place as write-once as the file's own, and before it:
where there is a file, there is a word about it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from functions.domain.kinds import Promise
from functions.domain.media import inspection_key, thumbnail_key
from functions.domain.outcomes import Failed, Rendered
from functions.domain.ports import Ports
from functions.domain.tasks import Task
from functions.domain.verdicts import (
    Inspected,
    NotVerified,
    Ruling,
    Verdict,
    verdict_of,
    verdict_text,
)
from functions.pipeline.claim import output_key_of

WORD_BYTES_MAX = 1 << 20

MISSING = Verdict(
    ruling=Ruling.REJECT, code="output-missing", reason="The rendered file has disappeared."
)
UNLIKE = Verdict(
    ruling=Ruling.REJECT, code="output-changed", reason="The file is not the one that was checked."
)


def inspected(
    ports: Ports, task: Task, promised: Mapping[str, Any], made: Rendered, workdir: Path
) -> Rendered | Failed:
    """Judge a file that was just made, by its order and by what its source gives."""
    seen = _seen(ports, task, Promise(**promised), made, workdir)
    if isinstance(seen, NotVerified):
        return Failed(code="inspection-failed", reason="The result could not be checked.")
    verdict = seen.verdict
    if verdict.ruling is Ruling.REJECT:
        ports.store.put_report(task, verdict)
        ports.metrics.count("Verdict", kind=task.kind, ruling=verdict.ruling)
        return Failed(code=verdict.code, reason=verdict.reason)
    key = output_key_of(ports, task)
    names = ports.kinds[task.kind].makes.pictures
    for picture, name in zip(seen.thumbnails, names, strict=False):
        ports.media.put(picture, thumbnail_key(key, name), content_type="image/jpeg")
    word = {"verdict": verdict_text(verdict), "thumbnails": len(seen.thumbnails)}
    ports.media.put_bytes(
        json.dumps(word).encode(), inspection_key(key), content_type="application/json"
    )
    return replace(made, path=seen.path)


def _seen(
    ports: Ports, task: Task, promise: Promise, made: Rendered, workdir: Path
) -> Inspected | NotVerified:
    """Look at it as its kind wants: a film is decoded, anything else has a judge of its own."""
    judge = ports.kinds[task.kind].judge
    if judge is not None:
        return Inspected(
            verdict=judge(made.path, promise), path=made.path, thumbnails=made.pictures
        )
    if "seconds" in made.facts:  # the order says how much at most
        promise = replace(promise, seconds=float(made.facts["seconds"]))
    return ports.inspector.inspect(made.path, promise, kind=task.kind, workdir=workdir)


def word_about(ports: Ports, key: str) -> tuple[Verdict, int]:
    """Read what was found where the file was made, and how many thumbnails lie beside it."""
    stored = ports.media.head(key)
    word = ports.media.read(inspection_key(key), bytes_max=WORD_BYTES_MAX)
    if stored is None or word is None:
        return MISSING, 0
    said = json.loads(word)
    verdict, thumbnails = verdict_of(said["verdict"]), int(said["thumbnails"])
    if verdict.facts is None or verdict.facts.size_bytes != stored.size_bytes:
        return UNLIKE, 0
    return verdict, thumbnails
