"""Disks that really are that small: mounted in a namespace that ends with its command."""

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

# Mounts, then becomes the command; whoever is not root is root in there only for the mount.
MOUNT = 'mount -t tmpfs -o "size=$1k,mode=755" tmpfs "$2" && shift 2 && exec "$@"'


def tiny_disk(folder: Path, kilobytes: int) -> list[str]:
    """The beginning of a command that finds a disk of that size at `folder`."""
    mine = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    return ["unshare", *mine, "--mount", "sh", "-c", MOUNT, "sh", str(kilobytes), str(folder)]


@cache
def no_tiny_disks() -> str | None:
    """Why there are none on this machine, if so."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            tried = subprocess.run(
                [*tiny_disk(Path(folder), 64), "true"], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            return "unshare is missing"
    return f"no mounts here: {tried.stderr.strip()}" if tried.returncode else None
