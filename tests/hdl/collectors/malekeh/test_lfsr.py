# amaranth: UnusedElaboratable=no
"""The register of arbitrary numbers against arithmetic with polynomials."""

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.lfsr import Lfsr


def states(seed, steps):
    """States of the register while it is told to step, or not, as ``steps`` says."""
    part, seen = Lfsr(seed), []

    async def bench(ctx):
        for step in steps:
            seen.append(ctx.get(part.state))
            ctx.set(part.step, step)
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def reversed_bits(value):
    return int(f"{value:08b}"[::-1], 2)


def times_x(value):
    """The polynomial times x, modulo x^8 + x^4 + x^3 + x^2 + 1, the reciprocal of x^8 + x^6 + x^5 + x^4 + 1."""
    value <<= 1
    return value ^ 0b1_0001_1101 if value >> 8 else value


@pytest.mark.parametrize("seed", (1, 2, 8, 255))
def test_a_step_multiplies_by_x_with_the_highest_coefficient_lowest(seed):
    seen, expected = states(seed, [1] * 300), reversed_bits(seed)
    for state in seen:
        assert reversed_bits(state) == expected
        expected = times_x(expected)


def test_it_visits_all_values_but_zero():
    assert sorted(states(1, [1] * 255)) == list(range(1, 256))


def test_it_stands_still_unless_told_to_step():
    assert states(3, [0, 0, 1, 0, 1]) == [3, 3, 3, 0xB9, 0xB9]


@pytest.mark.parametrize("seed", (0, 256, -1))
def test_a_seed_must_be_a_state(seed):
    with pytest.raises(ValueError, match="seed must be from 1 to 255"):
        Lfsr(seed)
