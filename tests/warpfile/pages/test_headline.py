"""The first tables of the page of costs, from figures made by hand."""

from __future__ import annotations

from typing import Any

from warpfile.pages.headline import section
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
