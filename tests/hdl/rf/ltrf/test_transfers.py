"""Transfers: who starts, how long each phase takes, which lanes pass, what a bank of the cache serves."""

import itertools
import random
from typing import ClassVar

import pytest
from amaranth import Module

from tests.hdl.rf.ltrf.bench import config, run, whole
from warpfile.hdl.rf.ltrf import cache
from warpfile.hdl.rf.ltrf.cache import CacheBank, CacheBanks
from warpfile.hdl.rf.ltrf.channel import Channel
from warpfile.hdl.rf.ltrf.narrow_lane import NarrowLane, Slices
from warpfile.hdl.rf.ltrf.parked import ParkedResults
from warpfile.hdl.rf.ltrf.transfers import TransferArbiter
from warpfile.hdl.rf.ram import BankRam
from warpfile.spec.schemes.ltrf import BEATS, IDLE, LATCH, LOAD, MAIN, STORE

LENGTHS = list(itertools.product((1, 3), (1, 2, 4)))


def runs(phases):
    """Phases one after the other, each with how long it lasts."""
    return [(phase, len([*same])) for phase, same in itertools.groupby(phases)]


async def phases(ctx, part, back, denied):
    """Phases of a transfer from its start until the channel is idle; it is served after some cycles that it asks."""
    ctx.set(part.back, back)
    ctx.set(part.start, 1)
    await ctx.tick()
    ctx.set(part.start, 0)
    seen, asked = [], 0
    while phase := ctx.get(part.phase):
        asks = ctx.get(part.reads) or ctx.get(part.writes)
        ctx.set(part.served, asks and asked == denied)
        asked += asks
        seen.append(phase)
        assert ctx.get(part.beat).bit_count() == (phase == BEATS)
        await ctx.tick()
        ctx.set(part.served, 0)
    assert phase == IDLE
    return runs(seen)


@pytest.mark.parametrize(("cycles", "beats"), LENGTHS)
def test_phases_last_as_the_page_says(cycles, beats):
    async def bench(ctx):
        for denied in (0, 3):
            fill = [(MAIN, cycles), (BEATS, beats), (STORE, 1 + denied)]
            assert await phases(ctx, part, False, denied) == fill
            back = [(LOAD, 1 + denied), (LATCH, 1), (BEATS, beats), (MAIN, cycles)]
            assert await phases(ctx, part, True, denied) == back

    part = Channel(config(bank_cycles=cycles, crossbar_beats=beats))
    run(part, bench)


def test_a_channel_that_lost_eight_times_goes_first():
    async def bench(ctx):
        for back in (1, 0):
            ctx.set(part.back, back)
            ctx.set(part.start, 1)
            await ctx.tick()
            ctx.set(part.start, 0)
            while not (ctx.get(part.reads) or ctx.get(part.writes)):
                await ctx.tick()
            asked = []
            for _ in range(10):
                asked.append(ctx.get(part.first))
                await ctx.tick()
            assert asked == [0] * 8 + [1] * 2
            ctx.set(part.served, 1)
            await ctx.tick()
            ctx.set(part.served, 0)
            while ctx.get(part.phase):
                await ctx.tick()

    part = Channel(config())
    run(part, bench)


def test_the_main_bank_is_free_when_the_last_beat_of_a_fill_has_passed():
    async def bench(ctx):
        used, reads = {}, {}
        for back in (0, 1):
            ctx.set(part.back, back)
            ctx.set(part.main, 1)
            ctx.set(part.start, 1)
            ctx.set(part.served, 1)
            await ctx.tick()
            ctx.set(part.start, 0)
            log = []
            while ctx.get(part.phase):
                log.append((ctx.get(part.phase), ctx.get(part.main_used), ctx.get(part.main_read)))
                await ctx.tick()
            used[back] = {phase for phase, main, _ in log if main == 0b10}
            reads[back] = [number for number, (_, _, read) in enumerate(log) if read]
        assert used == {0: {MAIN, BEATS}, 1: {LOAD, LATCH, BEATS, MAIN}}
        assert reads == {0: [0], 1: []}

    part = Channel(config())
    run(part, bench)


def test_places_are_granted_in_turn_if_their_candidate_fits():
    cfg = config(active_warps=4, warps=4, banks=4)

    async def bench(ctx):
        rng, pointer, granted = random.Random(3), 0, set()
        for _ in range(400):
            valid, idle, busy = rng.getrandbits(4), rng.getrandbits(4) | 1, rng.getrandbits(4) & 0b1110
            parking = rng.choice((0, 0, 0b10, 0b100)) & ~busy
            banks = [(rng.randrange(4), rng.randrange(4)) for _ in range(4)]
            for candidate, (bank, main) in zip(part.candidates, banks, strict=True):
                ctx.set(candidate.bank, bank)
                ctx.set(candidate.place.bank, main)
            for name, value in {"valid": valid, "idle": idle, "busy": busy, "parking": parking}.items():
                ctx.set(getattr(part, name), value)
            fits = [
                bool(valid >> place & 1 and idle >> bank & 1 and not (busy | parking) >> main & 1)
                for place, (bank, main) in enumerate(banks)
            ]
            turn = [place for place in (*range(pointer, 4), *range(pointer)) if fits[place]]
            assert ctx.get(part.grant) == (1 << turn[0] if turn else 0)
            assert ctx.get(part.unfit) == valid & ~sum(bit << place for place, bit in enumerate(fits))
            await ctx.tick()
            if turn:
                pointer = (turn[0] + 1) % 4
                granted.add(turn[0])
        assert len(granted) == 4

    part = TransferArbiter(cfg)
    run(part, bench)


