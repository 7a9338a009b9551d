"""Costs come from the study, else from kept figures of the same scheme at the same preset."""

from __future__ import annotations

import json
from typing import Any

from tests.warpfile.results.reports.made_up import row, study
from warpfile.results.claims import DENSE
from warpfile.results.reports.costs import FROM_KEPT, SYNTHESISED, Module, costs
from warpfile.results.reports.source import Machine
from warpfile.results.reports.treemap import OTHERS, SMALL, tiles
from warpfile.results.studies.table import growth_column
from warpfile.synth.figures import KEPT

MACHINE = {"scheme": "bow", "preset": "tiny", "changes": ""}


def module(name: str, instances: int, size: float) -> dict[str, Any]:
    return {**MACHINE, "study": "made", "module": name, "instances": instances, "nand2_equivalents": size}


def test_areas_of_the_study_go_first() -> None:
    areas = {"area_nand2_equivalents": 1000.0, growth_column(DENSE): 0.25, "area_logic_growth": 0.5, "path_ns": 3.5}
    made = study(row(**areas, path_liberty="cells.lib"), modules=[module("a", 2, 100), module("b", 1, 800)])
    (cost,) = costs(made).values()
    assert (cost.origin, cost.nand2, cost.total, cost.logic) == (SYNTHESISED, 1000, 0.25, 0.5)
    assert (cost.path_ns, cost.path_liberty) == (3.5, "cells.lib")
    assert cost.modules == (Module("b", 1, 800), Module("a", 2, 200))


def test_kept_figures_stand_in_for_the_same_preset_only() -> None:
    facts = json.loads((KEPT / "bow.json").read_text())["schemes"]["bow"]
    made = study(row(preset="pascal"), row(), row(preset="pascal", changes="window=2"))
    known = costs(made)
    assert list(known) == [Machine("bow", "pascal", "")]
    (cost,) = known.values()
    assert (cost.origin, cost.nand2, cost.total) == (
        FROM_KEPT,
        facts["nand2_equivalents"],
        facts["overhead"]["total"][DENSE],
    )
    assert cost.path_ns == next(iter(facts["critical_paths"].values()))["nanoseconds"]
    assert sum(one.nand2 for one in cost.modules) == sum(
        one["nand2_equivalents"] * one["instances"] for one in facts["modules"]
    )


def test_small_modules_are_summed_up_and_nothing_is_lost() -> None:
    made = study(
        row(area_nand2_equivalents=1.0), modules=[module("a", 1, 1000), *(module(f"s{i}", 1, 1) for i in range(9))]
    )
    (cost,) = costs(made).values()
    found = tiles(cost)
    assert found == {"a": (1000, 1), OTHERS: (9, 9)} and SMALL > 1 / 1009
    assert sum(size for size, _ in found.values()) == sum(one.nand2 for one in cost.modules)
