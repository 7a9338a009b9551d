"""One lane of the results: it goes from stage to stage with its value, and a lane that a value lacks is 0 or merged."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.renaming.lane import ResultLane


@pytest.mark.parametrize(("scheme", "stages"), [("packing", 3), ("larf", 2)])
def test_a_value_is_as_many_registers_from_its_bank_as_the_page_says(scheme: str, stages: int) -> None:
    """T, W0, W1 or W0, W1: each takes what is before it when it is told to, and keeps what it has otherwise."""
    cfg, numbers = config(scheme, packing=0) if scheme == "packing" else config(scheme), random.Random(7)
    part, names = ResultLane(cfg), ("takes", "advances", "moves") if stages == 3 else ("takes", "moves")
    assert hasattr(part, "advances") == (stages == 3)

    async def bench(ctx) -> None:
        held = [[0] * stages for _ in range(cfg.write_ports)]
        for _ in range(200):
            words = [numbers.getrandbits(32) for _ in held]
            mask = numbers.getrandbits(len(held))
            ctx.set(part.results, sum(word << 32 * port for port, word in enumerate(words)))
            ctx.set(part.mask, mask)
            told = [numbers.getrandbits(len(held)) for _ in names]
            for name, bits in zip(names, told, strict=True):
                ctx.set(getattr(part, name), bits)
            await ctx.tick()
            for port, own in enumerate(held):
                before = [words[port] if mask >> port & 1 else 0, *own[:-1]]
                own[:] = [new if bits >> port & 1 else old for new, old, bits in zip(before, own, told, strict=True)]
                assert ctx.get(part.stores) >> 32 * port & 0xFFFFFFFF == own[-1]

    run(part, bench)


def test_w0_takes_the_old_value_of_a_lane_that_its_result_lacks_whatever_t_has() -> None:
    cfg = config("packing", packing=0)
    part = ResultLane(cfg)

    async def bench(ctx) -> None:
        for own in (0, 1):  # of the result in W0; that in T is the other way round
            for mask, value in ((own, 0x1111), (1 - own, 0x2222)):
                ctx.set(part.mask, mask)
                ctx.set(part.results, value)
                ctx.set(part.takes, 1)
                ctx.set(part.advances, 1)
                await ctx.tick()
            ctx.set(part.takes, 0)
            ctx.set(part.advances, 0)
            ctx.set(part.banks, 0xABCD)
            ctx.set(part.merge_banks[0], 1)
            await ctx.tick()
            ctx.set(part.merge_banks[0], 0)
            ctx.set(part.moves, 1)
            await ctx.tick()
            assert ctx.get(part.stores) & 0xFFFFFFFF == (0x1111 if own else 0xABCD)
            ctx.set(part.moves, 0)

    run(part, bench)
