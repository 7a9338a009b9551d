"""Entries of a window over a renaming table: when they are looked up, have their turn, and are filled."""

from __future__ import annotations

from amaranth.sim import Simulator

from warpfile.hdl.collectors.bow.places import EntryPlaces
from warpfile.schemes import find

ROW, NOWHERE = 0b0110, 0


def test_an_answer_counts_in_its_cycle_and_is_kept_and_what_is_nowhere_needs_no_bank() -> None:
    """Entry 2, then 0, taken in this order: looked up in 1 and 2; 2 has its turn in 2 and 3, and 0, nowhere, in 4."""
    cfg = find("bow_wr+packed").configuration("tiny", window_entries=3)
    part, seen = EntryPlaces(cfg), []
    unlooked = {1: 0b101, 2: 0b001}
    turn, served = {2: 0b100, 3: 0b100, 4: 0b001}, {1, 2}
    answer, fill = {2: (5, ROW), 3: (7, NOWHERE)}, {4}

    async def bench(ctx) -> None:
        ranks = (1, 2, 0)
        ctx.set(part.older, sum((ranks[a] < ranks[b]) << 3 * a + b for a in range(3) for b in range(3)))
        for cycle in range(6):
            ctx.set(part.unlooked, unlooked.get(cycle, 0))
            ctx.set(part.looked_up, cycle in served)
            row, mask = answer.get(cycle, (1, 0b1111))
            ctx.set(part.place.row, row)
            ctx.set(part.mask, mask)
            ctx.set(part.turn, turn.get(cycle, 0))
            ctx.set(part.fill, cycle in fill)
            request = ctx.get(part.request_place.row) if ctx.get(part.request) else None
            arrived = ctx.get(part.slices) if ctx.get(part.arrives) else None
            seen.append((ctx.get(part.asking), request, ctx.get(part.zero), arrived))
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == [
        (0, None, 0, None),
        (0b100, None, 0, None),
        (0b001, 5, 0, None),
        (0, 5, 0, None),
        (0, None, 1, ROW),
        (0, None, 0, NOWHERE),
    ]
