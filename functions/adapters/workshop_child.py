"""The inside of a child workshop: one order, one render, one line about how it ended.

It has no credentials and no address to use them at. It ends when it is told to, and when the
process that it works for is gone.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO, assert_never

from functions.domain.outcomes import Failed, Refused, Rendered

SAY_SECONDS = 0.2
ORPHAN_SECONDS = 1.0
FILE_BYTES_MAX = 8 << 30


def main() -> None:
    """Render what the first line on stdin orders."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes to the log
    signal.signal(signal.SIGTERM, _end)
    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, FILE_BYTES_MAX)):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_orphaned, daemon=True).start()
    module, _, name = asked["target"].partition(":")
    render = getattr(import_module(module), name)
    outcome = render(Path(asked["source"]), Path(asked["out"]), asked["order"], _Progress(said))
    _say(said, _word(outcome))


def _end(number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; cleaning up takes a moment
    sys.exit(128 + number)


def _orphaned() -> None:
    """Wait for the end of stdin: whoever held it has died."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_SECONDS)
    os._exit(1)


class _Progress:
    """Says how far it is, not more often than anyone wants to hear."""

    def __init__(self, said: TextIO) -> None:
        self._said = said
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next or done == total:
            self._next = now + SAY_SECONDS
            _say(self._said, {"done": done, "total": total})


def _say(said: TextIO, word: dict[str, Any]) -> None:
    said.write(json.dumps(word) + "\n")
    said.flush()


def _word(outcome: Rendered | Refused | Failed) -> dict[str, Any]:
    match outcome:
        case Rendered():
            return {
                "ended": "rendered",
                "path": str(outcome.path),
                "content_type": outcome.content_type,
                "facts": outcome.facts,
            }
        case Refused(code=code, reason=reason):
            return {"ended": "refused", "code": code, "reason": reason}
        case Failed(code=code, reason=reason):
            return {"ended": "failed", "code": code, "reason": reason}
        case _:
            assert_never(outcome)


if __name__ == "__main__":
    main()
