"""What a child workshop is told to do in tests."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Failed, Refused, Rendered

Listener = Callable[[int, int], None]


def copying(
    source: Path, out: Path, order: Mapping[str, Any], on_progress: Listener
) -> Rendered | Refused | Failed:
    print("a library that talks")  # noqa: T201
    on_progress(0, 2)
    out.write_bytes(source.read_bytes() + str(order["tail"]).encode())
    on_progress(2, 2)
    return Rendered(path=out, facts={"environment": " ".join(sorted(os.environ))})


def refusing(
    source: Path, out: Path, order: Mapping[str, Any], on_progress: Listener
) -> Rendered | Refused | Failed:
    del source, out, order, on_progress
    return Refused(code="no", reason="No.")


def endless(
    source: Path, out: Path, order: Mapping[str, Any], on_progress: Listener
) -> Rendered | Refused | Failed:
    """Works until it is ended, and cleans up then."""
    del source, order
    scratch = out.with_name("scratch")
    scratch.mkdir()
    (scratch / "pid").write_text(str(os.getpid()), "ascii")
    try:
        for step in range(10_000):
            on_progress(step, 10_000)
            time.sleep(0.05)
    finally:
        (scratch / "pid").unlink()
        scratch.rmdir()
    raise AssertionError


def dying(
    source: Path, out: Path, order: Mapping[str, Any], on_progress: Listener
) -> Rendered | Refused | Failed:
    del source, out, order, on_progress
    sys.stdout.flush()
    os._exit(9)
