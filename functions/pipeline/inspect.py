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
from functions.domain.media import inspection_key, output_key, thumbnail_key
from functions.domain.outcomes import Failed, Rendered
from functions.domain.ports import Ports
from functions.domain.tasks import Task
from functions.domain.verdicts import NotVerified, Ruling, Verdict, verdict_of, verdict_text

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
    promise = Promise(**promised)
    if "seconds" in made.facts:  # the order says how much at most
        promise = replace(promise, seconds=float(made.facts["seconds"]))
    seen = ports.inspector.inspect(made.path, promise, kind=task.kind, workdir=workdir)
    if isinstance(seen, NotVerified):
        return Failed(code="inspection-failed", reason="The result could not be checked.")
    verdict = seen.verdict
    if verdict.ruling is Ruling.REJECT:
        ports.store.put_report(task, verdict)
        ports.metrics.count("Verdict", kind=task.kind, ruling=verdict.ruling)
        return Failed(code=verdict.code, reason=verdict.reason)
    key = output_key(task.account, task.id, task.attempt, task.lease or "")
    for picture in seen.thumbnails:
        ports.media.put(picture, thumbnail_key(key, picture.name), content_type="image/jpeg")
    word = {"verdict": verdict_text(verdict), "thumbnails": len(seen.thumbnails)}
    ports.media.put_bytes(
        json.dumps(word).encode(), inspection_key(key), content_type="application/json"
    )
    return replace(made, path=seen.path)


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
