"""From a finished file to the bytes that may be charged for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from functions.media.boxes import read_layout
from functions.media.container_rules import judge_layout
from functions.media.inspect import inspect_sandboxed
from functions.media.remux import Repaired, repair_file
from functions.media.sandbox import Limits
from functions.media.verdict import (
    Check,
    Expected,
    Finding,
    NotVerified,
    Verdict,
    fault,
    hopeless,
    info,
    ok,
)

MENDED = "mended.mp4"
HTTP_OK = 200  # a partial answer is not the file either


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A verdict and the file it is about: the bytes that the customer would download."""

    verdict: Verdict
    path: Path
    repairs: tuple[str, ...] = ()  # made to it; empty if it is the given file


def verify_file(
    path: Path,
    expected: Expected,
    workdir: Path,
    *,
    thumbnails: Path | None = None,
    limits: Limits | None = None,
) -> Verified | NotVerified:
    """Inspect a file, repacked first where that is all it needs.

    The container is judged before anything is decoded, so a file that needs packing is packed
    first and decoded once: what is inspected is what will be delivered.
    """
    with path.open("rb") as file:
        findings = tuple(judge_layout(read_layout(file), expected))
    repairs = tuple(dict.fromkeys(finding.repair for finding in findings if finding.repair))
    if repairs and not hopeless(findings):
        repaired = repair_file(path, workdir / MENDED, repairs, limits=limits)
        if isinstance(repaired, Repaired):
            return _mended(repaired, expected, thumbnails, limits)
    verdict = inspect_sandboxed(path, expected, thumbnails=thumbnails, limits=limits)
    if isinstance(verdict, NotVerified):
        return verdict
    return Verified(verdict=verdict, path=path)


def _mended(
    repaired: Repaired, expected: Expected, thumbnails: Path | None, limits: Limits | None
) -> Verified | NotVerified:
    verdict = inspect_sandboxed(repaired.path, expected, thumbnails=thumbnails, limits=limits)
    if isinstance(verdict, NotVerified):
        return verdict
    note = Check(name="repacked", value=", ".join(repaired.repairs), limit="", verdict="info")
    return Verified(
        verdict=replace(verdict, checks=(note, *verdict.checks)),
        path=repaired.path,
        repairs=repaired.repairs,
    )


def fetch_checks(
    *,
    status: int,
    declared_bytes: int | None,
    received_bytes: int,
    bytes_max: int,
    sha256_expected: str | None = None,
    sha256: str | None = None,
) -> Iterator[Finding]:
    """Judge a transfer before the file is opened: nothing else sees every changed byte."""
    if status != HTTP_OK:
        yield fault("fail", "status", status, str(HTTP_OK), "not_delivered")
    if declared_bytes is None:
        yield info("length", received_bytes, "not said")
    elif received_bytes != declared_bytes:
        yield fault("fail", "length", received_bytes, str(declared_bytes), "cut_transfer")
    else:
        yield ok("length", received_bytes, str(declared_bytes))
    if received_bytes > bytes_max:
        yield fault("fail", "bytes", received_bytes, f"<= {bytes_max}", "too_many_bytes")
    if sha256_expected is None or sha256 is None:
        return
    if sha256.lower() != sha256_expected.lower():
        yield fault("fail", "sha256", sha256, sha256_expected, "changed_bytes")
    else:
        yield ok("sha256", sha256, sha256_expected)
