"""When a result is in place, and what a read of a slow bank sees (docs/machine.md, sections 6 and 7)."""

from __future__ import annotations

import pytest

from tests.golden.scenario import NOP, hand_trace, op, run
from tests.golden.test_mutants import IgnoresPending
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare

PLAIN = Config(banks=2, bank_ports="1RW", collect="all", alu_latency=4, uniform_latency=6)


@pytest.mark.parametrize("ports", ["1RW", "1R1W"])
@pytest.mark.parametrize("cycles", [1, 2, 3, 8])
def test_a_result_completes_when_its_bank_is_done(cycles: int, ports: str) -> None:
    cfg = PLAIN.replace(bank_cycles=cycles, bank_ports=ports)
    result = run(cfg, hand_trace([op((), 4), op((4,), 6)]))
    first, second = result.when("write")
    # The bank is busy from 7 on; accepted in 7 it is seen from 7 + cycles on, by the reader and by the EXIT.
    assert first == 7
    assert result.issues() == [(2, 0), (7 + cycles, 0), (second + cycles, 0)]
    assert result.when("grant") == [8 + cycles]


@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_a_result_without_a_register_completes_like_any_other(cycles: int) -> None:
    logic = op(port=Port.NONE, token_writes=1 << 3)
    result = run(PLAIN.replace(bank_cycles=cycles), hand_trace([logic, op((2,), 4, token_reads=1 << 3)]))
    assert result.when("write")[0] == 8
    assert result.issues()[:2] == [(2, 0), (8 + cycles, 0)]


def test_tokens_of_a_result_come_with_its_first_register() -> None:
    wide = op((), 4, dest_count=2, token_writes=1)
    result = run(PLAIN.replace(bank_cycles=3), hand_trace([wide, op((2,), 8, token_reads=1), op((5,), 9)]))
    assert result.when("write")[:2] == [7, 8]
    assert result.issues()[:3] == [(2, 0), (10, 0), (11, 0)]


@pytest.mark.parametrize(("nops", "stale"), [(3, True), (4, False)])
def test_a_read_takes_its_row_as_it_is_in_the_grant_cycle(nops: int, stale: bool) -> None:
    # R4 is accepted in 7 and its bank is busy through 9; without a scoreboard the reader is granted in 4 + nops.
    trace = hand_trace([op((), 4), *[NOP] * nops, op((4,), 5)])
    cfg = Config(banks=2, bank_ports="1R1W", bank_cycles=3, alu_latency=4)
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    model, environment = IgnoresPending(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    fields = []
    while not fields or not fields[-1]["grant"]:
        fields.append(layout.unpack(model.step(environment.stimulus())))
        environment.observe(layout.pack(fields[-1]))
    assert [t for t, f in enumerate(fields) if f["write"]][:1] == [7]
    assert [t for t, f in enumerate(fields) if f["grant"]] == [4 + nops]
    assert model.collectors.units.values[0] == (-1 if stale else 0)
