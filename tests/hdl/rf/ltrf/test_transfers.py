"""Parked results, which lanes pass the narrow crossbar, what a bank of the cache serves."""

import itertools
from typing import ClassVar

import pytest
from amaranth import Module

from tests.hdl.rf.ltrf.bench import config, run, whole
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf.ltrf import cache
from warpfile.hdl.rf.ltrf.cache import CacheBank, CacheBanks
from warpfile.hdl.rf.ltrf.narrow_lane import NarrowLane, Slices
from warpfile.hdl.rf.ltrf.parked import ParkedResults


@pytest.mark.parametrize("beats", (1, 2, 4))
def test_one_result_is_parked_at_a_time_where_a_latch_is_free(beats):
    """The highest port first; that of port 0 finds its latch free late."""
    cfg = config(crossbar_beats=beats, ports=3, write_back_ports=3)

    async def bench(ctx):
        mains = [(0b01, 5), (0b10, 6), (0b01, 7)]
        for place, (bank, row) in zip(part.places, mains, strict=True):
            ctx.set(place.bank, bank - 1)
            ctx.set(place.row, row)
        ctx.set(part.wanted, 0b111)
        log = []
        for cycle in range(20):
            ctx.set(part.busy, 0b01 if 0 < cycle < 14 else 0)
            started, accept, used = ctx.get(part.start), ctx.get(part.accept), ctx.get(part.main_used)
            assert (used, ctx.get(part.row)) == mains[log[-1][2]] if ctx.get(part.beat) else not used
            log += [("start", cycle, started.bit_length() - 1)] if started else []
            log += [("accept", cycle, accept.bit_length() - 1)] if accept else []
            assert ctx.get(part.main) == (mains[log[-1][2]][0] if started else 0)
            await ctx.tick()
            ctx.set(part.wanted, ctx.get(part.wanted) & ~accept)
        second = beats + 1
        assert log == [
            *(("start", 0, 2), ("accept", beats, 2), ("start", second, 1), ("accept", second + beats, 1)),
            *(("start", 14, 0), ("accept", 14 + beats, 0)),
        ]

    part = ParkedResults(cfg)
    run(part, bench)


@pytest.mark.parametrize(
    ("lanes", "beats", "passing"),
    [
        (8, 4, [0, 0, 1, 1, 2, 2, 3, 3]),
        (8, 2, [0, 0, 0, 0, 1, 1, 1, 1]),
        (4, 1, [0, 0, 0, 0]),
        (2, 4, [0, 2]),
        (1, 4, [0]),
    ],
)
def test_lanes_pass_in_their_beat(lanes, beats, passing):
    slices = Slices(config(lanes=lanes, crossbar_beats=beats))
    assert [slices.beat(lane) for lane in range(lanes)] == passing
    places = [slices.lane(number, word) for number in range(slices.count) for word in range(slices.lanes)]
    assert sorted(places) == list(range(lanes))
    # No two lanes that share a narrow lane pass in one beat.
    for number in range(slices.count):
        mine = [slices.beat(slices.lane(number, word)) for word in range(slices.lanes)]
        assert len(set(mine)) == len(mine)


def test_words_cross_the_narrow_crossbar_both_ways():
    cfg = config(lanes=4, crossbar_beats=4, interval_registers=4, banks=2, ports=3, write_back_ports=3)

    async def bench(ctx):
        words = range(4)
        for word in words:
            ctx.set(part.mains[word], sum((0x1000 * (bank + 1) + word) << 32 * bank for bank in range(2)))
            ctx.set(part.cached[word], sum((0x100 * (bank + 1) + word) << 32 * bank for bank in range(4)))
            ctx.set(part.results[word], sum((0x10 * (port + 1) + word) << 32 * port for port in range(3)))
        ctx.set(part.latches, 0b0001)  # bank 0 of the cache has read what it writes back
        await ctx.tick()
        ctx.set(part.latches, 0)
        for word in words:
            ctx.set(part.cached[word], 0)
        ctx.set(part.receivers[2], 0b10)  # bank 2 of the cache gets beats of main bank 1
        ctx.set(part.senders[0], 0b00001)  # main bank 0 those of bank 0 of the cache
        ctx.set(part.senders[1], 0b10000)  # and main bank 1 those of a result of port 1
        ctx.set(part.port, 0b010)
        for word in words:
            ctx.set(part.fill_beats[1], 1 << word)
            ctx.set(part.received[2], 1 << word)
            ctx.set(part.back_beats[0], 1 << word)
            ctx.set(part.port_beat, 1 << word)
            for main in range(2):
                ctx.set(part.sent[main], 1 << word)
            await ctx.tick()
            for other in words:  # the output latch has the rest of the row
                ctx.set(part.mains[other], 0)
        staged, latched = ([ctx.get(word) for word in rows] for rows in (part.staged, part.latched))
        assert [word >> 64 & 0xFFFFFFFF for word in staged] == [0x2000 + word for word in words]
        assert [word & 0xFFFFFFFF for word in latched] == [0x100 + word for word in words]
        assert [word >> 32 for word in latched] == [0x20 + word for word in words]

    part = NarrowLane(cfg)
    run(part, bench)


