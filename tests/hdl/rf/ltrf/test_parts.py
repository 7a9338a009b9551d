"""Parts of the places: tables, free banks, what is pending, beats that issue, the memories."""

import random
from collections import deque

import pytest

from tests.hdl.rf.ltrf.bench import SimulatedTable, config, inside, registers, run
from warpfile.hdl.rf.ltrf import sets
from warpfile.hdl.rf.ltrf.address_table import AddressTable
from warpfile.hdl.rf.ltrf.free_banks import FreeBanks
from warpfile.hdl.rf.ltrf.issued import IssuedBeat
from warpfile.hdl.rf.ltrf.pending import PendingTransfers
from warpfile.hdl.rf.ltrf.sets import WarpSets


def test_a_table_knows_who_is_cached_and_where_it_last_was():
    async def bench(ctx):
        rng, banks, cached = random.Random(1), [0] * names, set()
        for _ in range(400):
            wanted = [rng.randrange(names) for _ in range(3)]
            for number, register in enumerate(wanted):
                ctx.set(part.wanted[number], 1 << register)
            assert [ctx.get(bank) for bank in part.banks] == [banks[register] for register in wanted]
            assert ctx.get(part.found) == registers(*(n for n in range(2) if wanted[n] in cached))
            assert ctx.get(part.cached) == registers(*cached)
            register, bank, what = rng.randrange(names), rng.randrange(4), rng.random()
            enters, leaves, drop = what < 0.5, 0.5 <= what < 0.95, what >= 0.95
            ctx.set(part.enters, enters << register)
            ctx.set(part.leaves, leaves << register)
            ctx.set(part.drop, drop)
            ctx.set(part.bank, bank)
            await ctx.tick()
            if enters:
                banks[register] = bank
                cached.add(register)
            cached = set() if drop else cached - ({register} if leaves else set())

    part = AddressTable(config(), 2, 3)
    names = 8
    run(part, bench)


@pytest.mark.parametrize("count", (4, 16))
def test_free_banks_are_a_queue(count):
    async def bench(ctx):
        rng, queue, empty = random.Random(count), deque(range(count)), 0
        for _ in range(600):
            occupied = [bank for bank in range(count) if bank not in queue]
            assert ctx.get(part.occupied) == sum(1 << bank for bank in occupied)
            assert [ctx.get(bank) for bank in part.free] == [*queue] + [0] * len(occupied)
            assert ctx.get(part.first) == (queue[0] if queue else 0)
            take, bank = rng.random() < 0.5, rng.randrange(count)
            ctx.set(part.take, take)
            ctx.set(part.give, not take)
            ctx.set(part.bank, bank)
            await ctx.tick()
            empty += take and not queue
            if take and queue:
                queue.popleft()
            elif not take and bank in occupied:
                queue.append(bank)
        assert empty

    part = FreeBanks(config(interval_registers=count))
    run(part, bench)


def test_write_backs_come_first_and_the_next_is_ready_when_one_is_granted():
    async def bench(ctx):
        seen = []
        ctx.set(part.base, 8)
        ctx.set(part.warp, 1)
        ctx.set(part.moving, 1)
        ctx.set(part.keeps, registers(1, 2))
        for cycle, adds in enumerate((6, 2, 4, 1, None, None, None, None)):
            ctx.set(part.adds, 0 if adds is None else 1 << adds)
            ctx.set(part.granted, cycle in (3, 4, 5, 6))
            chosen = ctx.get(part.chosen)
            ctx.set(part.bank, chosen.bit_length() % 4)
            seen.append(ctx.get(part.candidate.register) if ctx.get(part.valid) else None)
            if ctx.get(part.valid):
                register = ctx.get(part.candidate.register)
                assert ctx.get(part.candidate.back) == (register not in (1, 2))
                assert ctx.get(part.candidate.bank) == (register + 1) % 4
                place = 8 + register
                assert ctx.get(part.candidate.place.row) == place // 2
                assert ctx.get(part.candidate.place.bank) == (place + 1) % 2
            assert ctx.get(part.none) == (cycle in (0, 7))
            await ctx.tick()
        # R6 is pending from cycle 1 on, and the candidate from 2 on; R4 is a write-back too, R1 the lowest fill.
        assert seen == [None, None, 6, 6, 4, 1, 2, None]

    part = PendingTransfers(config())
    run(part, bench)


def test_what_is_saved_replaces_what_was_pending():
    async def bench(ctx):
        ctx.set(part.start, 1)
        ctx.set(part.saved, registers(3, 5))
        await ctx.tick()
        ctx.set(part.start, 0)
        await ctx.tick().repeat(3)
        assert not ctx.get(part.valid) and not ctx.get(part.none)  # nothing moves
        ctx.set(part.moving, 1)
        await ctx.tick()
        assert ctx.get(part.candidate.register) == 3 and ctx.get(part.candidate.back)

    part = PendingTransfers(config())
    run(part, bench)


@pytest.mark.parametrize(("executes", "full", "long"), [(1, 1, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1)])
def test_a_beat_tells_its_registers_a_cycle_later(executes, full, long):
    async def bench(ctx):
        for name, value in {"executes": executes, "full": full, "long": long, "dest": 4, "dest_count": 2}.items():
            ctx.set(part.offer[name], value)
        ctx.set(part.issues, 1)
        await ctx.tick()
        assert ctx.get(part.place) == executes
        assert ctx.get(part.written) == registers(4, 5)
        assert ctx.get(part.arrives) == (registers(4, 5) if full and long else 0)

    part = IssuedBeat(config())
    run(part, bench)


@pytest.mark.parametrize(("valid", "converged", "dies"), [(0b11, 1, 6), (0b11, 0, 0), (0b01, 1, 0)])
def test_only_a_source_of_a_converged_beat_dies(valid, converged, dies):
    cfg = config(liveness=1, source_slots=2)

    async def bench(ctx):
        ctx.set(part.issues, 1)
        ctx.set(part.offer.hints, 0b10 << cfg.hint_at("dead"))
        for slot, register in enumerate((3, 6)):
            ctx.set(part.offer.sources[slot], register)
        for name, value in {"executes": 1, "source_valid": valid, "converged": converged}.items():
            ctx.set(part.offer[name], value)
        await ctx.tick()
        assert ctx.get(part.dies) == (registers(dies) if dies else 0)

    part = IssuedBeat(cfg)
    run(part, bench)


def test_memories_hold_a_set_of_every_warp(monkeypatch):
    monkeypatch.setattr(sets, "TableRam", SimulatedTable)
    monkeypatch.setattr(sets, "stamp", inside)

    async def bench(ctx):
        for warp in range(2):
            ctx.set(part.entering, warp)
            ctx.set(part.saving, warp)
            ctx.set(part.operand, 0x11 << warp)
            ctx.set(part.live, 0x10 << warp)
            ctx.set(part.enter, 1)
            ctx.set(part.save, 1)
            await ctx.tick()
        ctx.set(part.enter, 0)
        ctx.set(part.save, 0)
        for warp in (0, 1, 0):
            ctx.set(part.read, 1)
            ctx.set(part.reader, warp)
            await ctx.tick()
            assert (ctx.get(part.word), ctx.get(part.live_word)) == (0x11 << warp, 0x10 << warp)

    part = WarpSets(config(liveness=1))
    run(part, bench)
