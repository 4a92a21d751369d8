"""Memory and disk, told before they are used up."""

from pathlib import Path

import pytest

from functions.adapters.machine import MEMORY_FULL, memory_share, shortage_of
from functions.domain.work import DISK_FULL


def cgroup(folder: Path, *, most: str, used: int, cache: int = 0) -> Path:
    (folder / "memory.max").write_text(f"{most}\n", "ascii")
    (folder / "memory.current").write_text(f"{used}\n", "ascii")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cache}\n", "ascii")
    return folder


@pytest.mark.parametrize(
    ("most", "used", "cache", "share"),
    [("1000", 900, 0, 0.9), ("1000", 900, 400, 0.5), ("max", 900, 0, None)],
)
def test_a_containers_memory_counts_without_what_can_be_given_back(
    tmp_path: Path, most: str, used: int, cache: int, share: float | None
) -> None:
    assert memory_share(cgroup(tmp_path, most=most, used=used, cache=cache)) == share


def test_where_there_is_no_container_nothing_is_said(tmp_path: Path) -> None:
    assert memory_share(tmp_path) is None
    assert shortage_of(tmp_path, cgroup=tmp_path) is None


def test_memory_is_told_before_it_is_used_up(tmp_path: Path) -> None:
    nearly = cgroup(tmp_path, most="1000", used=960)
    assert shortage_of(tmp_path, cgroup=nearly) == MEMORY_FULL


def test_a_full_disk_is_told_before_a_write_fails(tmp_path: Path) -> None:
    assert shortage_of(tmp_path, cgroup=tmp_path, disk_bytes_min=1 << 60) == DISK_FULL
