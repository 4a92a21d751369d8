"""Stored objects as the pipeline sees them."""

from dataclasses import dataclass
from datetime import datetime


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


def source_key(account: str, upload: str) -> str:
    """Where an upload lies."""
    return f"in/{account}/{upload}"


def outputs_prefix(account: str) -> str:
    """Where all outputs of an account lie."""
    return f"out/{account}/"


def output_key(account: str, task: str, attempt: int, lease: str) -> str:
    """Where an attempt's output lies: one write-once place per lease."""
    return f"out/{account}/{task}/{attempt}-{lease}.mp4"


def thumbnail_key(output: str, name: str) -> str:
    """Where an output's poster or strip lies."""
    return f"{output.removesuffix('.mp4')}-{name}"


def inspection_key(output: str) -> str:
    """Where the word about an output lies that was looked at where it was made."""
    return f"{output.removesuffix('.mp4')}-inspection.json"


def mended_key(account: str, task: str, attempt: int, sha256: str) -> str:
    """Where a repacked output lies: named by its bytes, so that repeats agree."""
    return f"out/{account}/{task}/{attempt}-{sha256[:16]}.mp4"
