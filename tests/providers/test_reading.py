"""Reading what strangers send."""

from datetime import timedelta
from typing import Any

import pytest

from functions.domain.exchange import (
    HttpReply,
    at,
    identifier,
    link,
    parsed,
    retry_after_seconds,
    same_place,
    text,
)
from tests.doubles.world import START


@pytest.mark.parametrize("value", ["a", "A-1_b.c:d=", 5, "a" * 200, ".a"])
def test_an_id_may_go_into_a_path(value: Any) -> None:
    assert identifier(value) == str(value)


@pytest.mark.parametrize(
    "value", ["", ".", "..", "a/b", "a?b", "a#b", "a b", "%2e", "ä", None, True, [], {}]
)
def test_what_is_no_id_is_empty(value: Any) -> None:
    assert identifier(value) == ""


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7),
        ("0", 0),
        ("1.2", 2),
        ("Mon, 30 Nov 2026 10:01:00 GMT", 60),
        ("Mon, 30 Nov 2026 09:00:00 GMT", 0),
        ("999999999", 86400),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("9" * 40, None),
    ],
)
def test_a_wait_is_read_as_seconds_or_as_a_date(written: str, seconds: int | None) -> None:
    reply = HttpReply(status=429, headers={"retry-after": written})

    assert retry_after_seconds(reply, START) == seconds


def test_a_reset_time_will_do_where_no_wait_is_said() -> None:
    assert retry_after_seconds(HttpReply(status=429, headers={"ratelimit-reset": "9"}), START) == 9
    both = {"retry-after": "4", "ratelimit-reset": "9"}
    assert retry_after_seconds(HttpReply(status=429, headers=both), START) == 4
    later = START + timedelta(seconds=1)
    dated = {"retry-after": "Mon, 30 Nov 2026 10:01:00 GMT"}
    assert retry_after_seconds(HttpReply(status=429, headers=dated), later) == 59


@pytest.mark.parametrize(
    "value", ["", "http", "https://", "ftp://x", "https://a b", "//x", 5, None]
)
def test_what_is_no_address_is_empty(value: Any) -> None:
    assert link(value) == ""
    assert link("https://x.example/" + "a" * 5000) == ""


def test_places_are_compared_whole() -> None:
    assert same_place("https://x.example/a", "https://x.example:443/b")
    for other in ("http://x.example/", "https://x.example:444/", "https://y.example/", "x", ""):
        assert not same_place(other, "https://x.example")


def test_paths_lead_somewhere_or_nowhere() -> None:
    value = {"a": [{"b": 1}], "0": 2}

    assert at(value, "a", 0, "b") == 1
    assert at(value, "a", -1, "b") == 1
    for path in (("a", 1), ("a", "b"), (0,), ("x",), ("a", 0, "b", "c")):
        assert at(value, *path) is None


def test_what_cannot_be_parsed_is_nothing() -> None:
    assert parsed(b"[" * 1_000_000) is None
    assert parsed(b"1" * 5000) is None
    assert text("\ud800x") == "?x"
    assert len(text("x" * 1000)) == 200
