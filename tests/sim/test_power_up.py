"""RTL equals golden model whatever registers and memories hold before the reset, and after a reset in mid-run.

Registers and memories start with random bits in Verilator and unknown in Icarus, where every other test sees them so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.initial_state import PLAIN, SEEDS, InitialState
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.stress import stress_trace

#: In ``make test``: a cache, registers in memories of its own, pools and tables that a kernel fills.
SOME = ("baseline", "rfc", "corf_plus", "larf")
ALL = [pytest.param(name, marks=() if name in SOME else pytest.mark.check) for name in SCHEMES]
#: Also a reset in the first cycle, and one that may come when all is done.
INITIAL_STATES = (
    ("mixed", InitialState(power_up=1)),
    ("mask", InitialState(power_up=2, reset_after=1)),
    ("wide", InitialState(power_up=3, reset_after=77)),
    ("mixed", InitialState(power_up=SEEDS, reset_after=400)),
)
BASELINE = SCHEMES["baseline"]
CFG = BASELINE.configuration("tiny")


def run(
    root: Path, initial_state: InitialState, verilog: str | None = None, simulator: str = "verilator"
) -> CosimReport:
    """The baseline, or a changed text of it."""
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40)
    given = {"simulator": simulator, "build_root": root / "build", "explain": False}
    return cosim(BASELINE, CFG, trace, verilog=verilog, initial_state=initial_state, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ALL)
def test_what_was_there_before_the_reset_changes_nothing(root: Path, name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny")
    for seed, (profile, initial_state) in enumerate(INITIAL_STATES):
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=6, length=60, profile=profile)
        trace = scheme.annotated(cfg, trace, seed)
        outcome = cosim(scheme, cfg, trace, initial_state=initial_state, build_root=root / "build").outcome
        assert outcome.mismatches == 0, (initial_state, outcome.first_mismatch)
        assert outcome.instructions and outcome.operands_checked == outcome.golden_operands_checked > 0
        assert outcome.cycles_before == min(initial_state.reset_after or 0, outcome.start_cycles + outcome.cycles)


def lost_reset() -> str:
    """The baseline without the reset of one register, that of the warps that are resident."""
    text = BASELINE.verilog(CFG, probes=True)
    (following,) = set(re.findall(r"^    resident <= (\S+) ;$", text, re.MULTILINE))
    block = re.compile(rf"^    if \(rst\) begin\n      {re.escape(following)}  = 5'h00;\n    end\n", re.MULTILINE)
    module = text.index("module \\warpfile.frame (")
    changed, count = block.subn("", text[module:], count=1)
    assert count == 1
    return text[:module] + changed


def reading_memory() -> str:
    """The baseline, which has started only if a row of its first bank holds zero while it is reset."""
    text = BASELINE.verilog(CFG, probes=True)
    seen = "  reg seen;\n  always @(posedge clk) if (rst) seen <= |register_file.banks.bank0.ram.ram.rows[0];\n"
    assert text.count("  assign started = 1'h1;\n") == 1
    return text.replace("  assign started = 1'h1;\n", f"{seen}  assign started = ~seen;\n")


@pytest.mark.parametrize("change", [lost_reset, reading_memory])
def test_what_reads_before_it_writes_is_found(root: Path, change: Callable[[], str]) -> None:
    """Zeros hide it."""
    verilog = change()
    assert run(root, PLAIN, verilog).outcome.mismatches == 0
    for seed in (1, 2):
        assert run(root, InitialState(power_up=seed), verilog).outcome.mismatches == 1


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("change", [lost_reset, reading_memory])
def test_in_icarus_it_is_found_in_every_run(root: Path, change: Callable[[], str]) -> None:
    report = run(root, PLAIN, change(), "icarus")
    assert report.outcome.mismatches == 1
    assert report.outcome.first_mismatch and report.outcome.first_mismatch["cycle"] in (0, 1)


def test_a_reset_that_leaves_something_is_found_in_the_cycle_after(root: Path) -> None:
    report = run(root, InitialState(reset_after=50), lost_reset())
    assert report.outcome.first_mismatch and report.outcome.first_mismatch["cycle"] == 50


def test_what_cannot_be_asked_for_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="a power-up seed must be for verilator, not icarus"):
        run(root, InitialState(power_up=1), simulator="icarus")
    with pytest.raises(ValueError, match=f"power_up must be from 1 to {SEEDS}, not 0"):
        InitialState(power_up=0)
    with pytest.raises(ValueError, match="reset_after must be at least one cycle, not 0"):
        InitialState(reset_after=0)
