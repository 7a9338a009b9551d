"""Area figures that are kept, and what has changed since."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpfile.spec.reading import InputError, read_input
from warpfile.synth.rules import LIST, TEXT, Rule, check

#: Figures of every scheme at its own preset, a file per scheme, as ``warpfile area all --delays FILE... --json FOLDER``
#: writes them.
KEPT = Path(__file__).with_name("figures")
#: The same of designs that papers cost, where these have other fields than the preset (``Scheme.point``).
POINTS = KEPT / "points"

#: Growth that is not accepted silently: of the cells of a whole scheme, of one of its modules, of a critical path.
SCHEME_LIMIT, MODULE_LIMIT, PATH_LIMIT = 0.02, 0.15, 0.05

_PATH = "ns of the critical path, "

_LARGEST = 1 << 26  #: bytes of a file
_SIZES = ("cells", "flip_flops", "nand2_equivalents", "logic_levels")
_FIGURE: Rule = ("a number", lambda value: type(value) in (int, float) and math.isfinite(value))
_TABLE: Rule = ("a table", lambda value: isinstance(value, dict))
_PATHS: Rule = (
    "a table of critical paths, each with its nanoseconds",
    lambda value: (
        isinstance(value, dict)
        and all(
            isinstance(path, dict) and (path.get("nanoseconds") is None or _FIGURE[1](path["nanoseconds"]))
            for path in value.values()
        )
    ),
)


@dataclass(frozen=True)
class Change:
    """One figure that differs; ``before`` or ``now`` is None where the scheme or module is new or gone."""

    scheme: str
    what: str
    before: float | None
    now: float | None

    @property
    def growth(self) -> float | None:
        """Growth as a fraction."""
        return round(self.now / self.before - 1, 6) if self.before and self.now is not None else None


def read_figures(path: Path) -> dict[str, Any]:
    """Facts that ``warpfile area --json`` wrote, to a file or to the files of a folder.

    Raises ``ValueError`` for a file that holds something else, and for files of different tools or libraries.
    """
    if path.is_dir():
        return _together(path, [read_figures(one) for one in sorted(path.glob("*.json"))])
    try:
        facts = json.loads(read_input(path, _LARGEST))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except InputError:
        raise
    except RecursionError:
        raise ValueError(f"{path} must nest less deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(facts, dict) or not {"tool", "liberty", "schemes"} <= facts.keys():
        raise ValueError(f"{path} must be a file that warpfile area --json wrote")
    _check(facts, str(path))
    return facts


def _check(facts: Mapping[str, Any], at: str) -> None:
    """Refuse facts of which something that is compared is missing or no figure."""
    _check_fields(facts, {"tool": TEXT, "liberty": TEXT, "schemes": _TABLE}, at)
    for name, row in facts["schemes"].items():
        _check_fields(row, dict.fromkeys(_SIZES, _FIGURE) | {"modules": LIST}, f"{at}: {name}")
        for number, module in enumerate(row["modules"], 1):
            rules = {"name": TEXT, "cells": _FIGURE, "instances": _FIGURE}
            _check_fields(module, rules, f"{at}: {name}, module {number}")
        paths = row.get("critical_paths", {})
        _check_fields({"critical_paths": paths}, {"critical_paths": _PATHS}, f"{at}: {name}")


def _check_fields(row: object, rules: Mapping[str, Rule], at: str) -> None:
    """A table with these fields, among others."""
    check({name: row.get(name) for name in rules} if isinstance(row, dict) else row, rules, at)


def _together(folder: Path, found: list[dict[str, Any]]) -> dict[str, Any]:
    if len({(one["tool"], one["liberty"]) for one in found}) != 1:
        raise ValueError(f"{folder} must hold figures of one tool and one library")
    return {**found[0], "preset": None, "schemes": {name: row for one in found for name, row in one["schemes"].items()}}


def split_by_scheme(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The facts of each scheme as a document of its own, by the scheme's name."""
    schemes = facts["schemes"].items()
    return {name: {**facts, "preset": row["preset"], "schemes": {name: row}} for name, row in schemes}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """What differs in the schemes that ``now`` has: sizes of schemes, cells of modules times their instances."""
    return [change for scheme in now["schemes"] for change in _of_scheme(scheme, before, now)]


def _of_scheme(scheme: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    old, new = before["schemes"].get(scheme), now["schemes"][scheme]
    if old is None:
        yield Change(scheme, "cells", None, new["cells"])
        return
    for size in _SIZES:
        if old[size] != new[size]:
            yield Change(scheme, size.replace("_", " "), old[size], new[size])
    cells_before, cells_now = _module_cells(old), _module_cells(new)
    for module in sorted(cells_before.keys() | cells_now.keys()):
        if cells_before.get(module) != cells_now.get(module):
            yield Change(scheme, f"cells of {module}", cells_before.get(module), cells_now.get(module))
    for library, path in new.get("critical_paths", {}).items():
        before_ns = old.get("critical_paths", {}).get(library, {}).get("nanoseconds")
        if path["nanoseconds"] != before_ns:
            yield Change(scheme, f"{_PATH}{library}", before_ns, path["nanoseconds"])


def _module_cells(scheme: Mapping[str, Any]) -> dict[str, int]:
    cells: dict[str, int] = {}
    for module in scheme["modules"]:
        name = module["name"].partition("$")[0]
        cells[name] = cells.get(name, 0) + module["cells"] * module["instances"]
    return cells


def excessive(found: list[Change]) -> list[Change]:
    """The changes that need new figures in the same change of the repository: growth beyond limits, what is new."""
    totals = [one for one in found if one.what == "cells"]
    modules = [one for one in found if one.what.startswith("cells of ")]
    paths = [one for one in found if one.what.startswith(_PATH)]
    return [
        one
        for limit, some in ((SCHEME_LIMIT, totals), (MODULE_LIMIT, modules), (PATH_LIMIT, paths))
        for one in some
        if one.now is not None and (one.growth is None or one.growth > limit)
    ]
