"""The steady-state law: cycles per instruction are the accesses of the busiest bank, results included."""

from __future__ import annotations

import pytest

from tests.golden.scenario import hand_trace, op, run
from warpfile.spec.config import Config

LENGTH = 800


def cycles_per_instruction(cfg: Config, sources: tuple[int, ...], dests: list[int], warps: int) -> float:
    """Measured over the second half of a long run of independent instructions."""
    program = [op(sources, dests[k % len(dests)]) for k in range(LENGTH // warps)]
    issues = run(cfg, hand_trace(*[program] * warps, registers=64)).issues()
    middle, last = len(issues) // 2, len(issues) - 4 * warps
    return (issues[last][0] - issues[middle][0]) / (last - middle)


ALTERNATING = list(range(8, 64))
SAME = list(range(8, 64, 2))
OTHER = list(range(9, 64, 2))
PATTERNS = [
    ((2,), ALTERNATING, 1.5),
    ((2, 3, 5), ALTERNATING, 2.5),
    ((2, 4, 6), ALTERNATING, 3.5),
    ((3, 5), ALTERNATING, 2.5),
    ((2,), SAME, 2.0),
    ((2,), OTHER, 1.0),
]


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("collect", ["lowest", "one", "all"])
@pytest.mark.parametrize(("sources", "dests", "law"), PATTERNS)
def test_single_ported_banks_bound_the_rate(
    sources: tuple[int, ...], dests: list[int], law: float, collect: str, warps: int
) -> None:
    cfg = Config(warps=8, banks=2, rows=512, bank_ports="1RW", collectors=8, collect=collect, bank_skew="none")
    assert cycles_per_instruction(cfg, sources, dests, warps) == pytest.approx(law, abs=0.05)


@pytest.mark.parametrize("arbitration", ["round_robin", "oldest"])
@pytest.mark.parametrize(("sources", "dests", "law"), PATTERNS)
def test_four_collectors_suffice_for_the_law(
    sources: tuple[int, ...], dests: list[int], law: float, arbitration: str
) -> None:
    cfg = Config(banks=2, bank_ports="1RW", collectors=4, collect="all", bank_arbitration=arbitration)
    assert cycles_per_instruction(cfg, sources, dests, 1) == pytest.approx(law, abs=0.1)


def test_a_second_port_hides_the_writes() -> None:
    cfg = Config(banks=2, bank_ports="1R1W", collectors=8, collect="all")
    assert cycles_per_instruction(cfg, (2, 4, 6), ALTERNATING, 1) == pytest.approx(3.0, abs=0.05)
    assert cycles_per_instruction(cfg, (2,), SAME, 1) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("cycles", [2, 3])
def test_slow_banks_multiply_the_law(cycles: int) -> None:
    cfg = Config(banks=2, bank_ports="1RW", collectors=8, collect="all", bank_cycles=cycles)
    assert cycles_per_instruction(cfg, (2,), SAME, 1) == pytest.approx(2.0 * cycles, abs=0.05)
