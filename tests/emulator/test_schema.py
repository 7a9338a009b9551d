"""docs/kernels.md and ``warpfile trace --help`` have every key that is read from a launch file, and no other."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.emulator.harness import listing
from warpfile.cli.program import main
from warpfile.emulator import launch as module
from warpfile.emulator.launch import load_kernel
from warpfile.spec.reading import read_toml

NUMBERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64")
OTHERS = ("buffer", "pointer", "struct")
PAGE = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
#: Every key there is.
FULL = """kernel = "k"
grid = [1, 1, 1]
block = [32, 1, 1]
shared_bytes = 64
static_shared_bytes = 0
[[args]]
name = "y"
type = "buffer"
init = "y.npy"
expect = "y.npy"
rtol = 1e-5
atol = 1e-6
[[args]]
name = "inside"
type = "pointer"
buffer = "y"
offset = 4
[[args]]
name = "s"
type = "struct"
align = 16
[[args.fields]]
name = "f"
type = "f32"
value = 1.5
[[constants]]
offset = 8
init = "y.npy"
[[constants]]
name = "absent"
init = "y.npy"
"""

Keys = dict[str, set[str]]


class Watched(dict[str, Any]):
    """A table that notes whose value of it is read; looking whether a key is there is no reading."""

    def __init__(self, table: dict[str, Any], kind: str, read: Keys) -> None:
        super().__init__({key: _watched(value, key, read) for key, value in table.items()})
        self.noted = read[self._kind(kind)]

    def _kind(self, kind: str) -> str:
        if kind not in ("args", "fields"):
            return kind
        found = str(super().get("type"))
        return found if found in OTHERS else "number"

    def __getitem__(self, key: str) -> Any:
        self.noted.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.noted.add(key)
        return super().get(key, default)


def _watched(value: Any, key: str, read: Keys) -> Any:
    is_tables = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return [Watched(one, key, read) for one in value] if is_tables else value


def keys_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Keys:
    """By table, and for arguments by type, the keys whose values the reader takes."""
    read: Keys = defaultdict(set)
    monkeypatch.setattr(module, "read_toml", lambda path: Watched(read_toml(path), "launch", read))
    (folder / "kernel.sass").write_text(listing("NOP"))
    (folder / "launch.toml").write_text(FULL)
    np.save(folder / "y.npy", np.zeros(4, np.float32))
    with pytest.raises(module.LaunchError, match="__constant__ variable"):
        load_kernel(folder)
    return dict(read)


def keys_documented(page: str) -> Keys:
    """The same by the tables of a page."""
    found: Keys = defaultdict(set)
    kinds = {"The launch": ["launch"], "Constants": ["constants"]}
    section = page[page.index("## The launch file") : page.index("## Surprises")]
    for part in section.split("### ")[1:]:
        for key, second in re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", part, re.MULTILINE):
            named = ["number", *OTHERS] if second == "all" else [second]
            for kind in kinds.get(part.partition("\n")[0], named):
                found[kind].add(key)
    return dict(found)


def test_the_page_has_the_keys_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert keys_documented(PAGE) == keys_read(tmp_path, monkeypatch)


@pytest.mark.parametrize("row", re.findall(r"^\| `(?:\w+)` \|.*\n", PAGE[PAGE.index("### The launch") :], re.MULTILINE))
def test_a_row_that_is_missing_is_found(row: str) -> None:
    assert keys_documented(PAGE.replace(row, "")) != keys_documented(PAGE)


def test_a_key_without_a_reader_is_found() -> None:
    row = "| `grid` | three"
    assert keys_documented(PAGE.replace(row, f"| `warps` | number | 1 | - |\n{row}")) != keys_documented(PAGE)


@pytest.mark.parametrize("kind", [*NUMBERS, *OTHERS])
def test_every_type_is_in_the_page(kind: str) -> None:
    (row,) = re.findall(r"^\| `type` \|.*$", PAGE, re.MULTILINE)
    assert f"`{kind}`" in row


def test_the_page_names_no_other_type(tmp_path: Path) -> None:
    (tmp_path / "kernel.sass").write_text(listing("NOP"))
    (tmp_path / "launch.toml").write_text(FULL.replace('"buffer"', '"surface"', 1))
    with pytest.raises(module.LaunchError, match="type must be one of") as refused:
        load_kernel(tmp_path)
    known = re.findall(r"[a-z]+\d*", str(refused.value).partition("one of ")[2].partition(", not")[0])
    assert sorted(known) == sorted((*NUMBERS, *OTHERS))


def test_the_help_of_trace_has_every_key() -> None:
    text = CliRunner().invoke(main, ["trace", "--help"]).stdout
    assert {key for keys in keys_documented(PAGE).values() for key in keys} <= set(re.findall(r"\w+", text))
