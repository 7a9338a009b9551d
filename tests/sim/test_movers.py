"""A file's own engines in lockstep: first, between and last, reading, masked, and beside those of collectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth import Cat, Module, Value

import warpfile.sim.runner as runner
from tests.movers.scheme import FILE
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.engines import Engines, Group, groups
from warpfile.schemes import SCHEMES
from warpfile.schemes.compose import composed
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace

pytestmark = pytest.mark.needs("iverilog")

#: A simulation that only replays knows no parts.
BENCH = {"warpfile.sim.bench": "tests.sim.movers_bench"}

Lockstep = Callable[..., Outcome]


@pytest.fixture
def lockstep(root: Path, monkeypatch: pytest.MonkeyPatch) -> Lockstep:
    """Runs a stress trace on a scheme over the file that moves rows, in a simulator whose process knows it."""
    run_module = runner.run_module
    monkeypatch.setattr(
        runner, "run_module", lambda harness, module, *rest: run_module(harness, BENCH.get(module, module), *rest)
    )

    def run(scheme: str = "baseline", profile: str = "mixed", **changes: object) -> Outcome:
        movers = composed(SCHEMES[scheme], [FILE])
        cfg = movers.configuration("tiny", lanes=2, **changes)
        trace = stress_trace(1, warps_per_cta=[3, 1, 2], ctas=3, profile=profile, registers=6, length=40)
        options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
        verilog = movers.verilog(cfg, probes=True)
        return cosim(movers, cfg, trace, verilog=verilog, **options).outcome

    return run


#: First, between, last; reads and writes of one engine or two; whole rows and halves; ports and lengths.
FIRST = {"fetch": "results", "store": "results"}
MIDDLE = {"fetch": "reads", "store": "reads", "halves": 0, "bank_ports": "1R1W"}
LAST = {"fetch": "last", "store": "last", "bank_cycles": 2, "halves": 0}
SPLIT = {"fetch": "results", "store": "last"}
CROSSED = {"fetch": "last", "store": "reads"}
ONE = {"fetch": "reads", "store": "fetch", "bank_ports": "1R1W"}
#: Evictions are over when the swap begins, which the operands show.
BESIDE = {"fetch": "reads", "store": "reads", "halves": 0, "rest": 31}


def _regress(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.regress)


@pytest.mark.check
@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("baseline", FIRST),
        ("baseline", LAST),
        ("baseline", SPLIT),
        ("baseline", ONE),
        ("bow_wr", BESIDE),
        _regress("baseline", CROSSED),
        _regress("baseline", MIDDLE),
        _regress("baseline", SPLIT | {"bank_cycles": 3, "bank_ports": "1R1W"}),
        _regress("baseline", ONE | {"fetch": "last", "bank_cycles": 2}),
        _regress("bow", FIRST),
        _regress("malekeh", SPLIT | {"bank_cycles": 2}),
        _regress("bow_wr", BESIDE | {"bank_ports": "1R1W", "bank_cycles": 2}),
    ],
)
def test_both_sides_agree(lockstep: Lockstep, scheme: str, changes: dict[str, object]) -> None:
    outcome = lockstep(scheme, **changes)
    assert not outcome.mismatches, outcome.first_mismatch
    assert outcome.counters["beats"] > outcome.instructions
    assert outcome.counters["moves"]
    assert outcome.counters["write_waits"] or outcome.counters["evictions"]
    assert outcome.operands_checked == outcome.golden_operands_checked > 0


def _whole_rows(engines: Engines) -> Iterator[Group]:
    return (replace(group, engine=replace(group.engine, masked=False)) for group in groups(engines))


def _late(engines: Engines) -> Iterator[Group]:
    """In one place the last one first."""
    return reversed(list(groups(engines)))  # type: ignore[return-value]


def _next_client(self: Bank, m: Module, arriving: Value) -> None:
    _FILLS(self, m, Cat(arriving[: len(self.fill)], arriving[len(self.fill) :].rotate_left(1)))


_FILLS = Bank._fills


@pytest.mark.check
@pytest.mark.parametrize(
    ("scheme", "changes", "name", "wrong"),
    [
        ("baseline", FIRST, "groups", _whole_rows),
        ("baseline", FIRST, "PRIORITIES", ("reads", "results", "last")),
        ("baseline", LAST, "PRIORITIES", ("results", "last", "reads")),
        ("baseline", SPLIT, "PRIORITIES", ("last", "reads", "results")),
        ("baseline", ONE, "Bank._fills", _next_client),
        ("bow_wr", BESIDE, "groups", _late),
    ],
)
def test_a_machine_that_is_wrong_is_found(
    lockstep: Lockstep,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    changes: dict[str, object],
    name: str,
    wrong: object,
) -> None:
    monkeypatch.setattr(f"warpfile.hdl.rf.bank.{name}", wrong)
    assert lockstep(scheme, **changes).mismatches == 1
