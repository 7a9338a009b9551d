"""Outcomes are kept by everything that decides them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from warpfile.results import result_cache
from warpfile.results.points import SOURCES
from warpfile.schemes import fingerprint
from warpfile.workloads import inputs

code_hash = result_cache.code_hash.__wrapped__


@pytest.mark.parametrize(
    ("name", "changed"),
    [("spec/environment.py", "both"), ("compiler/passes/rfc/static.py", "both"), ("golden/frame.py", "runs")],
)
def test_a_changed_source_is_run_again(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, changed: str
) -> None:
    for folder in SOURCES.folders:
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.npy"))
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    of_traces = inputs._code_hash.__wrapped__
    before = code_hash(SOURCES, ()), of_traces()
    with (tmp_path / name).open("a") as stream:
        stream.write("\n# changed\n")
    after = code_hash(SOURCES, ()), of_traces()
    assert before[0] != after[0]
    assert (before[1] != after[1]) == (changed == "both")


def test_a_foreign_package_is_run_again_when_it_changes(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text("")
    packages = (("foreign_study", tmp_path),)
    before = code_hash(SOURCES, packages)
    (tmp_path / "model.py").write_text("depth = 3")
    assert len({before, code_hash(SOURCES, packages), code_hash(SOURCES, ())}) == 3


def test_what_is_kept_is_found_by_its_key_and_by_no_other() -> None:
    assert result_cache.find("a") is None
    result_cache.keep("a", {"cycles": 3})
    assert (result_cache.find("a"), result_cache.find("b")) == ({"cycles": 3}, None)
    assert [path.name for path in result_cache.KEPT.iterdir()] == ["a.json"]


def test_a_damaged_file_is_not_kept() -> None:
    result_cache.keep("a", {"cycles": 3})
    (result_cache.KEPT / "a.json").write_text('{"cycles')
    assert result_cache.find("a") is None
