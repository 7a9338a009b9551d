"""``warpfile report`` from the command line."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.reports.made_up import random_study, written
from warpfile.cli.commands import report


def test_a_page_and_its_facts_are_written(tmp_path: Path, invoke: Invoke) -> None:
    written(random_study(1), tmp_path)
    done = invoke("report", str(tmp_path), "--json", str(tmp_path / "facts.json"))
    assert done.exit_code == 0 and "4 machines" in done.output
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and 'src="http' not in page
    assert len(json.loads((tmp_path / "facts.json").read_text())["machines"]) == 4
    assert not list(tmp_path.glob("*.partial"))


def test_a_study_is_found_by_its_name(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build" / "study" / "made").mkdir(parents=True)
    (tmp_path / "made").mkdir()  # a folder of that name without a study
    written(random_study(1), tmp_path / "build" / "study" / "made")
    assert invoke("report", "made").exit_code == 0
    assert (tmp_path / "build" / "study" / "made" / "report.html").exists()


def test_what_is_no_study_is_refused_in_one_line(tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("report", str(tmp_path))
    assert done.exit_code == 2 and "must be the folder of a study" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_library_is_named(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> Any:
        return None if name == "plotly" else find_spec(name)

    monkeypatch.setattr(report, "find_spec", without)
    done = invoke("report", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr == "warpfile: report needs plotly: pip install 'warpfile[report]'\n"
