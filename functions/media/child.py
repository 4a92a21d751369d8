"""The inside of the sandbox: give up every right, then call one function."""

import importlib
import json
import os
import resource
import sys

# Loaded before files can no longer be opened: the codecs that json and PyAV ask for by name.
CODECS = ("utf-8", "ascii", "latin-1")
ANSWER_FD = 1


def main() -> None:
    """Entry of the child; its one argument says what to do."""
    orders = json.loads(sys.argv[1])
    module, _, name = orders["target"].partition(":")
    function = getattr(importlib.import_module(module), name)
    files = [os.fdopen(fd, "r+b" if at else "rb", buffering=0) for at, fd in
             enumerate(orders["files"])]  # fmt: skip
    for codec in CODECS:
        "".encode(codec)
    give_up_rights(
        memory_bytes=orders["memory_bytes"],
        cpu_seconds=orders["cpu_seconds"],
        file_bytes=orders["file_bytes"],
        threads=orders["threads"] > 1,
    )
    answer = function(orders["request"], files)
    os.write(ANSWER_FD, answer.encode("ascii"))
    # Without unwinding: a library's exit code is as hostile as the bytes it has read.
    os._exit(0)


def give_up_rights(
    *, memory_bytes: int, cpu_seconds: int, file_bytes: int, threads: bool = False
) -> None:
    """Bound everything, for good. Open files stay usable; nothing else can be opened.

    Without a new file descriptor there is no socket, no file of the parent's and no process
    to be read under /proc; without a new process nothing outlives the session. `threads` may
    still be started where the kernel can be told them from processes (see `threads`).
    """
    alone = True
    if threads:
        # Not for children that do without: it takes as long to load as all the rest here.
        from functions.media.threads import forbid_processes  # noqa: PLC0415

        alone = not forbid_processes()
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 0,
    }
    if alone:
        limits[resource.RLIMIT_NPROC] = 0
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        lowered = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (lowered, lowered))
