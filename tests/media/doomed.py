"""Functions for the sandbox to run, most of which come to a bad end."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO

PR_GET_SECCOMP = 21
Files = Sequence[IO[bytes]]


def echo(request: str, files: Files) -> str:
    assert files[0].read(3) == b'"""'
    return request


def killed(request: str, files: Files) -> str:  # noqa: ARG001
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


def crashed(request: str, files: Files) -> str:  # noqa: ARG001
    ctypes.string_at(0)
    return "unreachable"


def raised(request: str, files: Files) -> str:
    raise RuntimeError(request, files)


def left(request: str, files: Files) -> str:  # noqa: ARG001
    os.write(1, b'{"half": ')
    os._exit(7)


def hung(request: str, files: Files) -> str:  # noqa: ARG001
    time.sleep(600)
    return request


def mute(request: str, files: Files) -> str:  # noqa: ARG001
    os.close(1)
    time.sleep(600)
    return request


def busy(request: str, files: Files) -> str:  # noqa: ARG001
    while True:
        pass


def talkative(request: str, files: Files) -> str:  # noqa: ARG001
    return "x" * (1 << 20)


def greedy(request: str, files: Files) -> str:  # noqa: ARG001
    return str(len(bytearray(1 << 30)))


def explore(request: str, files: Files) -> str:  # noqa: ARG001
    opened = []
    for path in ("/etc/passwd", f"/proc/{os.getppid()}/environ", sys.executable):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDONLY))
            opened.append(path)
    connected = True
    try:
        socket.socket().close()
    except OSError:
        connected = False
    return json.dumps(
        {
            "environment": sorted(os.environ),
            "opened": opened,
            "socket": connected,
            "session": os.getsid(0) == os.getpid(),
        }
    )


def orphan(request: str, files: Files) -> str:  # noqa: ARG001
    child = os.fork()
    if child == 0:
        os.close(1)
        time.sleep(600)
        os._exit(0)
    return str(child)


def threaded(request: str, files: Files) -> str:  # noqa: ARG001
    """Start threads, then try to start a process in each of two ways."""
    ran: list[int] = []
    threads = [threading.Thread(target=ran.append, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    forked = started = True
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        forked = False
    try:
        os.posix_spawn(sys.executable, [sys.executable, "-V"], {})
    except OSError:
        started = False
    filtered = ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0
    return json.dumps(
        {"filtered": filtered, "threads": len(ran), "forked": forked, "started": started}
    )
