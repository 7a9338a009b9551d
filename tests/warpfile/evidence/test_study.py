"""Runs of a study are kept by everything that decides their outcome."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from warpfile import inputs
from warpfile.evidence import study
from warpfile.schemes import fingerprint


@pytest.mark.parametrize(
    ("name", "kept"),
    [("spec/environment.py", "both"), ("compiler/passes/rfc/static.py", "both"), ("golden/frame.py", "study")],
)
def test_a_changed_source_is_run_again(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, kept: str
) -> None:
    for folder in study._SOURCES:
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.npy"))
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    of_runs, of_traces = study._code_hash.__wrapped__, inputs._code_hash.__wrapped__
    before = of_runs(()), of_traces()
    with (tmp_path / name).open("a") as stream:
        stream.write("\n# changed\n")
    after = of_runs(()), of_traces()
    assert before[0] != after[0]
    assert (before[1] != after[1]) == (kept == "both")


def test_a_foreign_package_is_run_again_when_it_changes(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text("")
    packages = (("foreign_study", tmp_path),)
    before = study._code_hash.__wrapped__(packages)
    (tmp_path / "model.py").write_text("depth = 3")
    assert len({before, study._code_hash.__wrapped__(packages), study._code_hash.__wrapped__(())}) == 3