@pytest.mark.parametrize(("cycles", "beats"), LENGTHS)
def test_one_result_is_parked_at_a_time_and_its_bank_rests(cycles, beats):
    cfg = config(bank_cycles=cycles, crossbar_beats=beats, ports=3, write_back_ports=3)

    async def bench(ctx):
        for port, (bank, row) in enumerate(((0, 5), (1, 6), (0, 7))):
            ctx.set(part.places[port].bank, bank)
            ctx.set(part.places[port].row, row)
        ctx.set(part.wanted, 0b111)
        log = []
        for cycle in range(3 * beats + cycles + 3):
            ctx.set(part.busy, ctx.get(part.resting))
            log += [("start", cycle, ctx.get(part.start).bit_length() - 1)] if ctx.get(part.start) else []
            accept = ctx.get(part.accept)
            log += [("accept", cycle, accept.bit_length() - 1)] if accept else []
            rests = ctx.get(part.resting)
            log += [("rests", cycle, bank) for bank in range(2) if rests >> bank & 1]
            await ctx.tick()
            ctx.set(part.wanted, ctx.get(part.wanted) & ~accept)
        starts = [(cycle, port) for what, cycle, port in log if what == "start"]
        # The highest port first; then the other bank; then the first one when it has rested.
        second = beats + 1
        third = max(second + beats + 1, beats + cycles + 1)
        assert starts == [(0, 2), (second, 1), (third, 0)]
        assert [(cycle, port) for what, cycle, port in log if what == "accept"][:2] == [(beats, 2), (second + beats, 1)]
        assert [cycle for what, cycle, bank in log if what == "rests" and bank == 1] == [
            *range(second + 1, second + beats + cycles + 1)
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
        for word in words:  # channel 2 fills from main bank 1, beat by beat
            ctx.set(part.fills[2], 0b10)
            ctx.set(part.beats[2], 1 << word)
            ctx.set(part.main_beats[1], 1 << word)
            await ctx.tick()
        ctx.set(part.fills[2], 0)
        ctx.set(part.latches, 0b0001)
        await ctx.tick()
        ctx.set(part.latches, 0)
        staged = [ctx.get(word) for word in part.staged]
        assert [word >> 64 & 0xFFFFFFFF for word in staged] == [0x2000 + word for word in words]
        assert [word & 0xFFFFFFFF for word in staged] == [0x100 + word for word in words]
        ctx.set(part.saves[0], 0b00001)  # channel 0 writes back to main bank 0
        ctx.set(part.saves[1], 0b10000)  # and a result of port 1 is parked in main bank 1
        ctx.set(part.port, 0b010)
        for word in words:
            ctx.set(part.beats[0], 1 << word)
            ctx.set(part.port_beat, 1 << (3 - word))
            assert [ctx.get(bank) for bank in part.written] == [0x100 + word, 0x20 + 3 - word]
            await ctx.tick()

    part = NarrowLane(cfg)
    run(part, bench)


class Pins(BankRam):
    """The SRAM of a bank is its pins only, which the test looks at."""

    last: BankRam

    def elaborate(self, platform):
        Pins.last = self
        return Module()


def test_a_bank_of_the_cache_serves_transfers_last_unless_they_go_first(monkeypatch):
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
            for name, value in {
                "writes": writes,
                "requests": requests,
                "load": reads,
                "store": stores,
                "load_first": first,
                "store_first": first,
            }.items():
                ctx.set(getattr(part, name), value)
            assert ctx.get(part.accept) == (0b100 if writes and not (stores and first) else 0)
            assert ctx.get(part.grant) == (requests if not (reads and first) else 0)
            stored, loaded = stores and (first or not writes), reads and (first or not requests)
            assert (ctx.get(part.stored), ctx.get(part.loaded)) == (bool(stored), bool(loaded))
            assert ctx.get(ram.write) == bool(writes or stores) and ctx.get(ram.read) == bool(requests or reads)
            if writes or stores:
                row, mask = (3, 15) if stored else (2, 3)
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
        ({"load": 1, "store_first": 1}, "result"),
        ({"store": 1}, "result"),
        ({"store": 1, "load_first": 1}, "result"),
        ({"store": 1, "store_first": 1}, "staged"),
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
