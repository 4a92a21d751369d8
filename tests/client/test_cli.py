"""The command line's memory, and how it ends."""

import json
from pathlib import Path

import httpx
import pytest

from tallyreel import cli
from tests.client.test_client import Script, answer, shown

SLOT = {"url": "https://files.example/", "fields": {"key": "k"}, "upload": "S"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TALLYREEL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    (tmp_path / "photo.jpg").write_bytes(b"photo")
    return tmp_path / "photo.jpg"


def run(monkeypatch: pytest.MonkeyPatch, script: Script, *words: str) -> int:
    monkeypatch.setattr(cli, "connected", script.client)
    monkeypatch.setattr("sys.argv", ["tallyreel", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_an_order_without_an_answer_is_gone_on_with(
    home: Path, photo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("submit", str(photo), "--seconds", "1")
    first = Script(answer(201, SLOT), httpx.Response(204), *[None] * 6)
    assert run(monkeypatch, first, *words) == 2
    assert len(list(home.glob("order-*"))) == 1

    second = Script(answer(202, shown("queued")))
    assert run(monkeypatch, second, *words) == 0
    assert {*second.keys()} == {each.headers["idempotency-key"] for each in first.asked[2:]}
    assert second.asked[0].content == first.asked[2].content
    assert list(home.glob("order-*")) == []


def test_a_refused_order_is_forgotten(
    home: Path, photo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    poor = {"code": "insufficient-credit", "detail": "Too little.", "price": 2, "available": 1}
    script = Script(answer(201, SLOT), httpx.Response(204), answer(402, poor))

    assert run(monkeypatch, script, "submit", str(photo)) == 1
    assert capsys.readouterr().err.strip() == "Too little."
    assert list(home.glob("order-*")) == []


def test_a_task_that_failed_ends_with_a_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = shown("failed", error={"code": "photo-truncated", "reason": "It is cut off."})

    assert run(monkeypatch, Script(answer(200, failed)), "follow", "T1") == 1
    assert run(monkeypatch, Script(answer(200, failed | {"timeline": []})), "show", "T1") == 0
    assert "It is cut off. (photo-truncated)" in capsys.readouterr().out


def test_any_field_can_be_set(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = tmp_path / "session.json.gz"
    recording.write_bytes(b"")
    script = Script(answer(201, SLOT), httpx.Response(204), answer(202, shown("queued")))
    words = ("submit", str(recording), "--kind", "session_to_video", "--set", "minutes=3")

    assert run(monkeypatch, script, *words, "--set", "size=640x360") == 0
    assert json.loads(script.asked[0].content)["content_type"] == "application/gzip"
    wanted = {"source": "S", "minutes": 3, "size": "640x360"}
    assert json.loads(script.asked[2].content)["input"] == wanted
    assert home.is_dir()


def test_a_video_is_ordered_by_its_address_without_an_upload(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("submit", "https://example.com/film.mp4", "--kind", "video_analysis")
    lost = Script(*[None] * 6)
    assert run(monkeypatch, lost, *words, "--set", "language=de") == 2
    again = Script(answer(202, shown("queued")))
    assert run(monkeypatch, again, *words, "--set", "language=de") == 0

    (order,) = again.asked
    wanted = {"language": "de", "url": "https://example.com/film.mp4"}
    assert json.loads(order.content) == {"kind": "video_analysis", "input": wanted}
    assert {*again.keys()} <= {*lost.keys()}
    assert list(home.glob("order-*")) == []


def test_another_address_is_another_order(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("submit", "https://example.com/1.mp4", "--kind", "video_analysis")
    lost = Script(*[None] * 6)
    assert run(monkeypatch, lost, *words) == 2
    other = Script(answer(202, shown("queued")))
    changed = ("submit", "https://example.com/2.mp4", "--kind", "video_analysis")
    assert run(monkeypatch, other, *changed) == 0
    assert not {*other.keys()} & {*lost.keys()}
    assert len(list(home.glob("order-*"))) == 1


def test_a_file_that_is_not_there_is_not_ordered(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, Script(), "submit", "none.mp4", "--kind", "video_analysis") == 1
    assert "There is no file none.mp4. Nothing was ordered." in capsys.readouterr().err
    assert not home.exists()


def test_a_document_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"version": 1, "summary": "[bold]\u4e2d"}
    page = httpx.Response(200, text="# [x](y)", headers={"content-type": "text/markdown"})

    assert run(monkeypatch, Script(answer(200, found)), "result", "T1") == 0
    assert json.loads(capsys.readouterr().out) == found
    assert run(monkeypatch, Script(page), "result", "T1", "--markdown") == 0
    assert capsys.readouterr().out == "# [x](y)\n"
