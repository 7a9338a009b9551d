"""The start of a machine in lockstep: seen at the pins and in the probes, and counted by itself on both sides.

No scheme has one: a file that takes some cycles until it could take a kernel is made here.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from amaranth import Module, Signal

from tests.golden.rf.packed.scenario import get, put, valued
from tests.golden.test_start import CFG, PLAIN, START
from warpfile.hdl.renaming.join import start_kernels
from warpfile.hdl.renaming.sweep import Sweep
from warpfile.hdl.renaming.table import RenamingTable
from warpfile.hdl.rf.packed import file
from warpfile.schemes import SCHEMES, find
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.sim.simulators import SimulatorError
from warpfile.spec.stress import stress_trace

pytestmark = pytest.mark.needs("iverilog")

TRACE = valued([put(1, 5), get(1)])


class StartingFile(file.PackedFile):
    """It starts in the first ``START`` cycles."""

    def _kernel(self, m: Module, table: RenamingTable) -> Sweep:
        over = Signal(range(START + 1), name="over")
        with m.If(~self.started):
            m.d.sync += over.eq(over + 1)
        m.d.comb += self.started.eq(over == START)
        with mock.patch.object(file, "start_kernels", functools.partial(start_kernels, idle=self.started)):
            return super()._kernel(m, table)


CORF = find("corf")
PART = replace(CORF.rf, golden="tests.golden.test_start:StartingFile", rtl="tests.sim.test_start:StartingFile")
STARTING = replace(CORF, rf=PART)


def lockstep(root: Path, verilog: str | None = None) -> Outcome:
    given: dict[str, Any] = {"simulator": "icarus", "build_root": root / "build", "explain": False}
    return cosim(STARTING, CFG, TRACE, verilog=verilog, **given).outcome


def test_a_start_is_compared_and_counted_by_itself(root: Path) -> None:
    outcome = lockstep(root)
    assert not outcome.mismatches, outcome.first_mismatch
    assert outcome.start_cycles == outcome.counters["start_cycles"] == outcome.golden_counters["start_cycles"] == START
    assert outcome.cycles == outcome.counters["cycles"] == outcome.compared - START


@pytest.mark.parametrize("name", ["baseline", "corf"])
def test_machines_without_a_start_have_started_in_their_first_cycle(root: Path, name: str) -> None:
    scheme, trace = SCHEMES[name], stress_trace(1, length=10)
    cfg = PLAIN if name == "corf" else scheme.configuration("tiny")
    trace = TRACE if name == "corf" else trace
    report = cosim(scheme, cfg, trace, simulator="icarus", build_root=root / "build")
    assert not report.outcome.mismatches and not report.outcome.start_cycles
    assert report.outcome.cycles == report.outcome.compared
    assert "start_cycles" not in report.to_json()["counters"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("told", "cycle"),
    [("1'b1", 0), ("1'b0", START)],
    ids=["at once", "never"],
)
def test_a_machine_that_says_something_else_of_its_start_is_found(root: Path, told: str, cycle: int) -> None:
    verilog = STARTING.verilog(CFG, probes=True)
    changed, count = re.subn(r"assign started = [^;]*;", f"assign started = {told};", verilog)
    assert count == 1
    # The run that would explain it is another process, which knows the schemes of the table alone.
    with pytest.raises(SimulatorError, match=f"the replayed run objects: cycle {cycle} differs"):
        lockstep(root, changed)
