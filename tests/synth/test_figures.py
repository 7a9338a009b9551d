"""Kept area figures: what has changed since, and how much may."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from warpfile.schemes import SCHEMES
from warpfile.synth.area import AreaReport, critical_path, measure, source
from warpfile.synth.figures import KEPT, POINTS, changes, excessive, read_figures, split_by_scheme
from warpfile.tools import OSU018

#: Preset of the scheme ``modern``, at which others are compared with it.
MODERN = "turing_rfc"
#: Another scheme has nearly the same modules, and is looked at: a full-size machine takes up to 12 s to generate.
HALVES = ("bow", "regmutex_paired", "ltrf", "corf")

needs_timing = pytest.mark.needs("sta", "osu018")


def figures(cells: int = 1000, part: int = 100) -> dict[str, Any]:
    modules = [
        {"name": "part", "cells": part, "instances": 2},
        {"name": "warpfile.rest$12", "cells": cells - 2 * part, "instances": 1},
    ]
    sizes = {"cells": cells, "flip_flops": 10, "nand2_equivalents": 1.5 * cells, "logic_levels": 7}
    return {"tool": "Yosys 0.70", "liberty": "nand2.lib", "schemes": {"double": {**sizes, "modules": modules}}}


def test_equal_figures_have_no_changes() -> None:
    assert changes(figures(), figures()) == []


@pytest.mark.parametrize(("cells", "refused"), [(1020, []), (1021, ["cells"]), (900, [])])
def test_a_scheme_may_grow_by_two_percent(cells: int, refused: list[str]) -> None:
    found = changes(figures(), figures(cells))
    assert {"cells", "nand2 equivalents", "cells of warpfile.rest"} == {one.what for one in found}
    assert [one.what for one in excessive(found)] == refused


@pytest.mark.parametrize(("part", "refused"), [(115, []), (116, ["cells of part"]), (50, ["cells of warpfile.rest"])])
def test_a_module_may_grow_by_fifteen_percent(part: int, refused: list[str]) -> None:
    """Cells of both modules together stay the same: what the one loses the other has more."""
    found = changes(figures(part=100 if part > 100 else 110), figures(part=part))
    assert {"cells of part", "cells of warpfile.rest"} == {one.what for one in found}
    assert [one.what for one in excessive(found)] == refused


def test_a_new_module_and_a_new_scheme_need_new_figures() -> None:
    more = figures()
    more["schemes"]["double"]["modules"].append({"name": "other", "cells": 1, "instances": 1})
    assert [one.what for one in excessive(changes(figures(), more))] == ["cells of other"]
    new = copy.deepcopy(figures())
    new["schemes"]["triple"] = new["schemes"]["double"]
    assert [(one.scheme, one.before) for one in excessive(changes(figures(), new))] == [("triple", None)]
    assert excessive(changes(more, figures())) == []


@pytest.mark.parametrize("text", ["", "[]", '{"tool": "x"}', "[" * 100_000])
def test_a_file_that_holds_no_figures_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "figures.json").write_text(text)
    with pytest.raises(ValueError, match=r"figures\.json"):
        read_figures(tmp_path / "figures.json")
    with pytest.raises(ValueError, match=r"none\.json: No such file"):
        read_figures(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (("tool",), 1, "tool must be text, not 1"),
        (("schemes",), 3, "schemes must be a table, not 3"),
        (("schemes", "double"), 3, "double: must be a table, not 3"),
        (("schemes", "double", "cells"), "many", "double: cells must be a number, not 'many'"),
        (("schemes", "double", "logic_levels"), None, "double: logic_levels must be a number, not None"),
        (("schemes", "double", "flip_flops"), float("inf"), "double: flip_flops must be a number, not inf"),
        (("schemes", "double", "modules"), 7, "double: modules must be a list"),
        (("schemes", "double", "modules", 1), 7, "double, module 2: must be a table, not 7"),
        (("schemes", "double", "modules", 0, "instances"), [], "double, module 1: instances must be a number"),
        (("schemes", "double", "critical_paths"), [], "double: critical_paths must be a table of critical paths"),
        (("schemes", "double", "critical_paths"), {"osu": {"nanoseconds": "1"}}, "each with its nanoseconds"),
    ],
)
def test_figures_that_are_none_are_refused(tmp_path: Path, keys: tuple[Any, ...], value: object, words: str) -> None:
    facts: Any = figures()
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(facts))
    assert read_figures(path) == facts
    at = facts
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    path.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match=re.escape(words)):
        read_figures(path)


def test_figures_of_a_folder_are_those_of_its_files(tmp_path: Path) -> None:
    both = figures()
    both["schemes"]["triple"] = copy.deepcopy(both["schemes"]["double"])
    for name, row in both["schemes"].items():
        row["preset"] = f"preset of {name}"
    for name, one in split_by_scheme(both).items():
        assert list(one["schemes"]) == [name] and one["preset"] == f"preset of {name}"
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    assert changes(both, read_figures(tmp_path)) == [] == changes(read_figures(tmp_path), both)
    (tmp_path / "other.json").write_text(json.dumps({**both, "tool": "Yosys 0.1", "schemes": {}}))
    with pytest.raises(ValueError, match="one tool and one library"):
        read_figures(tmp_path)


def timed(nanoseconds: float | None) -> dict[str, Any]:
    facts = figures()
    facts["schemes"]["double"]["critical_paths"] = {"cells.lib": {"nanoseconds": nanoseconds}}
    return facts


@pytest.mark.parametrize(("now", "refused"), [(10.0, False), (10.5, False), (10.6, True), (9.0, False), (None, False)])
def test_a_critical_path_may_grow_by_five_percent(now: float | None, refused: bool) -> None:
    """Where nothing times, nothing is known to have grown."""
    found = changes(timed(10.0), timed(now))
    assert [one.what for one in found] == ["ns of the critical path, cells.lib"] * (now != 10.0)
    assert bool(excessive(found)) == refused


def test_a_path_in_a_new_library_needs_new_figures() -> None:
    assert len(excessive(changes(figures(), timed(10.0)))) == 1
    assert changes(timed(10.0), figures()) == []


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_has_a_kept_critical_path(name: str) -> None:
    paths = read_figures(KEPT)["schemes"][name]["critical_paths"]
    assert paths[OSU018.name]["nanoseconds"] > 0 and paths[OSU018.name]["cells"]


@pytest.mark.regress
@needs_timing
def test_the_critical_path_of_the_baseline_is_the_kept_one() -> None:
    """Of the other schemes: ``warpfile area all --against synth/figures --delays FILE``."""
    scheme = SCHEMES["baseline"]
    path = critical_path(scheme, scheme.configuration(scheme.preset), OSU018)
    kept = read_figures(KEPT)
    now = copy.deepcopy(kept)
    now["schemes"] = {"baseline": now["schemes"]["baseline"]}
    now["schemes"]["baseline"]["critical_paths"] = {OSU018.name: json.loads(json.dumps(path.to_json()))}
    assert not excessive(changes(kept, now))


@pytest.mark.check
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.regress if name in HALVES else ()) for name in SCHEMES]
)
def test_no_scheme_has_grown_since_its_figures_were_kept(name: str, wide: Callable[[str], str]) -> None:
    """After a change that is meant: ``warpfile area all --delays FILE --json synth/figures/``, in the same commit.

    Where the figures are of the very same Verilog, tool and scripts there is nothing to count.
    """
    if read_figures(KEPT)["schemes"][name].get("source") != source(wide(name)):
        not_grown(name)


@pytest.mark.regress
@pytest.mark.parametrize("name", SCHEMES)
def test_the_figures_of_a_scheme_are_those_of_its_verilog(name: str, wide: Callable[[str], str]) -> None:
    assert not_grown(name).source == source(wide(name))


@pytest.mark.check
@pytest.mark.parametrize(
    "name", ["baseline", "malekeh", *(pytest.param(one, marks=pytest.mark.regress) for one in ("bow_wr", "rfc"))]
)
def test_no_scheme_has_grown_at_the_preset_of_modern_since_its_figures_were_kept(name: str) -> None:
    """After a change that is meant: as above, with ``--preset turing_rfc`` and ``synth/figures/turing_rfc/``."""
    folder, scheme = KEPT / MODERN, SCHEMES[name]
    text = scheme.verilog(scheme.configuration(MODERN), probes=False)
    if read_figures(folder)["schemes"][name].get("source") != source(text):
        not_grown(name, MODERN, folder)


@pytest.mark.check
@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.point])
def test_no_design_that_a_paper_costs_has_grown_since_its_figures_were_kept(name: str) -> None:
    """After a change that is meant: as above, with ``--set`` and ``synth/figures/points/``."""
    scheme = SCHEMES[name]
    text = scheme.verilog(scheme.configuration(scheme.preset, **scheme.point), probes=False)
    if read_figures(POINTS)["schemes"][name].get("source") != source(text):
        not_grown(name, folder=POINTS, fields=scheme.point)


def not_grown(
    name: str, preset: str = "", folder: Path = KEPT, fields: Mapping[str, object] = MappingProxyType({})
) -> AreaReport:
    """Synthesise a scheme, at its own preset or another, and compare."""
    scheme = SCHEMES[name]
    kept = read_figures(folder)
    report = measure(scheme, scheme.configuration(preset or scheme.preset, **fields), levels=False)
    now = json.loads(json.dumps({**kept, "tool": report.tool, "schemes": {name: report.to_json()}}))
    assert now["tool"] == kept["tool"]
    assert not excessive(changes(kept, now))
    return report


def test_the_source_of_figures_is_all_that_decides_them(monkeypatch: pytest.MonkeyPatch) -> None:
    before = source("module warpfile")
    found = {before, source("module warpfile ")}
    changed = {"yosys.MAP": "stat", "yosys.LEVELS": "stat", "timing.TIMED": "stat", "yosys.version": lambda: "9.9"}
    for name, value in changed.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"warpfile.synth.{name}", value)
            found.add(source("module warpfile"))
    assert len(found) == 6
    assert source("module warpfile") == before