class Pins(BankRam):
    """The SRAM of a bank is its pins only, which the test looks at."""

    last: BankRam

    def elaborate(self, platform):
        Pins.last = self
        return Module()


def test_a_bank_of_the_cache_serves_fills_first_and_write_backs_last_unless_they_lost(monkeypatch):
    monkeypatch.setattr(cache, "BankRam", Pins)
    cfg = config(ports=3, write_back_ports=3, collectors=2, active_warps=4, warps=4)

    async def bench(ctx):
        ram = Pins.last
        for port in range(3):
            ctx.set(part.rows_written[port], port)
            ctx.set(part.masks[port], port + 1)
        for slot in range(2):
            ctx.set(part.rows[slot], 2)
        ctx.set(part.load_row, 3)
        ctx.set(part.store_row, 3)
        for writes, requests, reads, stores, first in itertools.product((0, 0b110), (0, 0b01), (0, 1), (0, 1), (0, 1)):
            inputs = {"writes": writes, "requests": requests, "load": reads, "store": stores, "load_first": first}
            for name, value in inputs.items():
                ctx.set(getattr(part, name), value)
            assert ctx.get(part.accept) == (0b100 if writes and not stores else 0)
            assert ctx.get(part.grant) == (requests if not (reads and first) else 0)
            loaded = reads and (first or not requests)
            assert ctx.get(part.loaded) == bool(loaded)
            assert ctx.get(ram.write) == bool(writes or stores) and ctx.get(ram.read) == bool(requests or reads)
            if writes or stores:
                row, mask = (3, 15) if stores else (2, 3)
                assert (ctx.get(ram.write_row), ctx.get(ram.mask)) == (row, mask)
            if requests or reads:
                assert ctx.get(ram.read_row) == (3 if loaded else 2)
            granted = ctx.get(part.grant)
            await ctx.tick()
            assert ctx.get(part.fill) == granted

    part = CacheBank(cfg)
    run(part, bench)


class ManyPins(BankRam):
    """The same of every bank, in their order."""

    all: ClassVar[list[BankRam]] = []

    def elaborate(self, platform):
        self.all.append(self)
        return Module()


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, "result"),
        ({"load": 1}, "result"),
        ({"load": 1, "load_first": 1}, "result"),
        ({"store": 1}, "staged"),
        ({"load": 1, "load_first": 1, "store": 1}, "staged"),
    ],
)
def test_what_a_bank_writes_is_of_the_result_or_staged_and_never_both(monkeypatch, asked, wanted):
    whole(monkeypatch)
    monkeypatch.setattr(cache, "BankRam", ManyPins)
    monkeypatch.setattr(ManyPins, "all", [])
    cfg = config(lanes=2)

    async def bench(ctx):
        ctx.set(part.result_valid, 1)
        ctx.set(part.result_masks[0], 0b11)
        ctx.set(part.result_data[0], 0x0303030305050505)
        ctx.set(part.result_places[0].bank, 1)
        for lane in range(2):
            ctx.set(part.staged[lane], 0xA0A0A0A0 << 32)
        for name, value in asked.items():
            ctx.set(getattr(part, name), value << 1)
        values = {"result": 0x0303030305050505, "staged": 0xA0A0A0A0A0A0A0A0}
        assert ctx.get(ManyPins.all[1].write_data) == values[wanted]
        assert ctx.get(ManyPins.all[1].write) == 1
        assert ctx.get(ManyPins.all[0].write) == 0

    part = CacheBanks(cfg)
    run(part, bench)
