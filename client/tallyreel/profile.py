"""What the command line remembers: who you are and where, and orders whose answer is missing."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from tallyreel.errors import NotSignedIn


def folder() -> Path:
    """Find this user's own folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    found = Path(os.environ.get("TALLYREEL_HOME") or Path(base, "tallyreel"))
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`TALLYREEL_URL` and `TALLYREEL_TOKEN` go before what is kept."""

    url: str
    refresh: str = ""
    token: str = ""

    @classmethod
    def load(cls) -> Self:
        """Read what is known."""
        url, token = os.environ.get("TALLYREEL_URL"), os.environ.get("TALLYREEL_TOKEN")
        if url and token:
            return cls(url=url, token=token)
        try:
            kept = json.loads((folder() / "login.json").read_text("utf-8"))
        except FileNotFoundError:
            raise NotSignedIn(401, {"detail": "Sign in first: tallyreel login URL"}) from None
        return cls(url=kept["url"], refresh=kept["refresh"])

    def save(self) -> Path:
        """Keep it, for this user only."""
        file = folder() / "login.json"
        text = json.dumps({"url": self.url, "refresh": self.refresh})
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(text)
        return file


def waiting_name(
    file: Path | None, kind: str, given: Mapping[str, Any], provider: str | None
) -> str:
    """Name an order by what is ordered: the file's content, if there is one, and every option."""
    digest = hashlib.sha256()
    if file is not None:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, hashlib.sha256)
    digest.update(json.dumps([kind, dict(given), provider], sort_keys=True).encode())
    return f"order-{digest.hexdigest()[:24]}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An order that was or is about to be sent, until its answer is known."""

    key: str
    source: str  # the upload's id; empty where an address is ordered

    @classmethod
    def load(cls, name: str) -> Self | None:
        """Find it."""
        try:
            return cls(**json.loads((folder() / name).read_text("utf-8")))
        except FileNotFoundError:
            return None

    def save(self, name: str) -> Self:
        """Keep it before it is sent."""
        (folder() / name).write_text(json.dumps(asdict(self)), "utf-8")
        return self

    @staticmethod
    def forget(name: str) -> None:
        """Drop it: its answer is known."""
        (folder() / name).unlink(missing_ok=True)
