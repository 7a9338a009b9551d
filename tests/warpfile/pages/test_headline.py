"""The first tables of the page of costs, from figures made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warpfile.pages import headline
from warpfile.pages.headline import section, with_section
from warpfile.schemes import SCHEMES
from warpfile.synth.overhead import NAND2_PER_BIT


def grown(logic: float, noise: bool = False) -> dict[str, Any]:
    return {"logic": logic, "noise": noise, "total": dict.fromkeys(NAND2_PER_BIT, logic / 2)}


def facts(latches: float | None, flip_flops: float, ratio: float | None) -> dict[str, Any]:
    slow = {"nanoseconds": 6.0, "start": "ram/Q", "end": "unit/D", "fo4_ns": 0.1, "access_fo4": {"ram": 45.51}}
    path: dict[str, Any] = {"nanoseconds": 4.0}
    if ratio:
        path |= {"with_access": slow, "of_baseline": 1.25, "with_access_of_baseline": ratio}
    overhead = grown(flip_flops) | ({"latches": grown(latches, latches < 0.005)} if latches is not None else {})
    return {"preset": "pascal", "overhead": overhead, "critical_paths": {"one.lib": path}}


def test_both_forms_stand_side_by_side() -> None:
    found = section({"baseline": facts(0.0, 0.0, 1.0), "bow": facts(1.0, 2.0, 1.3), "pilot": facts(0.004, 0.01, 1.0)})
    assert "| `bow` | pascal | +100.0% | +50.0% | +50.0% | +50.0% | +200.0% | +100.0% | +100.0% | +100.0% |" in found
    assert "| `pilot` | pascal | ~+0.4% |" in found and "`baseline` | pascal" not in found
    assert "| `bow` | `ram` 45.5 | 6.00 | 60.0 | 1.30 | 1.25 | `ram/Q` | `unit/D` |" in found
    assert "for every scheme; every one that is timed is within it." in found


def test_a_scheme_beyond_the_goal_and_one_that_was_not_timed_are_named() -> None:
    found = section({"baseline": facts(0.0, 0.0, 1.0), "bow": facts(1.0, 2.0, 1.31), "rfc": facts(None, 1.0, None)})
    assert "`bow` must still get there, `rfc` must still be timed." in found
    assert "| `rfc` | pascal | - | - | - | - | +100.0% |" in found and "| `rfc` | - | - |" in found


def test_the_section_takes_the_place_of_the_one_before() -> None:
    page = "# Costs\n\n## Headline\n\nold\n\n## Cells\n\nrest\n"
    assert with_section(page, "## Headline\n\nnew\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="must have the lines '## Headline'"):
        with_section("# Costs\n", "new")


def test_the_page_has_what_the_kept_figures_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in SCHEMES:
        sizes = dict.fromkeys(("cells", "flip_flops", "nand2_equivalents", "logic_levels"), 1)
        sizes |= {"modules": [{"name": "part", "cells": 1, "instances": 1}]}
        one = {"tool": "Yosys", "liberty": "library", "schemes": {name: sizes | facts(0.7, 1.0, 1.2)}}
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    (tmp_path / "cost.md").write_text("## Headline\n\n## Cells\n")
    monkeypatch.setattr(headline, "KEPT", tmp_path)
    monkeypatch.setattr(headline, "PAGE", tmp_path / "cost.md")
    assert headline.main([]) == 0 == headline.main(["--check"])
    text = (tmp_path / "cost.md").read_text()
    assert text.count("| +70.0% |") == len(SCHEMES) - 1 and text.count("| 1.20 | 1.25 |") == len(SCHEMES)


def test_the_page_is_that_of_the_kept_figures() -> None:
    """Whoever writes figures anew writes the section, too."""
    assert headline.main(["--check"]) == 0
