"""Stored objects as the pipeline sees them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

HEAD_BYTES = 64 * 1024  # enough for the header of every accepted source
SLACK_SECONDS, SLACK_SHARE = 2.0, 0.02  # headers are rounded, and tracks end apart


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaHead:
    """The beginning of a stored object and what the store says of the whole.

    `etag` identifies the bytes: work started on one etag refuses another.
    """

    key: str
    size_bytes: int
    etag: str
    content_type: str
    head: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """A customer's address from which no file is to be had; `reason` is for the customer."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One object in a listing."""

    key: str
    size_bytes: int
    stored_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadForm:
    """A presigned POST: the fields go before the file, unchanged."""

    url: str
    fields: dict[str, str]


def identity(size_bytes: int, head: bytes) -> str:
    """Name a file elsewhere by its size and first bytes: servers' own names for it change."""
    return hashlib.sha256(f"{size_bytes} ".encode() + head).hexdigest()


def length_slack(seconds: float) -> float:
    """Say by how much a video may differ from the length that it was priced by."""
    return max(SLACK_SECONDS, SLACK_SHARE * seconds)


def source_key(account: str, upload: str) -> str:
    """Where an upload lies."""
    return f"in/{account}/{upload}"


def outputs_prefix(account: str) -> str:
    """Where all outputs of an account lie."""
    return f"out/{account}/"


def output_key(account: str, task: str, attempt: int, lease: str, extension: str = "mp4") -> str:
    """Where an attempt's output lies: one write-once place per lease."""
    return f"out/{account}/{task}/{attempt}-{lease}.{extension}"


def thumbnail_key(output: str, name: str) -> str:
    """Where one of an output's pictures lies."""
    return f"{output.rpartition('.')[0]}-{name}"


def inspection_key(output: str) -> str:
    """Where the word about an output lies that was looked at where it was made."""
    return f"{output.rpartition('.')[0]}-inspection.json"


def part_key(account: str, task: str, attempt: int, lease: str, part: str) -> str:
    """Where a part of a source lies as a model is to see it."""
    return f"out/{account}/{task}/{attempt}-{lease}-{part}"


def answer_key(account: str, task: str, cycle: int, question: str) -> str:
    """Where a model's good answer lies. It was paid, and later attempts do without asking."""
    return f"out/{account}/{task}/answer-{cycle}-{question}.json"


def mended_key(account: str, task: str, attempt: int, sha256: str) -> str:
    """Where a repacked output lies: named by its bytes, so that repeats agree."""
    return f"out/{account}/{task}/{attempt}-{sha256[:16]}.mp4"
