"""Obtain: bring a task's source onto this machine's disk, the very one that was ordered for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from functions.domain.jobs import Broken, Fetched
from functions.domain.media import HEAD_BYTES, identity
from functions.domain.outcomes import Failed, Refused
from functions.domain.ports import Ports
from functions.domain.tasks import Task
from functions.pipeline.tend import Tending

CHANGED = Refused(
    code="source-changed",
    reason="The uploaded source was replaced or removed after the order. Order it again.",
)
MOVED = Refused(
    code="source-changed",
    reason="The video at that address is not the one that was priced any more. Order it again.",
)
UNREACHED = Failed(
    code="source-unreachable", reason="The video could not be fetched from its address."
)


def obtained(
    ports: Ports, task: Task, ordered: Mapping[str, Any], path: Path, tending: Tending
) -> Refused | Failed | None:
    """Fetch the source to `path`; None if it is there."""
    url = ordered["order"].get("url")
    if not url:
        return None if ports.media.fetch(ordered["source"], path, etag=ordered["etag"]) else CHANGED
    bytes_max = ports.kinds[task.kind].upload.bytes_max
    got = ports.attended(
        lambda: ports.web.fetch(url, path, bytes_max=bytes_max), tending.still_ours
    )
    if not isinstance(got, Fetched):
        return UNREACHED if isinstance(got, Broken) else MOVED
    with path.open("rb") as file:
        same = identity(got.size_bytes, file.read(HEAD_BYTES)) == ordered["etag"]
    return None if same else MOVED
