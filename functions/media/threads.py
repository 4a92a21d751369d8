"""How a confined process may have threads and still no process of its own.

A limit on processes counts threads too, and root's it does not bound at all. So where decoding
takes several threads, the kernel is told the difference: a filter on system calls lets `clone`
make threads only and refuses every other way to make or become a process. It cannot be taken
back, and threads inherit it. Where no filter can be set, the limit stays and there is one thread.
"""

import ctypes
import errno
import platform
import struct
import sys
import threading
from typing import Final

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
AT_NUMBER, AT_ARCHITECTURE, AT_FLAGS = 0, 4, 16  # in what the kernel shows the filter
CLONE_THREAD: Final = 0x10000
OTHER_ABI: Final = 0x4000_0000  # from here on x86-64 has the same calls by other numbers
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, MODE_FILTER = 38, 22, 2
CLONE3: Final = 435  # its flags lie in memory, where no filter sees them
# Architecture, clone, and fork, vfork, execve, execveat as far as it has them.
CALLS: Final = {
    "x86_64": (0xC000_003E, 56, (57, 58, 59, 322)),
    "aarch64": (0xC000_00B7, 220, (221, 281)),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def forbid_processes() -> bool:
    """Let this process make threads but no processes, for good. False: it could not be done."""
    if sys.platform != "linux" or platform.machine() not in CALLS:
        return False
    steps = _steps(*CALLS[platform.machine()])
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(steps), ctypes.addressof(buffer))
    try:
        control = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return False
    if control(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(control(SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _steps(
    architecture: int, clone: int, others: tuple[int, ...]
) -> list[tuple[int, int, int, int]]:
    """Write the filter. Each step: what to do, steps to skip if true and if false, a value."""
    refused = (RETURN, 0, 0, REFUSE | errno.EPERM)
    steps = [
        (LOAD, 0, 0, AT_ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, AT_NUMBER),
        (AT_LEAST, 0, 1, OTHER_ABI),
        refused,
        # The C library then falls back on `clone`.
        (EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    for number in others:
        steps += [(EQUAL, 0, 1, number), refused]
    return [
        *steps,
        (EQUAL, 0, 3, clone),
        (LOAD, 0, 0, AT_FLAGS),
        (ANY_BIT, 1, 0, CLONE_THREAD),
        refused,
        (RETURN, 0, 0, ALLOW),
    ]


def usable_threads(wanted: int) -> int:
    """Say how many threads there may be: as many as wanted, or one where none can be started."""
    tried = threading.Thread(target=_nothing)
    try:
        tried.start()
    except RuntimeError:
        return 1
    tried.join()
    return max(1, wanted)


def _nothing() -> None:
    """Do what a thread does that was only started to see whether it can be."""
