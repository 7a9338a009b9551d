"""Lowest row, mapped bits, sweep and the queue of completions."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.renaming.completions import Completions
from warpfile.hdl.renaming.lowest import LowestRow
from warpfile.hdl.renaming.mapped_bits import MappedBits
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


def test_a_sweep_is_that_of_the_page() -> None:
    """The worked example of docs/schemes/corf.md, section 13, with r8 mapped too, as it says below it."""
    cfg = config("packing", warps=4, register_names=16)
    part, mapped = Sweep(cfg), [1, 4, 6, 8]

    async def bench(ctx) -> None:
        ctx.set(part.exits, 0b1000)
        seen = []
        for cycle in range(9):
            kill = cycle in (4, 5, 6)
            ctx.set(part.mapped, sum(1 << name for name in mapped) if ctx.get(part.begins) else 0)
            held = ctx.get(part.held)
            ctx.set(part.frees, held)
            reads = ctx.get(part.reads)
            ctx.set(part.served, reads)
            ctx.set(part.kill_waits, kill and held)
            seen.append((ctx.get(part.begins), reads and ctx.get(part.register_name), held, ctx.get(part.retired)))
            await ctx.tick()
            ctx.set(part.exits, 0)
        assert [cycle for cycle, (begins, *_) in enumerate(seen) if begins == 0b1000] == [1]
        assert [(cycle, name) for cycle, (_, name, *_) in enumerate(seen) if name] == [(2, 1), (3, 4), (4, 6), (7, 8)]
        assert [cycle for cycle, (_, _, held, _) in enumerate(seen) if held] == [3, 4, 5, 8]
        assert [cycle for cycle, (*_, retired) in enumerate(seen) if retired == 0b1000] == [8]
        assert ctx.get(part.swept) == 0

    run(part, bench)


def test_the_lowest_warp_is_swept_first_unless_it_must_wait() -> None:
    cfg = config("packing", warps=4)
    part = Sweep(cfg)

    async def bench(ctx) -> None:
        begun = []
        for cycle in range(12):
            ctx.set(part.exits, {0: 0b0100, 1: 0b0010, 2: 0b0001, 3: 0b1000}.get(cycle, 0))
            ctx.set(part.waits, 0b0001 if cycle < 8 else 0)
            begun += [(cycle, ctx.get(part.begins))] if ctx.get(part.begins) else []
            await ctx.tick()
        # Nothing is mapped: each sweep takes one cycle, and none begins in that.
        assert begun == [(1, 0b0100), (3, 0b0010), (5, 0b1000), (8, 0b0001)]

    run(part, bench)


def test_what_a_sweep_holds_is_kept_until_it_is_given_up() -> None:
    cfg = config("packing")
    part = Sweep(cfg)

    async def bench(ctx) -> None:
        ctx.set(part.exits, 1)
        await ctx.tick()
        ctx.set(part.exits, 0)
        ctx.set(part.mapped, 0b11)
        await ctx.tick()
        ctx.set(part.served, 1)
        await ctx.tick()
        ctx.set(part.served, 0)
        for junk in (0b101, 0, 0b111, 0b010):
            ctx.set(part.entry, junk)
            assert ctx.get(part.found) == 0b101 and ctx.get(part.held)
            assert not ctx.get(part.reads) and not ctx.get(part.retired)
            await ctx.tick()
        ctx.set(part.frees, 1)
        assert ctx.get(part.found) == 0b101 and ctx.get(part.reads) and not ctx.get(part.retired)
        for _ in range(2):  # the other one is not served
            await ctx.tick()
            ctx.set(part.frees, 0)
            assert not ctx.get(part.held) and ctx.get(part.reads) and not ctx.get(part.retired)
        ctx.set(part.served, 1)
        await ctx.tick()
        ctx.set(part.frees, 1)
        ctx.set(part.served, 0)
        assert ctx.get(part.held) and ctx.get(part.retired) == 1

    run(part, bench)


def test_mapped_bits_are_set_and_cleared_one_by_one_and_by_warps() -> None:
    cfg, numbers, seen = config("packing", warps=4, register_names=8), random.Random(2), set()
    groups = [3, 1, 2]
    part, bits = MappedBits(cfg, groups), {}

    async def bench(ctx) -> None:
        for _ in range(400):
            new, old = ((numbers.randrange(4), numbers.randrange(8)) for _ in range(2))
            maps, unmaps = (numbers.random() < chance for chance in (0.6, 0.3))
            taken = numbers.choice([None] * 9 + list(range(4)))
            unmaps &= new != old
            maps &= new[0] != taken
            for name, there, (warp, register) in (("map", maps, new), ("unmap", unmaps, old)):
                ctx.set(getattr(part, f"{name}s"), there)
                ctx.set(getattr(part, f"{name}_warp"), warp)
                ctx.set(getattr(part, f"{name}_register"), register)
            ctx.set(part.taken, 0 if taken is None else 1 << taken)
            reader = 0
            for group, count in enumerate(groups):
                warp = numbers.randrange(4)
                ctx.set(part.warps[group], warp)
                for _ in range(count):
                    register = numbers.randrange(8)
                    ctx.set(part.registers[reader], register)
                    expected = bits.get((warp, register), False)
                    assert ctx.get(part.mapped) >> reader & 1 == expected
                    seen.add((reader, expected))
                    reader += 1
            row = sum(1 << name for name in range(8) if bits.get((taken, name)))
            assert ctx.get(part.bits_taken) == row
            seen.add(("taken", row != 0))
            bits.update({new: True} if maps else {})
            bits.update({old: False} if unmaps else {})
            bits.update({(taken, name): False for name in range(8)})
            await ctx.tick()

    run(part, bench)
    assert len(seen) == 2 * (sum(groups) + 1)


#: By scheme: cycles until a late one completes, whether there are such, how many can wait.
QUEUES = [("packing", 2, False, 3), ("larf", 1, False, 2), ("bow_wr", 2, True, 5)]


@pytest.mark.parametrize(("scheme", "lead", "keeps", "most"), QUEUES)
def test_a_port_completes_one_result_per_cycle_stored_ones_first(scheme, lead, keeps, most) -> None:
    """Of those with nothing to store the one that was accepted first, if it has a register ``lead`` cycles later."""
    cfg = config(f"{scheme}+packed", source_slots=1, window_entries=1, collectors=2) if keeps else config(scheme)
    part, numbers = Completions(cfg), random.Random(5)

    async def bench(ctx) -> None:
        waits: list[tuple[int, int]] = []
        under_way = token = longest = chance = 0
        held_back = False
        for cycle in range(2000):
            # Stretches in which banks take all or nothing, so that much is between X and its bank, and then waits.
            chance = numbers.choice((0.0, 0.3, 1.0)) if numbers.random() < 0.3 else chance
            stored = under_way > 0 and numbers.random() < chance
            enters = numbers.random() < 0.4 and under_way - stored <= lead
            taken = not enters and numbers.random() < 0.9
            late, token = keeps and numbers.random() < 0.7, (token + 1) % 64
            ctx.set(part.stored, stored)
            ctx.set(part.store.tokens, 0xFF)
            ctx.set(part.taken, taken)
            ctx.set(part.late, late)
            ctx.set(part.result.tokens, token)
            assert ctx.get(part.waiting) == bool(waits)
            waits += [(token, cycle + lead * late)] if taken else []
            due = bool(waits) and waits[0][1] <= cycle
            held_back |= not stored and not due and len(waits) > 1
            assert ctx.get(part.completed) == (stored or due)
            if stored or due:
                assert ctx.get(part.completion.tokens) == (0xFF if stored else waits[0][0])
            waits = waits[due and not stored :]
            longest = max(longest, len(waits))
            under_way += enters - stored
            await ctx.tick()
        assert longest == most and held_back == keeps

    run(part, bench)
