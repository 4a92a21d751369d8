"""Builds the dependency layers from hashed requirements, without Docker.

Wheels are chosen by platform tag, so one machine builds for another. The result depends on
nothing but its inputs and is kept in `build/layers/` under their hash: only a changed
requirement needs the network.
"""

import compileall
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "layers"

DAY_ONE = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can say

# Lambda's Python runtimes run on Amazon Linux 2023, which has glibc 2.34.
GLIBC_MINORS = (34, 28, 17)

# botocore ships the descriptions of 400 services, 25 MB and 2,000 files that each cold start
# pays for. A service that an adapter begins to use is added here; a test compares the two.
AWS_SERVICES = ("dynamodb", "s3", "secretsmanager", "sqs", "stepfunctions", "sts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The machine that the wheels are for."""

    python: str  # "3.14"
    machine: str | None = None  # "aarch64" on Linux; None is this very machine

    @classmethod
    def here(cls) -> "Target":
        """Name the host: the emulator runs functions with the Python that runs this."""
        return cls(python=f"{sys.version_info.major}.{sys.version_info.minor}")

    @property
    def label(self) -> str:
        """Name the target in the cache."""
        return self.machine or f"{platform.system()}-{platform.machine()}".lower()


def layer(name: str, requirements: Path, target: Target) -> tuple[Path, str]:
    """Build the layer unless it is there; return its archive and the hash of what went in."""
    digest = hashlib.sha256()
    for part in (requirements.read_bytes(), Path(__file__).read_bytes()):
        digest.update(hashlib.sha256(part).digest())
    digest.update(f"{target.python} {target.label}".encode())
    key = digest.hexdigest()
    archive = CACHE / f"{name}-{target.label}-py{target.python}-{key[:12]}.zip"
    if not archive.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as aside:
            _build(Path(aside), requirements, target)
            _zip(Path(aside), archive, small=target.machine is not None)
    return archive, key


def _build(folder: Path, requirements: Path, target: Target) -> None:
    site = folder / "python"
    site.mkdir()
    _install(site, requirements, target)
    _strip(site)
    if target.machine is None:
        # Here each start of a function unpacks the layer anew, and would compile it anew.
        compileall.compile_dir(
            site,
            quiet=2,
            stripdir=str(folder),
            prependdir="/opt",  # where a layer is on Lambda
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )


def _zip(folder: Path, archive: Path, *, small: bool) -> None:
    """Archive a folder so that the same content gives the same bytes."""
    how = ZIP_DEFLATED if small else ZIP_STORED  # packing takes longer than copying does here
    # Named by process and renamed, so that two builds at once leave one whole archive.
    part = archive.with_name(f"{archive.name}.{os.getpid()}")
    with ZipFile(part, "w", how) as target:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = ZipInfo(str(file.relative_to(folder)), DAY_ONE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = how
            target.writestr(entry, file.read_bytes())
    part.replace(archive)


def _install(site: Path, requirements: Path, target: Target) -> None:
    command = _uv(target) if importlib.util.find_spec("uv") else _pip(target)
    command += ["--target", str(site), "--only-binary", ":all:", "--no-deps"]
    command += ["--require-hashes", "--requirement", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed command
    if done.returncode:
        raise RuntimeError(f"cannot build the layer from {requirements.name}:\n{done.stderr}")


def _uv(target: Target) -> list[str]:
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet"]
    command += ["--link-mode", "copy", "--python-version", target.python]
    if target.machine:
        command += ["--python-platform", f"{target.machine}-manylinux_2_{GLIBC_MINORS[0]}"]
    return command


def _pip(target: Target) -> list[str]:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
    command += ["--disable-pip-version-check"]
    if target.machine:
        for minor in GLIBC_MINORS:
            command += ["--platform", f"manylinux_2_{minor}_{target.machine}"]
        version = target.python.replace(".", "")
        command += ["--python-version", target.python, "--implementation", "cp"]
        command += ["--abi", f"cp{version}", "--abi", "abi3", "--abi", "none"]
    return command


def _strip(site: Path) -> None:
    """Remove what no function reads and what differs between installers."""
    for name in ("bin", "boto3/examples", "share"):
        shutil.rmtree(site / name, ignore_errors=True)
    for folder in [*site.rglob("__pycache__"), *site.rglob("tests"), *site.rglob("include")]:
        shutil.rmtree(folder, ignore_errors=True)
    for info in site.glob("*.dist-info"):
        for name in ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "uv_cache.json"):
            (info / name).unlink(missing_ok=True)
    (site / ".lock").unlink(missing_ok=True)
    for path in [*site.rglob("*.pyi"), *site.rglob("*.pxd"), *site.rglob("*.pyx")]:
        path.unlink()
    data = site / "botocore" / "data"
    if data.is_dir():
        for folder in data.iterdir():
            if folder.is_dir() and folder.name not in AWS_SERVICES:
                shutil.rmtree(folder)
