"""Sources whose result is accepted with the issue of their beat (docs/schemes/scalar.md, section 5)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.golden.collectors.sticky.scenario import random_sticky
from tests.golden.machines import Baseline, layout_of
from tests.golden.rf.scalar.scenario import LANE, Words, few_words, valued
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.golden.rf.contract import Place
from warpfile.golden.rf.scalar.file import ScalarFile
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


class Forwarding(Baseline):
    """The machine of ``sticky+scalar``."""

    scheme = "sticky+scalar"


class Registered(ScalarFile):
    """Takes the bit that the register still has."""

    def place(self, warp: int, register: int) -> Place:
        """The place in this cycle."""
        return self._in(self.registers.scalar(warp, register), self.location.place(warp, register))


class Wrong(Forwarding):
    """With the bit of the register's last value."""

    file_kind = Registered


def run(trace: Trace, model: type[Baseline] = Forwarding, **changes: Any) -> Run:
    """Simulate a trace to its end."""
    cfg = find("sticky+scalar").configuration("tiny", **changes)
    layout = layout_of("sticky+scalar", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, 20_000)]
    return result


def late(before: Words, result: Words, model: type[Baseline] = Forwarding) -> Run:
    """R4 has a value and gets another one, which is accepted when its reader issues behind seven other beats."""
    program: list[Step] = [op((), 4), *[NOP] * 12, op((0,), 4), *[NOP] * 7, op((4,), 5)]
    trace = valued(hand_trace(program), [before, result, 1])
    return run(trace, model, collect="all", bank_ports="1R1W", alu_latency=5)


@pytest.mark.parametrize("before", [7, LANE])
@pytest.mark.parametrize(("result", "reads"), [(9, "scalar_read"), (LANE + 1, "vector_read")])
def test_a_late_source_asks_the_bank_that_its_result_went_to(before: Words, result: Words, reads: str) -> None:
    found = late(before, result)
    issue = found.issues()[21][0]
    assert found.events("late") == [(issue, 0b01)] and found.when("write")[1] == issue
    kinds = ("scalar_read", "vector_read")
    asks = {kind: [cycle for cycle, _ in found.events(kind) if cycle > issue] for kind in kinds}
    assert asks == {kind: [issue + 1] * (kind == reads) for kind in kinds}


@pytest.mark.parametrize(("before", "result"), [(7, LANE), (LANE, 7)])
def test_a_source_that_looks_where_its_register_was_finds_another_value(before: Words, result: Words) -> None:
    with pytest.raises(AssertionError):
        late(before, result, Wrong)


def test_random_kernels_find_every_operand_also_where_it_is_late() -> None:
    rng, lates, wrong = random.Random(3), 0, 0
    for _ in range(60):
        fields = {
            "collect": rng.choice(("one", "all", "lowest")),
            "retake": rng.choice(("same", "next")),
            "bank_cycles": rng.choice((1, 2)),
            "alu_latency": rng.choice((1, 2, 4)),
        }
        cfg = find("sticky+scalar").configuration("tiny", **fields)
        trace = valued(random_sticky(cfg, rng), few_words(rng))
        result = run(trace, **fields)
        assert result.model.operands_checked > 0
        lates += result.model.counters["source_lates"]
        try:
            run(trace, Wrong, **fields)
        except AssertionError:
            wrong += 1
    assert lates > 50
    assert wrong > 5, "a file that looks where the register was fails"
