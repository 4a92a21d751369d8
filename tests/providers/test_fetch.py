"""Downloads: whole and counted, or not there; bounded; never to an address that was not judged."""

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.fetch import Downloader
from functions.domain.exchange import HttpRequest
from functions.domain.jobs import (
    Broken,
    Download,
    Fetched,
    OutputGone,
    RefusedAddress,
    TooLarge,
)
from local.fakes.script import File, Script
from tests.doubles.world import START
from tests.providers.rude import answer, rude_server
from tests.providers.stage import CLIP, Stage

BYTES_MAX = 1 << 20


class Names:
    """A name service that answers from a list, and counts."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if not self.answers:
            raise OSError("no such name")
        return self.answers.pop(0)


def get(url: str, path: Path, **given: Any) -> Download:
    hosts, bytes_max = given.pop("hosts", ()), given.pop("bytes_max", BYTES_MAX)
    headers = given.pop("headers", {})
    downloader = Downloader(**({"seconds_max": 5} | given))
    request = HttpRequest(method="GET", url=url, headers=headers)
    return downloader.fetch(request, path, hosts=hosts, bytes_max=bytes_max)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "film"


def test_a_whole_film_is_counted_and_hashed(path: Path) -> None:
    with rude_server([answer(CLIP, content_type="Video/MP4; x=y")]) as rude:
        fetched = get(f"{rude.address}/a", path, test_origins=[rude.address])

    digest = hashlib.sha256(CLIP).hexdigest()
    assert fetched == Fetched(size_bytes=len(CLIP), sha256=digest, content_type="video/mp4")
    assert path.read_bytes() == CLIP
    assert b"accept-encoding: identity" in rude.requests[0].lower()
    assert f"host: 127.0.0.1:{rude.port}".encode() in rude.requests[0].lower()


def test_a_film_in_chunks_is_as_good(path: Path) -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    with rude_server([chunked]) as rude:
        assert isinstance(get(rude.address, path, test_origins=[rude.address]), Fetched)

    assert path.read_bytes() == b"abcde"


@pytest.mark.parametrize(
    ("piece", "ending"),
    [
        (answer(CLIP[:100], length=200), Broken(code="cut-short")),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc",
            Broken(code="cut-short"),
        ),
        (b"rubbish\r\n\r\n", Broken(code="cut-short")),
        (None, Broken(code="cut-short")),
        (answer(b""), Broken(code="empty")),
        (answer(b"", status="204 No Content"), Broken(code="empty")),
        (answer(b"", status="206 Partial Content"), Broken(code="empty")),
        (answer(gzip.compress(CLIP), content_encoding="gzip"), Broken(code="encoded")),
        (answer(b"x" * 2000), TooLarge(bytes_max=1000)),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n" + b"x" * 2000 + b"\r\n",
            TooLarge(bytes_max=1000),
        ),
        (answer(b"", length=10**12), TooLarge(bytes_max=1000)),
        (answer(b"", status="404 Not Found"), OutputGone(status=404)),
        (answer(b"", status="403 Forbidden"), OutputGone(status=403)),
        (answer(b"", status="410 Gone"), OutputGone(status=410)),
        (answer(b"", status="401 Unauthorized"), Broken(code="http-401")),
        (
            answer(b"", status="503 Busy", retry_after="9"),
            Broken(code="http-503", retry_after_seconds=9),
        ),
        (
            answer(b"", status="429 Slow", retry_after="Mon, 30 Nov 2026 10:00:30 GMT"),
            Broken(code="http-429", retry_after_seconds=30),
        ),
        (answer(b"", status="302 Found"), Broken(code="too-many-redirects")),
        (
            answer(b"", status="302 Found", location="http://169.254.169.254/latest/meta-data/"),
            RefusedAddress(code="not-https-443", host="169.254.169.254"),
        ),
        (
            answer(b"", status="302 Found", location="file:///etc/passwd"),
            RefusedAddress(code="malformed", host=""),
        ),
        (
            answer(b"", status="301 Moved", location="https://evil.example/"),
            RefusedAddress(code="host-not-allowed", host="evil.example"),
        ),
    ],
    ids=lambda piece: repr(piece)[:40],
)
def test_each_ending_is_told_and_leaves_no_file(
    path: Path, piece: bytes | None, ending: Download
) -> None:
    with rude_server([piece]) as rude:
        seen = get(
            rude.address,
            path,
            test_origins=[rude.address],
            hosts=("files.example",),
            bytes_max=1000,
            now=lambda: START,
        )

    assert seen == ending
    assert not path.exists()


@pytest.mark.parametrize("piece", [b"", b"HTTP/1.1 200 OK\r\n", answer(b"abc", length=9)])
def test_a_server_that_goes_quiet_is_given_up(path: Path, piece: bytes) -> None:
    with rude_server([piece], hold=True) as rude:
        seen = get(rude.address, path, test_origins=[rude.address], seconds_max=0.2)

    assert seen == Broken(code="timed-out")
    assert not path.exists()


def test_a_redirect_is_followed_with_the_key_left_behind(path: Path) -> None:
    with rude_server([answer(CLIP)]) as second:
        moved = answer(b"", status="302 Found", location=f"{second.address}/b?c=d")
        with rude_server([moved]) as first:
            fetched = get(
                f"{first.address}/a",
                path,
                test_origins=[first.address, second.address],
                headers={"x-goog-api-key": "key", "x-other": "kept"},
            )

    assert isinstance(fetched, Fetched)
    assert b"x-goog-api-key: key" in first.requests[0].lower()
    assert b"x-goog-api-key" not in second.requests[0].lower()
    assert b"x-other: kept" in second.requests[0].lower()
    assert second.requests[0].startswith(b"GET /b?c=d ")


def test_four_redirects_are_too_many(path: Path) -> None:
    with rude_server([answer(b"", status="302 Found", location="/again")]) as rude:
        seen = get(rude.address, path, test_origins=[rude.address])

    assert seen == Broken(code="too-many-redirects")
    assert len(rude.requests) == 4


@pytest.mark.parametrize(
    "addresses",
    [
        ["169.254.169.254"],
        ["169.254.170.2"],
        ["127.0.0.1"],
        ["::ffff:7f00:1"],
        ["fd00:ec2::254"],
        ["100.64.0.1"],
        ["93.184.215.14", "10.0.0.1"],  # one bad one among good ones
    ],
)
def test_a_name_that_leads_inside_is_refused(path: Path, addresses: list[str]) -> None:
    seen = get("https://files.example/a", path, resolve=Names(addresses))

    assert seen == RefusedAddress(code="address-not-public", host="files.example")


def test_a_name_that_changes_its_answer_is_asked_once_a_connection(path: Path) -> None:
    names = Names(["10.0.0.1"], ["93.184.215.14"])
    seen = get("https://files.example/a", path, resolve=names)

    assert isinstance(seen, RefusedAddress)
    assert names.asked == ["files.example"]


def test_a_name_that_does_not_exist_can_be_tried_again(path: Path) -> None:
    assert get("https://files.example/a", path, resolve=Names()) == Broken(code="unreachable")


def test_the_test_origin_opens_no_other_door(path: Path) -> None:
    with rude_server([answer(CLIP)]) as rude:
        seen = get(f"https://127.0.0.1:{rude.port}/a", path, test_origins=[rude.address])

    assert seen == RefusedAddress(code="not-https-443", host="127.0.0.1")
    assert rude.connections == 0


@pytest.mark.parametrize(
    ("file", "ending"),
    [
        (File.TRUNCATED, Broken(code="cut-short")),
        (File.GONE, OutputGone(status=404)),
        (File.BUSY, Broken(code="http-503")),
        (File.ASTRAY, RefusedAddress(code="not-https-443", host="169.254.169.254")),
    ],
)
def test_a_stand_in_s_bad_files_end_as_they_should(
    runway: Stage, path: Path, file: File, ending: Download
) -> None:
    seen = runway.observed(Script(file=file))
    url = seen.outputs[0].url

    assert get(url, path, test_origins=[runway.server.address]) == ending


def test_a_file_that_moved_is_fetched(runway: Stage, path: Path) -> None:
    seen = runway.observed(Script(file=File.MOVED))
    fetched = get(seen.outputs[0].url, path, test_origins=[runway.server.address])

    assert isinstance(fetched, Fetched)


def test_a_film_behind_a_key_needs_it(veo: Stage, path: Path) -> None:
    seen = veo.observed(Script(), seconds=8)
    (output,) = seen.outputs
    origins = [veo.server.address]

    assert get(output.url, path, test_origins=origins) == Broken(code="http-401")
    headers = veo.provider.download(output, veo.secrets).headers
    assert isinstance(get(output.url, path, test_origins=origins, headers=headers), Fetched)
