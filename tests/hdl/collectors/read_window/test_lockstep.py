"""RTL of ``modern`` equals its golden model on code that is as tight as the machine allows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.compiler.passes.modern.coded import EXAMPLE, coded_trace
from tests.golden.collectors.read_window.random_window import random_window
from tests.golden.collectors.read_window.scenario import configured
from tests.golden.collectors.read_window.tight import tight_trace
from warpfile.schemes import find
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Trace

pytestmark = pytest.mark.needs("iverilog")


def run(cfg: ReadWindowConfig, trace: Trace, root: Path, verilog: str | None = None) -> CosimReport:
    return cosim(find("modern"), cfg, trace, simulator="icarus", build_root=root, explain=False, verilog=verilog)


def test_the_worked_example_runs_alike(tmp_path: Path) -> None:
    cfg = configured(variable_delay=5, latency=8, lanes=1)
    outcome = run(cfg, coded_trace(*EXAMPLE), tmp_path).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    sums = ("freezes", "fixed_sources", "rfc_hits", "fixed_reads", "variable_reads", "rfc_allocations", "forwards")
    assert [outcome.counters[name] for name in sums] == [1, 17, 1, 16, 2, 1, 1]


def test_units_of_half_a_warp_run_alike_through_freezes(tmp_path: Path) -> None:
    cfg = configured(unit_interval=2, lanes=1, warps=3)
    one = ("FFMA R11, R10, R12, R14", "FFMA R13, R16, R18, R20", "IADD3 R15, R4, R6, R8")
    outcome = run(cfg, coded_trace(*one * 6, warps=3), tmp_path).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.counters["freezes"] > 10 < outcome.counters["unit_waits"]


@pytest.mark.parametrize("seed", [0, 3, 7, *(pytest.param(seed, marks=pytest.mark.regress) for seed in range(8, 20))])
def test_tight_code_runs_alike_on_random_machines(tmp_path: Path, seed: int) -> None:
    """With seed 8, 11, ... by the scoreboard; with odd ones counters count without a lane, and DEPBAR leaves some."""
    dependences = "scoreboard" if seed % 3 == 2 else "control_codes"
    cfg = random_window(random.Random(seed), dependences, lanes=1)
    outcome = run(cfg, tight_trace(cfg, seed, counters=seed % 2 == 1), tmp_path).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.operands_checked == outcome.golden_operands_checked > 90


def test_a_result_that_ends_no_entry_is_found(tmp_path: Path) -> None:
    scheme, cfg = find("modern"), configured("tiny", lanes=1)
    text = scheme.verilog(cfg, probes=True)
    wrong = text.replace(".offered(", ".offered(3'b0 & ", 1)
    assert wrong != text
    trace = tight_trace(cfg, 1)
    assert run(cfg, trace, tmp_path / "right", text).outcome.mismatches == 0
    assert run(cfg, trace, tmp_path / "wrong", wrong).outcome.mismatches
