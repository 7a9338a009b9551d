"""The start of a machine in lockstep: seen at the pins and in the probes, and counted by itself on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.rf.packed.scenario import get, make, put, valued
from warpfile.schemes import SCHEMES, find
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace

pytestmark = pytest.mark.needs("iverilog")

CFG = make("corf", warps=2)
#: One per warp and register, in as many memories as there are banks (docs/schemes/corf.md, section 4).
ENTRIES = CFG.warps * CFG.register_names // CFG.banks
TRACE = valued([put(1, 5), get(1)])


def lockstep(root: Path, verilog: str | None = None) -> Outcome:
    given: dict[str, Any] = {"simulator": "icarus", "build_root": root / "build", "explain": False}
    return cosim(find("corf"), CFG, TRACE, verilog=verilog, **given).outcome


def test_a_start_is_compared_and_counted_by_itself(root: Path) -> None:
    outcome = lockstep(root)
    assert not outcome.mismatches, outcome.first_mismatch
    assert (
        outcome.start_cycles == outcome.counters["start_cycles"] == outcome.golden_counters["start_cycles"] == ENTRIES
    )
    assert outcome.cycles == outcome.counters["cycles"] == outcome.compared - ENTRIES


def test_the_baseline_has_started_in_its_first_cycle(root: Path) -> None:
    scheme, trace = SCHEMES["baseline"], stress_trace(1, length=10)
    report = cosim(scheme, scheme.configuration("tiny"), trace, simulator="icarus", build_root=root / "build")
    assert not report.outcome.mismatches and not report.outcome.start_cycles
    assert report.outcome.cycles == report.outcome.compared
    assert "start_cycles" not in report.to_json()["counters"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("told", "cycle"),
    [("1'b1", 0), ("1'b0", ENTRIES)],
    ids=["at once", "never"],
)
def test_a_machine_that_says_something_else_of_its_start_is_found(root: Path, told: str, cycle: int) -> None:
    verilog, assigned = find("corf").verilog(CFG, probes=True), "assign started = ~ clearing;"
    assert verilog.count(assigned) == 1
    outcome = lockstep(root, verilog.replace(assigned, f"assign started = {told};"))
    assert outcome.first_mismatch and outcome.first_mismatch["cycle"] == cycle
