"""The demonstration's recording, where it cannot be made."""

import sys

import pytest

from local import demo, session_recording, stack


def test_without_a_browser_one_line_says_what_to_install_and_nothing_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begun(*_given: object) -> None:
        pytest.fail("a stack was started")

    monkeypatch.setattr(session_recording, "find", lambda: None)
    monkeypatch.setattr(stack, "up", begun)
    monkeypatch.setattr(sys, "argv", ["demo", "--kind", "session_to_video"])

    assert demo.main() == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert "apt-get install chromium-headless-shell" in line
