"""What is left of this machine's memory and disk, told before it is used up."""

import shutil
from pathlib import Path

from functions.domain.outcomes import Failed
from functions.domain.work import DISK_FULL

DISK_BYTES_MIN = 256 << 20
MEMORY_SHARE_MAX = 0.95
CGROUP = Path("/sys/fs/cgroup")  # the container's own, where there is one

MEMORY_FULL = Failed(code="memory-full", reason="The work took more memory than there is.")


def shortage_of(
    workdir: Path, *, cgroup: Path = CGROUP, disk_bytes_min: int = DISK_BYTES_MIN
) -> Failed | None:
    """Say what is about to run out; a process that is killed for it could not."""
    if shutil.disk_usage(workdir).free < disk_bytes_min:
        return DISK_FULL
    share = memory_share(cgroup)
    return MEMORY_FULL if share is not None and share > MEMORY_SHARE_MAX else None


def memory_share(cgroup: Path = CGROUP) -> float | None:
    """Say how much of its memory a container uses, without what it could give back; None: any."""
    try:
        most = (cgroup / "memory.max").read_text("ascii").strip()
        used = int((cgroup / "memory.current").read_text("ascii"))
        told = (cgroup / "memory.stat").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    if not most.isdecimal():
        return None
    parts = dict(line.split(maxsplit=1) for line in told if " " in line)
    return (used - int(parts.get("inactive_file", 0))) / int(most)
