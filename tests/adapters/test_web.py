"""Customers' addresses: parts of files are read, and nothing is called that must not be."""

from pathlib import Path
from threading import Event

import pytest

from functions.adapters.heartbeat import attended
from functions.adapters.web import WebOverHttp
from functions.domain.errors import SourceUnreadable
from functions.domain.jobs import Fetched, OutputGone, RefusedAddress
from functions.domain.media import MediaHead, Unreachable, identity
from tests.providers.rude import Rude, answer, rude_server

FILM = bytes(range(256)) * 40


def web(rude: Rude) -> WebOverHttp:
    return WebOverHttp(test_origins=[rude.address])


def part(start: int, count: int) -> bytes:
    piece = FILM[start : start + count]
    where = f"bytes {start}-{start + len(piece) - 1}/{len(FILM)}"
    return answer(
        piece, status="206 Partial Content", content_range=where, content_type="video/mp4"
    )


def test_a_head_names_the_file_by_its_size_and_first_bytes() -> None:
    with rude_server([part(0, 100)]) as rude:
        seen = web(rude).head(f"{rude.address}/film", first_bytes=100)

    assert isinstance(seen, MediaHead)
    assert (seen.size_bytes, seen.head, seen.content_type) == (len(FILM), FILM[:100], "video/mp4")
    assert seen.etag == identity(len(FILM), FILM[:100])
    assert b"\r\nrange: bytes=0-99\r\n" in rude.requests[0]


def test_a_server_without_parts_is_heard_no_further_than_asked() -> None:
    with rude_server([answer(FILM)]) as rude:
        seen = web(rude).head(f"{rude.address}/film", first_bytes=100)

    assert isinstance(seen, MediaHead)
    assert (seen.size_bytes, seen.head) == (len(FILM), FILM[:100])


def test_a_piece_is_that_piece() -> None:
    with rude_server([part(5000, 10), part(10_000, 1000)]) as rude:
        asking = web(rude)
        assert asking.piece(f"{rude.address}/film", 5000, 10) == FILM[5000:5010]
        assert asking.piece(f"{rude.address}/film", 10_000, 1000) == FILM[10_000:]


def test_a_server_without_parts_has_no_middle() -> None:
    with rude_server([answer(FILM)]) as rude, pytest.raises(SourceUnreadable):
        web(rude).piece(f"{rude.address}/film", 5000, 10)


def test_behind_the_end_there_is_nothing() -> None:
    beyond = answer(b"", status="416 Range Not Satisfiable", content_range=f"bytes */{len(FILM)}")
    with rude_server([beyond]) as rude:
        assert web(rude).piece(f"{rude.address}/film", 99_999, 10) == b""


def test_a_size_that_is_not_said_cannot_be_priced() -> None:
    unsaid = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + FILM
    with rude_server([unsaid]) as rude:
        seen = web(rude).head(f"{rude.address}/film", first_bytes=100)

    assert isinstance(seen, Unreachable)
    assert seen.code == "url-without-size"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (answer(b"", status="404 Not Found"), "url-not-found"),
        (answer(b"", status="403 Forbidden"), "url-not-found"),
        (answer(b"", status="503 Busy"), "url-unreachable"),
        (None, "url-unreachable"),
        (answer(b"", status="302 Found", location="http://127.0.0.1:1/film"), "url-refused"),
        (answer(b"", status="302 Found", location="https://169.254.170.2/film"), "url-refused"),
    ],
)
def test_what_is_not_there_is_told_apart_from_what_is_not_followed(
    said: bytes | None, code: str
) -> None:
    with rude_server([said]) as rude:
        seen = web(rude).head(f"{rude.address}/film", first_bytes=100)

    assert isinstance(seen, Unreachable)
    assert seen.code == code
    assert seen.reason


@pytest.mark.parametrize(
    "url",
    [
        "http://films.example/a.mp4",
        "https://films.example:8443/a.mp4",
        "https://127.0.0.1/a.mp4",
        "https://[::1]/a.mp4",
        "https://localhost/a.mp4",
        "https://169.254.169.254/latest/meta-data",
        "https://user:word@films.example/a.mp4",
        "file:///etc/passwd",
    ],
)
def test_only_public_https_is_called(url: str, tmp_path: Path) -> None:
    seen = WebOverHttp().head(url, first_bytes=100)

    assert isinstance(seen, Unreachable)
    assert seen.code == "url-refused"
    with pytest.raises(SourceUnreadable):
        WebOverHttp().piece(url, 0, 10)
    fetched = WebOverHttp().fetch(url, tmp_path / "film", bytes_max=100)
    assert isinstance(fetched, RefusedAddress)


def test_a_whole_file_is_fetched_or_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "film"
    with rude_server([answer(FILM), answer(b"", status="404 Not Found")]) as rude:
        url = f"{rude.address}/film"
        assert isinstance(web(rude).fetch(url, path, bytes_max=1 << 20), Fetched)
        assert path.read_bytes() == FILM
        assert web(rude).fetch(url, path, bytes_max=1 << 20) == OutputGone(status=404)
    assert not path.exists()


# --- waiting for somebody else -------------------------------------------------------------------


class Over(Exception):
    """Whoever waits has to go."""


def test_while_something_is_waited_for_somebody_looks_around() -> None:
    looks: list[int] = []

    def work() -> str:
        while len(looks) < 2:
            pass
        return "done"

    assert attended(work, lambda: looks.append(1)) == "done"


def test_what_the_look_raises_ends_the_wait_and_what_the_work_raises_is_heard() -> None:
    def over() -> None:
        raise Over

    def broken() -> None:
        raise TimeoutError

    with pytest.raises(Over):
        attended(lambda: Event().wait(5), over)
    with pytest.raises(TimeoutError):
        attended(broken, lambda: None)
