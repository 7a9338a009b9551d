"""Kernel, descriptor, operands, sweeps and inserted instructions in lockstep, from the trace's file to the pins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from amaranth import Value

import warpfile.sim.runner as runner
from tests.toy.scheme import TOY, toyed
from warpfile.hdl.scoreboard import WarpScoreboard
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace

pytestmark = pytest.mark.needs("iverilog")

Lockstep = Callable[..., Outcome]
#: What explains a difference has to know the scheme; what replays does not.
BENCH = {"warpfile.sim.bench": "tests.sim.toy_bench"}


@pytest.fixture
def lockstep(root: Path, monkeypatch: pytest.MonkeyPatch) -> Lockstep:
    """Runs a stress trace on the toy, in a simulator whose process knows it."""
    run_module = runner.run_module
    monkeypatch.setattr(
        runner, "run_module", lambda harness, module, *rest: run_module(harness, BENCH.get(module, module), *rest)
    )

    def run(profile: str, **changes: object) -> Outcome:
        cfg = TOY.configuration("tiny", **changes)
        trace = toyed(stress_trace(1, profile=profile, registers=12, length=30), 1)
        verilog = TOY.verilog(cfg, probes=True)
        options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
        return cosim(TOY, cfg, trace, verilog=verilog, **options).outcome

    return run


@pytest.mark.parametrize(
    ("profile", "changes"),
    [
        ("mixed", {}),
        pytest.param("control", {"scheduler": "lrr"}, marks=pytest.mark.regress),
        ("memory", {"scheduler": "two_level", "active_warps": 2}),
        pytest.param(
            "predicate", {"scheduler": "two_level", "active_warps": 3, "suspend": "always"}, marks=pytest.mark.regress
        ),
        ("mask", {"bank_cycles": 2, "bank_ports": "1R1W", "collect": "all"}),
    ],
)
def test_both_sides_agree(lockstep: Lockstep, profile: str, changes: dict[str, object]) -> None:
    outcome = lockstep(profile, **changes)
    assert not outcome.mismatches, outcome.first_mismatch
    assert outcome.counters["beats"] > outcome.instructions
    assert outcome.operands_checked == outcome.golden_operands_checked > 0


def _weaker_drain(self: WarpScoreboard, pending: Value, tokens: Value) -> Value:
    return _UNDRAINED(self, pending & 0, tokens & 0)


_UNDRAINED = WarpScoreboard._undrained


@pytest.mark.check
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("warpfile.hdl.scoreboard.WarpScoreboard._undrained", _weaker_drain),
        ("tests.toy.rtl.is_pseudo", lambda beat: beat.kind == 2),
        ("tests.toy.rtl.KERNEL_CYCLE", 2),
        ("tests.toy.rtl.PAUSE", "registers"),
    ],
)
def test_a_machine_that_is_wrong_is_found(
    lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch, place: str, wrong: object
) -> None:
    monkeypatch.setattr(place, wrong)
    assert lockstep("mixed").mismatches == 1
