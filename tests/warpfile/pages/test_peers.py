"""The table beside a published operand stage: where it stands, and what is said where a tool is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.pages import peers


def test_a_missing_timer_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(peers.tools, "find", lambda _: None)
    assert peers.main([]) == 2
    assert capsys.readouterr().err == f"peers: {peers.tools.missing('sta')}\n"


def test_a_missing_library_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(peers.tools, "find", lambda _: "sta")
    assert peers.main(["--liberty", str(tmp_path / "none.lib")]) == 2
    error = capsys.readouterr().err
    assert "none.lib:1: " in error and "qflow-tech-osu018" in error and error.count("\n") == 1


def test_the_page_keeps_all_but_the_table() -> None:
    text = peers.PAGE.read_text()
    before, _, rest = text.partition(peers.BEGIN)
    assert peers.written(text, "new\n") == before + peers.BEGIN + "new\n" + peers.END + rest.partition(peers.END)[2]
    with pytest.raises(ValueError, match="must have the lines"):
        peers.written("nothing", "new\n")
