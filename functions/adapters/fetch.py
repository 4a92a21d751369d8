"""Downloads from strangers: streamed to disk, bounded in size and time, counted and hashed."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, TypeVar
from urllib.parse import urljoin

import httpcore

from functions.adapters.guard import (
    GuardedNetwork,
    RefusedError,
    Resolve,
    Target,
    resolved,
    target_of,
    trusted_tls,
)
from functions.domain.exchange import HttpReply, HttpRequest, retry_after_seconds, text
from functions.domain.jobs import Broken, Download, Fetched, OutputGone, RefusedAddress, TooLarge

REDIRECTS_MAX: Final = 3
CONNECT_SECONDS: Final = 5.0
SILENCE_SECONDS: Final = 15.0
OK: Final = 200
PARTIAL: Final = 206
BEYOND: Final = 416  # it is shorter than that
MOVED: Final = frozenset({301, 302, 303, 307, 308})
SERVER_FAULT: Final = 500
# What says nothing about the file: our key, or their load.
WORTH_REPEATING: Final = frozenset({401, 408, 425, 429})
SECRET_HEADERS: Final = frozenset({"authorization", "x-goog-api-key", "cookie"})

# By type, never by text; the first that fits counts.
_CODES: Final = (
    (httpcore.ConnectTimeout, "unreachable"),
    (httpcore.ConnectError, "unreachable"),
    (httpcore.TimeoutException, "timed-out"),
    (httpcore.ProtocolError, "cut-short"),
    (httpcore.NetworkError, "cut-short"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One download: where it may lead, and until when."""

    hosts: Sequence[str]
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a file. Without a `content_range` it is its beginning, whatever was asked for."""

    content: bytes
    content_type: str = ""
    content_range: str = ""
    length: int | None = None  # that the server named


T = TypeVar("T")
_Take: TypeAlias = Callable[[httpcore.Response], T]
_Trouble: TypeAlias = RefusedAddress | Broken


class Downloader:
    """Fetches finished files. Its endings are values; nothing it meets out there is raised.

    `test_origins`, such as `http://127.0.0.1:4711`, are exempt from the rules: none in production.
    """

    def __init__(
        self,
        *,
        seconds_max: float,
        test_origins: Iterable[str] = (),
        resolve: Resolve = resolved,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._seconds_max = seconds_max
        self._test_origins = frozenset(test_origins)
        self._resolve = resolve
        self._now = now

    def fetch(
        self, request: HttpRequest, path: Path, *, hosts: Sequence[str], bytes_max: int
    ) -> Download:
        """Stream a file to `path`. What is not whole is not left there."""
        wanted = _Wanted(hosts=hosts, until=time.monotonic() + self._seconds_max)
        result = self._ended(request, wanted, partial(self._taken, path, bytes_max))
        if not isinstance(result, Fetched):
            path.unlink(missing_ok=True)
        return result

    def piece(
        self, request: HttpRequest, *, start: int, count: int, hosts: Sequence[str] = ()
    ) -> Piece | OutputGone | RefusedAddress | Broken:
        """Read so many bytes of a file; a server that sends all of it is heard no further."""
        wanted = _Wanted(hosts=hosts, until=time.monotonic() + self._seconds_max)
        headers = {**request.headers, "range": f"bytes={start}-{start + count - 1}"}
        return self._ended(replace(request, headers=headers), wanted, partial(self._part, count))

    def _ended(self, request: HttpRequest, wanted: _Wanted, take: _Take[T]) -> T | _Trouble:
        try:
            return self._followed(request, wanted, take)
        except RefusedError as refusal:
            return RefusedAddress(code=refusal.code, host=refusal.host)
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            return Broken(code=next(code for kind, code in _CODES if isinstance(error, kind)))

    def _followed(self, request: HttpRequest, wanted: _Wanted, take: _Take[T]) -> T | _Trouble:
        url, headers = request.url, dict(request.headers)
        last: Target | None = None
        for _ in range(REDIRECTS_MAX + 1):
            target = target_of(url, hosts=wanted.hosts, test_origins=self._test_origins)
            if last and last.origin != target.origin:
                headers = {k: v for k, v in headers.items() if k.lower() not in SECRET_HEADERS}
            with self._answer(target, headers, wanted) as response:
                if response.status not in MOVED:
                    return take(response)
                url = urljoin(url, _headers(response).get("location", ""))
            last = target
        return Broken(code="too-many-redirects")

    @contextmanager
    def _answer(
        self, target: Target, headers: Mapping[str, str], wanted: _Wanted
    ) -> Iterator[httpcore.Response]:
        network = GuardedNetwork(self._resolve, until=wanted.until, test_origins=self._test_origins)
        own = {"accept": "*/*", "accept-encoding": "identity", "host": _host(target)}
        sent: list[tuple[bytes | str, bytes | str]] = list({**headers, **own}.items())
        url = httpcore.URL(
            scheme=target.scheme, host=target.host, port=target.port, target=target.path
        )
        quiet = {"connect": CONNECT_SECONDS, "read": SILENCE_SECONDS, "write": SILENCE_SECONDS}
        with (
            httpcore.ConnectionPool(
                trusted_tls(), network_backend=network, max_connections=1
            ) as pool,
            pool.stream("GET", url, headers=sent, extensions={"timeout": quiet}) as response,
        ):
            yield response

    def _part(self, count: int, response: httpcore.Response) -> Piece | OutputGone | Broken:
        headers = _headers(response)
        if response.status == BEYOND:
            return Piece(content=b"", content_range=headers.get("content-range", ""))
        if response.status not in (OK, PARTIAL):
            return self._no_file(response.status, headers)
        if headers.get("content-encoding", "identity") != "identity":
            return Broken(code="encoded")
        content = bytearray()
        for chunk in response.iter_stream():
            content += chunk
            if len(content) >= count:
                break
        return Piece(
            content=bytes(content[:count]),
            content_type=_kind(headers),
            content_range=headers.get("content-range", "") if response.status == PARTIAL else "",
            length=_length(headers),
        )

    def _taken(self, path: Path, bytes_max: int, response: httpcore.Response) -> Download:
        headers = _headers(response)
        if response.status != OK:
            return self._no_file(response.status, headers)
        if headers.get("content-encoding", "identity") != "identity":
            return Broken(code="encoded")
        length = _length(headers)
        if length is not None and length > bytes_max:
            return TooLarge(bytes_max=bytes_max)
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as file:
            for chunk in response.iter_stream():
                size += len(chunk)
                if size > bytes_max:
                    return TooLarge(bytes_max=bytes_max)
                digest.update(chunk)
                file.write(chunk)
        if size == 0 or length not in (None, size):
            return Broken(code="empty" if size == 0 else "cut-short")
        return Fetched(size_bytes=size, sha256=digest.hexdigest(), content_type=_kind(headers))

    def _no_file(self, status: int, headers: Mapping[str, str]) -> OutputGone | Broken:
        if status in WORTH_REPEATING or status >= SERVER_FAULT or status < OK:
            wait = retry_after_seconds(HttpReply(status=status, headers=headers), self._now())
            return Broken(code=f"http-{status}", retry_after_seconds=wait)
        if status // 100 == OK // 100:
            return Broken(code="empty")
        return OutputGone(status=status)


def _headers(response: httpcore.Response) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1").strip()
        for name, value in response.headers
    }


def _length(headers: Mapping[str, str]) -> int | None:
    told = headers.get("content-length", "")
    return int(told) if told.isascii() and told.isdigit() else None


def _kind(headers: Mapping[str, str]) -> str:
    return text(headers.get("content-type", "")).partition(";")[0].strip().lower()


def _host(target: Target) -> str:
    usual = {"https": 443, "http": 80}[target.scheme]
    return target.host if target.port == usual else f"{target.host}:{target.port}"
