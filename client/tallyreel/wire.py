"""What both clients share of HTTP."""

import mimetypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tallyreel.steps import PARTIAL, Answer, Send

Token = str | Callable[[], str]


def fresh_from(token: Token | None) -> str | None:
    """Take the token, or have one made."""
    return token() if callable(token) else token


def located(base_url: str) -> tuple[str, dict[str, str]]:
    """Say where to connect, and to whom: browsers find names below `localhost`, Python does not."""
    url = httpx.URL(base_url.rstrip("/"))
    if not url.host.endswith(".localhost"):
        return str(url).rstrip("/"), {}
    host = url.netloc.decode()
    return str(url.copy_with(host="127.0.0.1")).rstrip("/"), {"Host": host}


def request_of(base: tuple[str, dict[str, str]], step: Send, token: str | None) -> dict[str, Any]:
    """Put a request together."""
    address, host = base
    headers = {**host, **step.headers}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    made: dict[str, Any] = {"method": step.method, "url": address + step.path, "headers": headers}
    if step.body is not None:
        made["json"] = step.body
    if step.query:
        made["params"] = dict(step.query)
    return made


def answer_of(answer: httpx.Response) -> Answer:
    """Read an answer; one that is no JSON has no body, but may have text."""
    try:
        body = answer.json() if answer.content else None
    except ValueError:
        body = None
    return Answer(
        status=answer.status_code,
        body=body if isinstance(body, dict) else None,
        headers={name.lower(): value for name, value in answer.headers.items()},
        text=answer.text if answer.headers.get("content-type", "").startswith("text/") else "",
    )


def lost(error: httpx.TransportError) -> Answer:
    """Say that nothing came back."""
    return Answer(status=0, why=f"{type(error).__name__}: {error}")


def range_of(file: Path) -> dict[str, str]:
    """Ask for what a file still lacks."""
    size = file.stat().st_size if file.is_file() else 0
    return {"Range": f"bytes={size}-"} if size else {}


@contextmanager
def written(file: Path, answer: httpx.Response) -> Iterator[Callable[[bytes], Any]]:
    """Append a part, or begin anew if the whole came; anything but a success changes nothing."""
    if not answer.is_success:
        yield len
        return
    with file.open("ab" if answer.status_code == PARTIAL else "wb") as opened:
        yield opened.write


def content_type_of(file: Path) -> str:
    """Guess what a file is, by its name."""
    kind, packed = mimetypes.guess_type(file.name)
    if packed == "gzip":
        return "application/gzip"
    if kind is None:
        raise ValueError(f"{file.name}: say its content_type")
    return kind
