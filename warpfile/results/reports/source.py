"""The tables of a study as ``warpfile study`` wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from warpfile.spec.reading import read_input

Row = Mapping[str, Any]
OK = "ok"
_LARGEST = 1 << 30  #: bytes of a table
RESULTS = "results.parquet"
#: Columns of every table, and of each by its name.
_OF_ALL = ("study", "scheme", "preset", "changes")
_NEEDED = {
    "results": ("status",),
    "modules": ("module", "instances", "nand2_equivalents"),
    "pipeline_log": ("kernel", "setting", "warp", "beat", "offset", "instruction", "unit", "returns", "decoded"),
}
_ABOUT = ("asked", "versions", "sources")
#: A table has no column in which all its rows are empty.
_EMPTY = {"pipeline_log": dict.fromkeys(("issued", "offered", "dispatched", "written"))}


@dataclass(frozen=True)
class Machine:
    """A scheme at a preset with single fields changed."""

    scheme: str
    preset: str
    changes: str

    @classmethod
    def of(cls, row: Row) -> Machine:
        """The machine of a row of any table."""
        return cls(row["scheme"], row["preset"], row["changes"])

    @property
    def fields(self) -> dict[str, str]:
        """The changed fields with their values, as text."""
        return dict(change.split("=", 1) for change in self.changes.split())


@dataclass(frozen=True)
class Study:
    """What a study found: a row per point, per module, per beat. ``about`` is the request, if it is known."""

    name: str
    rows: Sequence[Row]
    modules: Sequence[Row] = ()
    pipeline_log: Sequence[Row] = ()
    about: Mapping[str, Any] | None = None

    @cached_property
    def machines(self) -> list[Machine]:
        """In the order of their first rows."""
        return list(dict.fromkeys(map(Machine.of, self.rows)))

    @cached_property
    def names(self) -> dict[Machine, str]:
        """What machines are called: the scheme, and as much as tells it from the others."""
        presets: dict[str, set[str]] = {}
        for one in self.machines:
            presets.setdefault(one.scheme, set()).add(one.preset)
        several = {scheme for scheme, some in presets.items() if len(some) > 1}
        return {
            one: " ".join(filter(None, (one.scheme, one.preset if one.scheme in several else "", one.changes)))
            for one in self.machines
        }

    @cached_property
    def kernels(self) -> list[tuple[str, str]]:
        """Kernels and their settings, in the order of their first rows."""
        return list(dict.fromkeys(kernel_of(row) for row in self.rows if row.get("kernel") is not None))

    @cached_property
    def seeds(self) -> list[int]:
        """All seeds, ascending."""
        return sorted({row["seed"] for row in self.rows if row.get("seed") is not None})

    @property
    def window(self) -> tuple[int, int] | None:
        """First and last cycle in which beats were watched, if it is known."""
        pipeline = (self.about or {}).get("asked", {}).get("pipeline")
        cycles = pipeline.get("cycles") if isinstance(pipeline, dict) else None
        known = isinstance(cycles, list) and [type(one) for one in cycles] == [int, int]
        return (cycles[0], cycles[1]) if known and cycles else None

    def of(self, machine: Machine) -> list[Row]:
        """Rows of a machine that have not failed or been refused."""
        return self._by_machine.get(machine, [])

    @cached_property
    def _by_machine(self) -> dict[Machine, list[Row]]:
        found: dict[Machine, list[Row]] = {}
        for row in self.rows:
            if row["status"] == OK:
                found.setdefault(Machine.of(row), []).append(row)
        return found

    @cached_property
    def left_out(self) -> list[Row]:
        """Rows of points that were refused or failed."""
        return [row for row in self.rows if row["status"] != OK]


def kernel_of(row: Row) -> tuple[str, str]:
    """Kernel and setting of a row."""
    return row["kernel"], row["setting"]


def kernel_names(kernels: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What kernels are called: their name, with the setting where there are several."""
    found = list(kernels)
    several = len({setting for _, setting in found}) > 1
    return {one: " ".join(one) if several else one[0] for one in found}


def read_study(folder: Path) -> Study:
    """The tables of a folder. Raises ``ValueError`` with one line for a folder that holds none."""
    if not (folder / RESULTS).is_file():
        raise ValueError(f"{folder} must be the folder of a study, with {RESULTS}: warpfile study writes one")
    rows, modules, pipeline_log = (_table(folder, name) for name in _NEEDED)
    return Study(str(rows[0]["study"]), rows, modules, pipeline_log, _about(folder / "study.json"))


def _table(folder: Path, name: str) -> list[dict[str, Any]]:
    """Its rows, each with all that charts take for granted; a study need not have written every table."""
    import pyarrow
    from pyarrow import parquet

    path = folder / f"{name}.parquet"
    if not path.is_file():
        return []
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"{path} is not Parquet: {' '.join(str(error).split())}") from None
    missing = [column for column in (*_OF_ALL, *_NEEDED[name]) if not rows or column not in rows[0]]
    if missing:
        raise ValueError(f"{path} must be a table that warpfile study wrote: it has no {missing[0]}")
    return [{**_EMPTY.get(name, {}), **row} for row in rows]


def _about(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        found = json.loads(read_input(path, _LARGEST))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(found.get(name), dict) for name in _ABOUT):
        raise ValueError(f"{path} must be a file that warpfile study wrote, with {', '.join(_ABOUT)}")
    return found
