"""Lowest row, sweep and the queue of completions."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.renaming.completions import Completions
from warpfile.hdl.renaming.lowest import LowestRow
from warpfile.hdl.renaming.sweep import Sweep


@pytest.mark.parametrize("count", [2, 8, 37, 64])
def test_the_lowest_row_is_found_with_its_notes(count: int) -> None:
    part, numbers = LowestRow(count, 2), random.Random(count)

    async def bench(ctx) -> None:
        for chance in (0.0, 0.05, 0.2, 0.9) * 8:
            rows = [at for at in range(count) if numbers.random() < chance]
            notes = [numbers.getrandbits(count) for _ in range(2)]
            ctx.set(part.rows, sum(1 << at for at in rows))
            for at, bits in enumerate(notes):
                ctx.set(part.notes[at], bits)
            assert ctx.get(part.found) == bool(rows)
            if rows:
                lowest = rows[0]
                assert ctx.get(part.row) == lowest
                assert ctx.get(part.note) == sum((bits >> lowest & 1) << at for at, bits in enumerate(notes))

    run(part, bench, clocked=False)


def test_a_sweep_takes_two_steps_per_register_and_the_lowest_warp_first() -> None:
    cfg = config("packing", warps=4)
    part = Sweep(cfg)

    async def bench(ctx) -> None:
        ctx.set(part.registers, 2)
        ctx.set(part.exits, 0b0100)
        await ctx.tick()
        ctx.set(part.exits, 0b0010)
        assert ctx.get(part.swept) == 0b0100 and not ctx.get(part.wants)
        await ctx.tick()
        ctx.set(part.exits, 0b0001)
        ctx.set(part.served, 1)
        steps = []
        for _ in range(14):
            wants = ctx.get(part.wants)
            step = (ctx.get(part.warp), ctx.get(part.register_name), ctx.get(part.clears)) if wants else None
            steps.append((step, ctx.get(part.retired)))
            ctx.set(part.served, wants)
            await ctx.tick()
            ctx.set(part.exits, 0)
        walk = [(2, 0, 0), (2, 0, 1), (2, 1, 0), (2, 1, 1), None, (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), None]
        walk += [(1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]
        assert [step for step, _ in steps] == walk
        assert [cycle for cycle, (_, retired) in enumerate(steps) if retired] == [3, 8, 13]
        assert [retired for _, retired in steps if retired] == [0b0100, 0b0001, 0b0010]
        assert ctx.get(part.swept) == 0

    run(part, bench)


def test_an_entry_is_kept_until_it_can_be_cleared() -> None:
    cfg = config("packing")
    part = Sweep(cfg)

    async def bench(ctx) -> None:
        ctx.set(part.registers, 1)
        ctx.set(part.exits, 1)
        await ctx.tick()
        ctx.set(part.exits, 0)
        await ctx.tick()
        ctx.set(part.served, 1)
        await ctx.tick()
        ctx.set(part.served, 0)
        ctx.set(part.entry, 0b101)
        for junk in (0b101, 0, 0b111, 0b010):
            ctx.set(part.entry, junk)
            assert ctx.get(part.found) == 0b101 and ctx.get(part.clears) and not ctx.get(part.retired)
            await ctx.tick()
        ctx.set(part.served, 1)
        assert ctx.get(part.found) == 0b101 and ctx.get(part.retired) == 1

    run(part, bench)


def test_a_port_completes_one_result_per_cycle_stored_ones_first() -> None:
    cfg = config("packing")
    part, numbers = Completions(cfg), random.Random(5)

    async def bench(ctx) -> None:
        waits: list[int] = []
        under_way = token = longest = 0
        for _ in range(400):
            stored = under_way > 0 and numbers.random() < 0.4
            store_enters = numbers.random() < 0.4 and under_way - stored < 2 and under_way + len(waits) - stored < 2
            taken = not store_enters and numbers.random() < 0.7
            token = (token + 1) % 8
            ctx.set(part.stored, stored)
            ctx.set(part.store.tokens, 0xFF)
            ctx.set(part.taken, taken)
            ctx.set(part.result.tokens, token)
            due = waits + ([token] if taken else [])
            expected = 0xFF if stored else due[0] if due else None
            assert ctx.get(part.waiting) == bool(waits)
            assert ctx.get(part.completed) == (expected is not None)
            if expected is not None:
                assert ctx.get(part.completion.tokens) == expected
            waits = due if stored else due[1:]
            longest = max(longest, len(waits))
            under_way += store_enters - stored
            await ctx.tick()
        assert longest == 2

    run(part, bench)
