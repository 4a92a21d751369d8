import gzip
import json
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from functions.domain.outcomes import Refused
from functions.media.recording import Bounds, Recording, examine_head, open_recording
from functions.media.recording_text import SHALLOW_LEVELS, shallow, values
from tests.media.sessions import EPOCH, Session, box, simple

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "recordings"
REFUSED = {
    "empty.json": "recording-empty",
    "no-full-snapshot.json": "recording-without-snapshot",
    "one-event.json": "recording-too-short",
    "only-full-snapshot.json": "recording-too-short",
    "timestamp-null.json": "recording-timestamp-missing",
}
# The same eight seconds, put into each of these forms.
ALIKE = ("bom.json", "ndjson.json", "object-wrapper.json", "packed.json", "gzip.json.gz",
         "timestamps-strings.json")  # fmt: skip


def opened(data: bytes, folder: Path, bounds: Bounds | None = None) -> Recording | Refused:
    path = folder / "recording"
    path.write_bytes(data)
    return open_recording(path, folder, bounds or Bounds())


def good(data: bytes, folder: Path) -> Recording:
    found = opened(data, folder)
    assert isinstance(found, Recording), found
    return found


def code(data: bytes, folder: Path, bounds: Bounds | None = None) -> str:
    found = opened(data, folder, bounds)
    assert isinstance(found, Refused), "it was accepted"
    return found.code


def encoded(events: Any) -> bytes:
    return json.dumps(events).encode()


def packed(event: Any) -> str:
    return zlib.compress(encoded(event | {"v": "v1"})).decode("latin-1")


def test_a_recording_tells_its_length_and_size(tmp_path: Path) -> None:
    found = good(simple().json(), tmp_path)
    assert found.duration_ms == 3000
    assert (found.viewports[0].width, found.viewports[0].height) == (320, 180)
    assert [entry.at for entry in found.entries] == [0, 0, 1000, 2010]


@pytest.mark.parametrize("form", ["wrapped", "lines", "gzip", "members", "packed", "strings",
                                  "bom", "utf-16", "pretty", "late key"])  # fmt: skip
def test_every_form_reads_the_same(form: str, tmp_path: Path) -> None:
    events = simple().events
    lines = b"\n".join(encoded(event) for event in events)
    data = {
        "wrapped": encoded({"events": events}),
        "late key": encoded({"meta": {"a": [1]}, "events": events, "more": None}),
        "lines": lines + b"\n",
        "gzip": gzip.compress(encoded(events)),
        "members": gzip.compress(encoded(events)[:500]) + gzip.compress(encoded(events)[500:]),
        "packed": encoded([packed(event) for event in events]),
        "strings": encoded([json.dumps(event) for event in events]),
        "bom": b"\xef\xbb\xbf" + encoded(events),
        "utf-16": json.dumps(events).encode("utf-16"),
        "pretty": json.dumps(events, indent=4).encode(),
    }[form]
    found, plain = good(data, tmp_path), good(encoded(events), tmp_path)
    assert found.duration_ms == plain.duration_ms
    assert [(e.at, e.type) for e in found.entries] == [(e.at, e.type) for e in plain.entries]


def test_parts_compressed_one_by_one_are_opened(tmp_path: Path) -> None:
    def small(value: Any) -> str:
        return gzip.compress(encoded(value)).decode("latin-1")

    events = simple().events
    for event in events:
        if event["type"] == 2:
            event |= {"cv": "2024-10", "data": small(event["data"])}
        if event["type"] == 3:
            event |= {"cv": "2024-10"}
            event["data"] |= {key: small(event["data"][key]) for key in ("adds", "attributes")}
    found = good(encoded(events), tmp_path)
    assert b"rgb(20,20,220)" in found.events.read_bytes()


def test_disorder_and_repetition_are_put_right(tmp_path: Path) -> None:
    events = simple().events
    found = good(encoded([*events[::-1], *events]), tmp_path)
    assert [entry.at for entry in found.entries] == [0, 0, 1000, 2010]
    assert found.ignored == len(events)


def test_times_in_seconds_and_in_strings_are_understood(tmp_path: Path) -> None:
    events = simple().events
    for event in events:
        event["timestamp"] = str(event["timestamp"] / 1000)
    assert good(encoded(events), tmp_path).duration_ms == 3000


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "recording-empty"),
        (b"  \n", "recording-empty"),
        (b"[]", "recording-empty"),
        (b'{"events": []}', "recording-empty"),
        (b"{}", "recording-not-rrweb"),
        (b'[{"a": 1}, 5, null, "x"]', "recording-damaged"),
        (b'[{"a": 1}, 5, null]', "recording-not-rrweb"),
        (b"<html></html>", "recording-invalid-json"),
        (b'[{"type": 4', "recording-invalid-json"),
        (b"\xff\xfe\xfa[", "recording-invalid-json"),
        (b"\x1f\x8bnot gzip", "recording-damaged"),
    ],
)
def test_what_is_no_recording_is_refused(data: bytes, expected: str, tmp_path: Path) -> None:
    assert code(data, tmp_path) == expected
    head = examine_head(data, len(data))
    assert head is not None
    assert head.code == expected


def test_a_cut_recording_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    data = simple().json()
    for size in range(1, len(data) - 1, 37):
        assert code(data[:size], tmp_path) == "recording-invalid-json"


