"""Accesses of different lengths in lockstep, under all collectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from amaranth import Const, Mux, Value

import warpfile.sim.runner as runner
from tests.striped.scheme import FILE
from warpfile.schemes import SCHEMES
from warpfile.schemes.compose import composed
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace

pytestmark = pytest.mark.needs("iverilog")

Lockstep = Callable[..., Outcome]
#: What explains a difference has to know the scheme; what replays does not.
BENCH = {"warpfile.sim.bench": "tests.sim.striped_bench"}


@pytest.fixture
def lockstep(root: Path, monkeypatch: pytest.MonkeyPatch) -> Lockstep:
    """Runs a stress trace on a scheme over the striped register file, in a simulator whose process knows it."""
    run_module = runner.run_module
    monkeypatch.setattr(
        runner, "run_module", lambda harness, module, *rest: run_module(harness, BENCH.get(module, module), *rest)
    )

    def run(scheme: str, profile: str, seed: int = 1, length: int = 40, **changes: object) -> Outcome:
        striped = composed(SCHEMES[scheme], [FILE])
        cfg = striped.configuration("tiny", lanes=2, **changes)
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=3, profile=profile, registers=12, length=length)
        verilog = striped.verilog(cfg, probes=True)
        options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
        return cosim(striped, cfg, trace, verilog=verilog, **options).outcome

    return run


@pytest.mark.check
@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("baseline", {"collect": "lowest"}),
        ("baseline", {"collect": "one", "bank_ports": "1R1W", "stripe": 2}),
        ("baseline", {"collect": "all", "bank_arbitration": "oldest", "stripe": 2}),
        ("baseline", {"collect": "all", "stripe": 2, "bank_occupancy": "one"}),
        ("baseline", {"collect": "one", "bank_arbitration": "oldest", "stripe": 3, "bank_occupancy": "one"}),
        ("bow_wr", {"bank_cycles": 2, "bank_occupancy": "one"}),
        ("bow_wr", {}),
        ("bow", {"bank_ports": "1R1W", "stripe": 2}),
        ("malekeh", {"stripe": 2}),
        pytest.param(
            "baseline", {"collect": "lowest", "bank_ports": "1R1W", "bank_cycles": 2}, marks=pytest.mark.regress
        ),
        pytest.param("baseline", {"collect": "one", "bank_arbitration": "oldest"}, marks=pytest.mark.regress),
        pytest.param("baseline", {"collect": "all", "bank_ports": "1R1W", "stripe": 7}, marks=pytest.mark.regress),
        pytest.param("baseline", {"stripe": 0}, marks=pytest.mark.regress),
        pytest.param(
            "baseline", {"bank_ports": "1R1W", "stripe": 7, "bank_occupancy": "one"}, marks=pytest.mark.regress
        ),
        pytest.param("malekeh", {"stripe": 2, "bank_occupancy": "one"}, marks=pytest.mark.regress),
        pytest.param("bow_wr", {"bank_ports": "1R1W", "bank_cycles": 3, "stripe": 3}, marks=pytest.mark.regress),
        pytest.param("malekeh", {"bank_ports": "1R1W", "bank_cycles": 2}, marks=pytest.mark.regress),
    ],
)
@pytest.mark.parametrize("profile", ["mixed", "wide"])
def test_both_sides_agree(lockstep: Lockstep, scheme: str, profile: str, changes: dict[str, object]) -> None:
    outcome = lockstep(scheme, profile, **changes)
    assert not outcome.mismatches, outcome.first_mismatch
    assert outcome.operands_checked == outcome.golden_operands_checked > 0


def _at_once(free: Value) -> Value:
    return Const(1, len(free))


@pytest.mark.check
@pytest.mark.parametrize(
    ("scheme", "place", "wrong"),
    [
        ("baseline", "warpfile.hdl.rf.banks.apart", lambda m, cfg, requests, *rest: requests),
        ("bow_wr", "warpfile.hdl.rf.banks.apart", lambda m, cfg, requests, *rest: requests),
        ("malekeh", "warpfile.hdl.rf.banks.apart", lambda m, cfg, requests, *rest: requests),
        ("baseline", "warpfile.hdl.rf.completion.lowest_one", _at_once),
        ("baseline", "tests.striped.rtl.Mux", lambda odd, long, short: Mux(odd, short, long)),
    ],
)
def test_a_machine_that_is_wrong_is_found(
    lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch, scheme: str, place: str, wrong: object
) -> None:
    monkeypatch.setattr(place, wrong)
    # Not every trace has short accesses of a bank right behind long ones, least where units cache.
    assert lockstep(scheme, "mixed", stripe=2, seed=3, length=100).mismatches == 1


@pytest.mark.check
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("warpfile.hdl.rf.banks.meets", lambda known, length: Const(0)),
        ("warpfile.hdl.rf.bank.Mux", lambda enters, row, moved: Mux(enters, moved, row)),
        ("warpfile.hdl.rf.bank.coming", lambda m, name, starting: Const(0, len(starting))),
    ],
)
def test_a_pipelined_bank_that_is_wrong_is_found(
    lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch, place: str, wrong: object
) -> None:
    """Rows that leave together, or are not where they are waited for."""
    monkeypatch.setattr(place, wrong)
    assert lockstep("baseline", "mixed", stripe=2, seed=4, length=100, bank_occupancy="one").mismatches == 1
