"""The registers of a warp that are coming, as a set."""

import random

import pytest

from tests.hdl.collectors.sticky.bench import config, run
from warpfile.hdl.collectors.sticky.coming import ComingRegisters
from warpfile.hdl.register_bits import columns


@pytest.mark.parametrize("names", (8, 16, 64))
def test_registers_are_coming_from_a_mark_to_the_acceptance_of_their_result(names):
    cfg, rng, met = config(ports=6, register_names=names, rows=64), random.Random(names), set()
    part, width, near = ComingRegisters(cfg), columns(cfg), cfg.near_slots
    assert (sum(cfg.forwarding_ports), near) == (2, 3)

    async def bench(ctx):
        coming = set()
        for _ in range(300):
            result = rng.choice(sorted(coming)) if coming and rng.random() < 0.7 else rng.randrange(names)
            own, arrives = rng.random() < 0.7, rng.random() < 0.7
            marked = [{register for register in range(names) if rng.random() < 0.1} - coming - {result} for _ in "ab"]
            marks = [rng.random() < 0.3 for _ in marked]
            sources = [rng.choice([result, *range(names)]) for _ in range(near)]
            ctx.set(part.sources, sources)
            ctx.set(part.marks, sum(mark << port for port, mark in enumerate(marks)))
            ctx.set(part.registers, [sum(1 << register for register in some) for some in marked])
            for name, value in (("own", own), ("arrives", arrives), ("register", result)):
                ctx.set(getattr(part, name), value)
            ctx.set(part.row, 1 << result // width)
            ctx.set(part.column, 1 << result % width)
            found = [source in coming for source in sources]
            meets = [here and own and source == result for here, source in zip(found, sources, strict=True)]
            for name, bits in (("found", found), ("meets", meets)):
                assert ctx.get(getattr(part, name)) == sum(bit << slot for slot, bit in enumerate(bits))
            assert ctx.get(part.coming) == sum(1 << register for register in coming)
            met.update(zip(found, meets, strict=True))
            await ctx.tick()
            if own and arrives:
                coming.discard(result)
            for mark, registers in zip(marks, marked, strict=True):
                coming |= registers if mark else set()

    run(part, bench)
    assert met == {(False, False), (True, False), (True, True)}
