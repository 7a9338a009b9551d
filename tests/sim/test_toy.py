"""Kernel, descriptor, operands, sweeps and inserted instructions in lockstep, from the trace's file to the pins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import warpfile.sim.runner as runner
from tests.toy.scheme import TOY, toyed
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.stress import stress_trace

Lockstep = Callable[..., CosimReport]


@pytest.fixture
def lockstep(root: Path, monkeypatch: pytest.MonkeyPatch) -> Lockstep:
    """Runs a stress trace on the toy, in a simulator whose process knows it."""
    run_module = runner.run_module
    monkeypatch.setattr(
        runner, "run_module", lambda harness, module, *rest: run_module(harness, "tests.sim.toy_bench", *rest)
    )

    def run(seed: int, profile: str, change: tuple[str, str] = ("", ""), **changes: object) -> CosimReport:
        cfg = TOY.configuration("tiny", **changes)
        trace = toyed(stress_trace(seed, profile=profile, registers=12, length=60), seed)
        verilog = TOY.verilog(cfg, probes=True)
        assert verilog.count(change[0]) == 1 or not change[0]
        simulate = partial(cosim, simulator="icarus", build_root=root / "build", explain=False)
        return simulate(TOY, cfg, trace, verilog=verilog.replace(*change) if change[0] else verilog)

    return run


@pytest.mark.parametrize(
    ("profile", "changes"),
    [
        ("mixed", {}),
        ("control", {"scheduler": "lrr"}),
        ("memory", {"scheduler": "two_level", "active_warps": 2}),
        ("predicate", {"scheduler": "two_level", "active_warps": 3, "suspend": "always"}),
        ("mask", {"bank_cycles": 2, "bank_ports": "1R1W", "collect": "all"}),
    ],
)
def test_both_sides_agree(lockstep: Lockstep, profile: str, changes: dict[str, object]) -> None:
    for seed in range(2):
        outcome = lockstep(seed, profile, **changes).outcome
        assert not outcome.mismatches, outcome.first_mismatch
        assert outcome.counters["beats"] > outcome.instructions
        assert outcome.operands_checked == outcome.golden_operands_checked > 0
