"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.outputs import json_text, write_files, write_json


def test_all_files_are_written(folder: Path) -> None:
    write_files({folder / "a/b.txt": "b", folder / "c.txt": "c"})
    assert (folder / "a/b.txt").read_text() == "b"
    assert sorted(path.name for path in folder.rglob("*")) == ["a", "b.txt", "c.txt"]


def test_no_file_is_written_if_one_cannot_be(folder: Path) -> None:
    (folder / "taken").write_text("kept")
    with pytest.raises(OSError):
        write_files({folder / "a.txt": "a", folder / "taken/b.txt": "b"})
    assert [path.name for path in folder.iterdir()] == ["taken"]


def test_a_folder_is_never_replaced(folder: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_json(folder, {})


def test_json_has_no_values_that_json_lacks() -> None:
    assert json_text({"a": [1, 2.5, None, "µ"]}).endswith("\n")
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text(float("nan"))
