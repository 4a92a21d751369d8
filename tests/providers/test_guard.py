"""Where downloads may lead, and where they may not, whatever the spelling."""

import ssl
from collections.abc import Iterable, Sequence

import httpcore
import pytest

from functions.adapters.guard import (
    GuardedNetwork,
    RefusedError,
    forbidden,
    target_of,
    trusted_tls,
)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",  # noqa: S104 - refused
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.127.255.255",
        "169.254.169.254",  # instances
        "169.254.170.2",  # containers
        "169.254.170.23",  # pods
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",  # instances, over IPv6
        "fd00:ec2::23",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "",
        "localhost",
        "2130706433",
        "0x7f.1",
        "127.1",
        "010.0.0.1",
    ],
)
def test_an_address_that_is_not_public_is_forbidden(address: str) -> None:
    assert forbidden(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "52.95.110.1", "2606:4700::1111", "2a00:1450::1"])
def test_a_public_address_is_not(address: str) -> None:
    assert not forbidden(address)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://files.example/a", "not-https-443"),
        ("https://files.example:8443/a", "not-https-443"),
        ("https://files.example:80/a", "not-https-443"),
        ("ftp://files.example/a", "malformed"),
        ("file:///etc/passwd", "malformed"),
        ("gopher://files.example/", "malformed"),
        ("data:video/mp4;base64,AA", "malformed"),
        ("//files.example/a", "malformed"),
        ("", "malformed"),
        ("https:///a", "malformed"),
        ("https://files.example:99999/a", "malformed"),
        ("https://files.example:0/a", "malformed"),
        ("https://[::1/a", "malformed"),
        ("https://files.example/a b", "malformed"),
        ("https://files.example/a\r\nhost: x", "malformed"),
        ("https://files.example\\@evil.example/", "malformed"),
        ("https://files.example/\u202ea", "malformed"),
        (f"https://files.example/{'a' * 5000}", "malformed"),
        ("https://user@files.example/a", "userinfo"),
        ("https://user:pass@files.example/a", "userinfo"),
        ("https://files.example@evil.example/a", "userinfo"),
        ("https://@files.example/a", "userinfo"),
        ("https://127.0.0.1/a", "no-name"),
        ("https://8.8.8.8/a", "no-name"),
        ("https://2130706433/a", "no-name"),
        ("https://0x7f000001/a", "no-name"),
        ("https://0x7f.0.0.1/a", "no-name"),
        ("https://0177.0.0.01/a", "no-name"),
        ("https://127.1/a", "no-name"),
        ("https://127.0.0.1./a", "no-name"),
        ("https://①②⑦.⓪.⓪.①/a", "no-name"),
        ("https://１２７.0.0.1/a", "no-name"),  # noqa: RUF001 - spelt in wide digits
        ("https://[::1]/a", "no-name"),
        ("https://[::ffff:7f00:1]/a", "no-name"),
        ("https://[fd00:ec2::254]/a", "no-name"),
        ("https://localhost/a", "no-name"),
        ("https://metadata/a", "no-name"),
        ("https://evil.example/a", "host-not-allowed"),
        ("https://files.example.evil.example/a", "host-not-allowed"),
        ("https://notfiles.example/a", "host-not-allowed"),
    ],
)
def test_an_address_is_refused_by_how_it_is_written(url: str, code: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        target_of(url, hosts=("files.example",))

    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://files.example/a.mp4?x=1&y=%20#z", "files.example", "/a.mp4?x=1&y=%20"),
        ("https://FILES.example:443", "files.example", "/"),
        ("https://cdn.files.example./ä", "cdn.files.example", "/%C3%A4"),
        ("https://a-1.cdn.files.example/", "a-1.cdn.files.example", "/"),
    ],
)
def test_an_address_that_passes_is_sent_in_parts(url: str, host: str, path: str) -> None:
    target = target_of(url, hosts=("files.example",))

    assert (target.scheme, target.host, target.port, target.path) == ("https", host, 443, path)


def test_names_of_any_script_are_compared_in_one_form() -> None:
    assert target_of("https://Bücher.example/", hosts=("xn--bcher-kva.example",)).host
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "files")
    assert target_of(f"https://{wide}.example/", hosts=("files.example",)).host == "files.example"


def test_without_rules_any_name_passes_and_no_number() -> None:
    assert target_of("https://anywhere.example/a", hosts=()).host == "anywhere.example"
    with pytest.raises(RefusedError):
        target_of("https://169.254.169.254/a", hosts=())


def test_only_the_very_origin_of_a_test_is_exempt() -> None:
    origin = "http://127.0.0.1:4711"

    assert target_of(f"{origin}/a", hosts=("files.example",), test_origins=[origin]).port == 4711
    for url in ("http://127.0.0.1:4712/a", "https://127.0.0.1:4711/a", "http://127.0.0.2:4711/a"):
        with pytest.raises(RefusedError):
            target_of(url, hosts=(), test_origins=[origin])


class Wire(httpcore.MockStream):
    """A connection to nowhere that notes what it was secured for."""

    def __init__(self, notes: list[str]) -> None:
        super().__init__([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"])
        self.notes = notes

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 - the library's signature
    ) -> httpcore.NetworkStream:
        assert ssl_context.check_hostname
        self.notes.append(f"tls {server_hostname}")
        return self

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self.notes += [
            line.decode() for line in buffer.split(b"\r\n") if line.lower().startswith(b"host:")
        ]


class Wires(httpcore.MockBackend):
    """A network that notes where it was asked to connect; some addresses do not answer."""

    def __init__(self, *, dead: Sequence[str] = ()) -> None:
        super().__init__([])
        self.notes: list[str] = []
        self.dead = dead

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        assert timeout is not None
        self.notes.append(f"tcp {host} {port}")
        if host in self.dead:
            raise httpcore.ConnectError
        return Wire(self.notes)


def fetched(network: Wires, *addresses: str, until: float = 1e12) -> list[str]:
    guarded = GuardedNetwork(lambda _host: addresses, until=until, network=network)
    with httpcore.ConnectionPool(trusted_tls(), network_backend=guarded) as pool:
        pool.request("GET", "https://files.example/a")
    return network.notes


def test_the_connection_goes_to_the_judged_address_under_the_name() -> None:
    notes = fetched(Wires(), "2606:4700::1111", "93.184.215.14")

    assert notes == ["tcp 93.184.215.14 443", "tls files.example", "Host: files.example"]


def test_another_judged_address_is_tried_where_one_is_dead() -> None:
    notes = fetched(Wires(dead=["93.184.215.14"]), "93.184.215.14", "93.184.215.15")

    assert notes[:2] == ["tcp 93.184.215.14 443", "tcp 93.184.215.15 443"]


def test_nothing_is_connected_when_the_time_is_over() -> None:
    network = Wires()
    with pytest.raises(httpcore.TimeoutException):
        fetched(network, "93.184.215.14", until=0.0)

    assert network.notes == []


def test_nothing_is_connected_to_a_name_without_addresses() -> None:
    with pytest.raises(httpcore.ConnectError):
        fetched(Wires())
