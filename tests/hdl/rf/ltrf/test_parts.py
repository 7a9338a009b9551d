"""Parts of the places: tables, free banks, beats that issue, the memories."""

import random

import pytest
from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from tests.hdl.rf.ltrf.bench import SimulatedTable, config, inside, registers, run
from warpfile.hdl.rf.ltrf import sets
from warpfile.hdl.rf.ltrf.address_table import AddressTable, by_name, by_part
from warpfile.hdl.rf.ltrf.free_banks import first_free
from warpfile.hdl.rf.ltrf.issued import IssuedBeat
from warpfile.hdl.rf.ltrf.sets import WarpSets
from warpfile.spec.schemes.ltrf import PARTS


def placed(*names: int) -> int:
    """A set of eight registers in the order of the parts: register r is in part r mod 4."""
    return sum(1 << name % PARTS * 2 + name // PARTS for name in names)


def test_a_table_knows_who_is_cached_and_where_it_last_was():
    """In every cycle a register of each part may leave, come, or get to know its bank."""

    async def bench(ctx):
        rng, banks, cached = random.Random(1), [0] * 8, set()
        for _ in range(400):
            wanted = [rng.randrange(8) for _ in range(3)]
            stepping = [part + PARTS * rng.randrange(2) for part in range(PARTS)]
            for number, register in enumerate(wanted):
                ctx.set(part.wanted[number], placed(register))
            for number, register in enumerate(stepping):
                ctx.set(part.registers[number], register)
            assert [ctx.get(bank) for bank in part.banks] == [banks[register] for register in wanted]
            assert [ctx.get(bank) for bank in part.step_banks] == [banks[register] for register in stepping]
            assert ctx.get(part.found) == registers(*(n for n in range(3) if wanted[n] in cached))
            assert ctx.get(part.cached) == placed(*cached)
            enters, drop = rng.getrandbits(PARTS), rng.random() < 0.05
            taken = [rng.randrange(4) for _ in range(PARTS)]
            moved = [register for register in range(8) if rng.random() < 0.3]
            leaves, takes = ({*moved[:2]}, set()) if rng.random() < 0.5 else (set(), {*moved[:2]})
            for number, bank in enumerate(taken):
                ctx.set(part.entered_banks[number], bank)
            for name, value in {"enters": enters, "drop": drop}.items():
                ctx.set(getattr(part, name), value)
            ctx.set(part.leaves, placed(*leaves))
            ctx.set(part.takes, 0 if drop else placed(*takes))
            await ctx.tick()
            for number, register in enumerate(stepping):
                if enters >> number & 1:
                    banks[register] = taken[number]
            cached = set() if drop else (cached - leaves) | takes

    part = AddressTable(config(), 3)
    run(part, bench)


def test_the_order_of_the_parts_is_undone():
    async def bench(ctx):
        for name in range(8):
            ctx.set(part.given, 1 << name)
            assert (ctx.get(part.parted), ctx.get(part.named)) == (placed(name), 1 << name)

    class Orders(wiring.Component):
        """A set, in order of the parts and back."""

        given: In(8)
        parted: Out(8)
        named: Out(8)

        def elaborate(self, platform):
            m = Module()
            m.d.comb += [self.parted.eq(by_part(self.given)), self.named.eq(by_name(self.parted))]
            return m

    part = Orders()
    run(part, bench, clocked=False)


@pytest.mark.parametrize("first", (0, 3))
def test_free_banks_are_found_in_the_order_of_the_place(first):
    order = [(first + bank) % 6 for bank in range(6)]

    class Free(wiring.Component):
        """Occupied banks, and the free ones one-hot, as many as there are parts."""

        occupied: In(6)
        vacant: Out(data.ArrayLayout(6, PARTS))

        def elaborate(self, platform):
            m = Module()
            m.d.comb += self.vacant.eq(Cat(first_free(m, "free", self.occupied, order)))
            return m

    async def bench(ctx):
        for occupied in range(1 << 6):
            ctx.set(part.occupied, occupied)
            free = [1 << bank for bank in order if not occupied >> bank & 1]
            assert [ctx.get(bank) for bank in part.vacant] == [*free, *[0] * PARTS][:PARTS]

    part = Free()
    run(part, bench, clocked=False)


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
