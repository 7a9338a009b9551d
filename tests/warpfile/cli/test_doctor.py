"""``warpfile doctor`` shows what is there and what is missing, and says so in its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.warpfile.conftest import Invoke
from warpfile import tools


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, with all that is required."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("g++", "make", "perl"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} 7.8.9\n")
        (folder / name).chmod(0o755)
    return folder


def test_what_is_there_has_version_and_path_and_what_is_missing_how_to_install_it(
    invoke: Invoke, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # paths of temporary folders are long, and a row is one line
    result = invoke("doctor", "--json", "tools.json")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["perl", "7.8.9", str(machine / "perl"), *tools.TOOLS["perl"].does.split()] in lines
    dot = tools.TOOLS["dot"]
    assert ["dot", *dot.cost.split(), *dot.install.split()] in lines
    facts = json.loads(Path("tools.json").read_text())["tools"]
    assert facts.keys() == tools.TOOLS.keys()
    assert (facts["perl"]["version"], facts["perl"]["path"]) == ("7.8.9", str(machine / "perl"))
    assert (facts["dot"]["path"], facts["dot"]["install"], facts["dot"]["required"]) == (None, dot.install, False)


def test_something_required_that_is_missing_is_status_one(invoke: Invoke, machine: Path) -> None:
    (machine / "perl").unlink()
    result = invoke("doctor")
    assert (result.exit_code, result.stderr) == (1, f"warpfile: {tools.missing('perl')}\n")
    assert tools.TOOLS["dot"].install in result.stdout


def test_every_tool_is_in_one_of_the_tables(invoke: Invoke) -> None:
    result = invoke("doctor")
    named = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert set(tools.TOOLS) <= set(named)