def test_too_little_to_show_is_refused(tmp_path: Path) -> None:
    meta, snapshot, *rest = simple().events
    assert code(encoded([snapshot]), tmp_path) == "recording-too-short"
    assert code(encoded([meta, *rest]), tmp_path) == "recording-without-snapshot"
    meta["data"] |= {"width": 0, "height": 0}
    assert code(encoded([meta, snapshot, *rest]), tmp_path) == "recording-viewport-empty"


def test_a_missing_window_falls_back(tmp_path: Path) -> None:
    _, snapshot, *rest = simple().events
    first = good(encoded([snapshot, *rest]), tmp_path).viewports[0]
    assert (first.width, first.height) == (1280, 720)


@pytest.mark.parametrize("wrong", [None, "soon", True, -5, [], float("nan")])
def test_an_event_without_a_time_is_named(wrong: Any, tmp_path: Path) -> None:
    events = simple().events
    events[3]["timestamp"] = wrong
    found = opened(encoded(events), tmp_path)
    assert isinstance(found, Refused)
    assert found.code == "recording-timestamp-missing"
    assert "Event 4 " in found.reason


def test_a_wrong_clock_is_named_where_it_matters(tmp_path: Path) -> None:
    session = simple()
    session.mutate(90_000_000_000)
    found = opened(session.json(), tmp_path)
    assert isinstance(found, Refused)
    assert found.code == "recording-timestamp-outlier"
    # A note that nobody sees is left out.
    session = simple().end(90_000_000_000)
    assert good(session.json(), tmp_path).duration_ms == 3000


def test_bounds_hold(tmp_path: Path) -> None:
    data = simple().json()
    assert code(data, tmp_path, Bounds(file_bytes_max=100)) == "recording-too-large"
    assert code(data, tmp_path, Bounds(seconds_max=2)) == "recording-too-long"
    assert code(data, tmp_path, Bounds(events_max=3)) == "recording-too-large"
    bomb = gzip.compress(b"[" + b" " * 3_000_000 + b"]")
    assert code(bomb, tmp_path, Bounds(unpacked_bytes_max=1_000_000)) == "recording-too-large"


def test_deep_pages_are_read_as_far_as_needed(tmp_path: Path) -> None:
    session = simple()
    page = session.events[1]
    deep = '{"childNodes": [' * 5000 + "]}" * 5000
    raw = json.dumps(session.events).replace(json.dumps(page["data"]["node"]), deep)
    assert good(raw.encode(), tmp_path).event_count == 4


def test_a_shallow_copy_ends_where_the_value_ends() -> None:
    written = '{"a": "]}\\"", "b": ' + "[" * 50 + "1" + "]" * 50 + "} tail"
    copy, end = shallow(written, 0)
    assert written[end:] == " tail"
    assert json.loads(copy)["a"] == ']}"'
    assert copy.count("[") == SHALLOW_LEVELS - 1


def test_values_longer_than_the_window_are_whole() -> None:
    long = "x" * 1_000_000
    found = list(values(BytesIO(encoded([1, long, 23])), bytes_max=1 << 30))
    assert [value.parsed for value in found] == [1, long, 23]


def test_positions_leave_their_batches(tmp_path: Path) -> None:
    session = simple()
    session.move(1500, (-400, 10, 10), (-350, 20, 15), (0, 90, 40), node=100)
    found = good(session.json(), tmp_path)
    assert list(found.pointer.at) == [1100, 1150, 1500]
    assert list(found.activity) == [1100, 1150, 1500]
    assert all(entry.source != 1 for entry in found.entries)


def test_broken_positions_are_ignored(tmp_path: Path) -> None:
    session = simple()
    session.change(500, 1)
    session.change(600, 1, positions=[None, {}, {"x": None, "y": 2}, {"x": 1e99, "y": 0}])
    session.change(700, 2, type=2, id=5, x=0, y=0)  # a key that clicks
    assert len(good(session.json(), tmp_path).pointer) == 0


def test_the_window_shown_longest_gives_the_size(tmp_path: Path) -> None:
    session = Session(box(0, 0, 5, "red"))
    session.change(200, 4, width=640, height=480)
    session.change(2900, 4, width=0, height=0)
    found = good(session.end(3000).json(), tmp_path)
    main = found.main_viewport()
    assert (main.width, main.height) == (640, 480)
    assert found.viewport(100).width == 320


def test_the_head_alone_is_looked_at_where_there_is_more() -> None:
    data = simple().json()
    assert examine_head(data[:100], len(data)) is None
    assert examine_head(gzip.compress(data)[:50], 5000) is None
    html = examine_head(b"<!doctype html>", 5000)
    assert html is not None
    assert html.code == "recording-invalid-json"
    large = examine_head(b"[", 1 << 40)
    assert large is not None
    assert large.code == "recording-too-large"


def test_the_epoch_of_made_sessions_is_in_milliseconds() -> None:
    assert EPOCH > 1e12


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the repository")
def test_the_corpus_ends_as_expected(tmp_path: Path) -> None:
    for path in sorted((CORPUS / "nasty").iterdir()):
        found = open_recording(path, tmp_path)
        ended = found.code if isinstance(found, Refused) else None
        assert ended == REFUSED.get(path.name), path.name
    for path in sorted(CORPUS.glob("*.json")):
        if path.name != "index.json":
            assert isinstance(open_recording(path, tmp_path), Recording), path.name
    lengths = {good((CORPUS / "nasty" / name).read_bytes(), tmp_path).duration_ms for name in ALIKE}
    assert len(lengths) == 1
