"""Where a download may lead: https by name, to a public address, and to no other than was judged.

The name is resolved once, every address found is judged, and the connection is made to one of
those very addresses; TLS and the Host header keep the name. So an answer of the name service
that changes afterwards changes nothing.
"""

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, cast
from urllib.parse import SplitResult, quote, urlsplit

import httpcore
import httpx
import idna

HTTPS_PORT: Final = 443
URL_CHARACTERS_MAX: Final = 4096
Resolve = Callable[[str], Sequence[str]]

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Written out, because the library's own tables differ between versions of Python. What is not
# global unicast in IPv6 need not be listed.
_FORBIDDEN: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; credentials of functions, containers and instances
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, three times
        "198.51.100.0/24",
        "203.0.113.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation, twice
        "3fff::/20",
        "2002::/16",  # IPv4 in IPv6; all other ways lie outside of global unicast
    )
)
_GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")
_NUMERIC_LABEL: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SAFE: Final = "%/:=&?~+!$,;'@()*[]"


class RefusedError(Exception):
    """An address that is not called; `code` says why."""

    def __init__(self, code: str, host: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.host = host


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An address that passed, in the parts that are sent: nothing parses it a second time."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Name scheme, host and port."""
        return f"{self.scheme}://{self.host}:{self.port}"


def target_of(url: str, *, hosts: Sequence[str], test_origins: Iterable[str] = ()) -> Target:
    """Judge an address by how it is written. `hosts` includes subdomains; none: any name."""
    parts = _parts(url)
    host = _host(parts)
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else 80)
    path = quote(parts.path or "/", safe=_SAFE)
    if parts.query:
        path = f"{path}?{quote(parts.query, safe=_SAFE)}"
    target = Target(scheme=parts.scheme, host=host, port=port, path=path)
    if target.origin in test_origins:
        return target
    if parts.scheme != "https" or port != HTTPS_PORT:
        raise RefusedError("not-https-443", host)
    if ":" in host or _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        raise RefusedError("no-name", host)
    if hosts and not any(host == rule or host.endswith(f".{rule}") for rule in hosts):
        raise RefusedError("host-not-allowed", host)
    return target


def _parts(url: str) -> SplitResult:
    odd = any(character.isspace() or not character.isprintable() for character in url)
    if odd or "\\" in url or len(url) > URL_CHARACTERS_MAX:
        raise RefusedError("malformed")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise RefusedError("malformed") from error
    if port == 0 or parts.scheme not in ("http", "https") or not parts.hostname:
        raise RefusedError("malformed")
    if "@" in parts.netloc:
        raise RefusedError("userinfo")
    return parts


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        return host
    try:
        name = idna.encode(host.removesuffix("."), uts46=True).decode().lower()
    except idna.IDNAError as error:
        raise RefusedError("malformed") from error
    if "." not in name:  # names of the local network have no dot
        raise RefusedError("no-name", name)
    return name


def forbidden(written: str) -> bool:
    """Whether an address is anything but a public unicast one."""
    try:
        address: _Address = ipaddress.ip_address(written)
    except ValueError:
        return True
    if any(address in network for network in _FORBIDDEN) or not address.is_global:
        return True
    return isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST


def resolved(host: str) -> list[str]:
    """Ask the name service, once."""
    found = socket.getaddrinfo(host, HTTPS_PORT, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@cache
def trusted_tls() -> ssl.SSLContext:
    """Make the context that checks certificates; reading the authorities takes a while."""
    return httpx.create_ssl_context(trust_env=False)


class GuardedNetwork(httpcore.NetworkBackend):
    """Connects to public addresses only, and to nothing after a point in time."""

    def __init__(
        self,
        resolve: Resolve,
        *,
        until: float,
        test_origins: Iterable[str] = (),
        network: httpcore.NetworkBackend | None = None,
    ) -> None:
        self._resolve = resolve
        self._until = until
        self._open = frozenset(origin.partition("://")[2] for origin in test_origins)
        self._network = network or httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = httpcore.ConnectError("no address")
        for address in self._addresses(host, port):
            try:
                stream = self._network.connect_tcp(
                    address, port, _left(self._until, timeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _TimedStream(stream, self._until)
        raise failed

    def _addresses(self, host: str, port: int) -> list[str]:
        if f"{host}:{port}" in self._open:
            return [host]
        try:
            found = self._resolve(host)
        except OSError as error:
            raise httpcore.ConnectError("no such name") from error
        if any(forbidden(address) for address in found):
            raise RefusedError("address-not-public", host)
        return sorted(found, key=lambda address: ":" in address)  # few of our networks have IPv6


class _TimedStream(httpcore.NetworkStream):
    """A connection whose reads and writes all end at the same moment."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._until, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._until, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, _left(self._until, timeout))
        return _TimedStream(secured, self._until)

    def get_extra_info(self, info: str) -> object:
        return cast("object", self._stream.get_extra_info(info))


def _left(until: float, timeout: float | None) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time for all of it is over")
    return left if timeout is None else min(left, timeout)
