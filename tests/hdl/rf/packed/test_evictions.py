"""Registers that collectors give back: whatever comes after sees them, however narrow, whatever else goes on."""

from __future__ import annotations

import random

import pytest

from tests.formal.properties import Miswired
from tests.hdl.rf.packed.bench import config, run, size_of, whole
from tests.hdl.rf.packed.test_file import Driver
from warpfile.hdl.rf.packed import file
from warpfile.hdl.rf.packed.evictions import Evictions
from warpfile.hdl.rf.packed.file import PackedFile

Pair = tuple[int, int]  #: warp and register


@pytest.fixture(autouse=True)
def simulated(monkeypatch) -> None:
    whole(monkeypatch)


class EvictingDriver(Driver):
    """Registers without a result behind X and without a reader are given back, too: some while one is in X.

    The reader likes to look up what was taken last.
    """

    leaving: dict | None = None
    latest: tuple[int, int] | None = None
    taken = raced = 0

    def offer(self, port: int) -> None:
        if self.random.random() < 0.4:
            super().offer(port)

    def evict(self) -> None:
        """The next one, which is presented until it is taken or a result makes it needless."""
        offered = {one["place"] for one in self.offers if one and one["writes"]}
        taken = {*self.under_way} - offered | ({self.reader["place"]} if self.reader else set())
        places = ((warp, register) for warp in range(self.cfg.warps) for register in range(self.registers))
        if self.leaving or not (free := [place for place in places if place not in taken]):
            return
        place = self.random.choice(sorted(offered - taken) or free)
        values = [self.word() for _ in range(self.cfg.lanes)]
        size = max(size_of(value) for value in values)
        self.leaving = {"place": place, "values": values, "size": self.random.randint(size, 4)}

    def present(self) -> None:
        ctx, part, one = self.ctx, self.part, self.leaving
        ctx.set(part.evict_valid, one is not None)
        if one:
            ctx.set(part.evict_warp, one["place"][0])
            ctx.set(part.evict_register, one["place"][1])
            for lane, value in enumerate(one["values"]):
                ctx.set(part.evict_data[lane], value)
            if self.cfg.gives.slices:
                ctx.set(part.evict_size, 1 << one["size"] - 1)

    def take(self) -> None:
        ctx, part, one = self.ctx, self.part, self.leaving
        ready, accepted = ctx.get(part.evict_ready), ctx.get(part.result_accept)
        met = [offer and offer["writes"] and one and offer["place"] == one["place"] for offer in self.offers]
        super().take()
        if ready:
            assert one is not None and not any(met)
            self.values[one["place"]] = list(one["values"])
            self.latest, self.leaving = one["place"], None
            self.taken += 1
        elif any(bit and accepted >> port & 1 for port, bit in enumerate(met)):
            self.leaving = None
            self.raced += 1

    async def read(self) -> None:
        values, leaving = self.values, self.leaving
        if leaving:
            self.values = {place: value for place, value in values.items() if place != leaving["place"]}
        if self.latest and self.latest in self.values and self.random.random() < 0.7:
            self.values = {self.latest: values[self.latest]}
        await super().read()
        self.values, self.latest = values, None

    async def cycle(self, *, offers: bool = True) -> None:
        if offers:
            self.evict()
        self.present()
        waits = self.ctx.get(self.part.underway_wait)
        for name, at in (("result waits", 0), ("look-up waits", self.cfg.write_ports)):
            self.seen[name] = self.seen.get(name, 0) + (waits >> at & (1 << self.cfg.write_ports) - 1).bit_count()
        await super().cycle(offers=offers)

    def exit(self, warp: int) -> None:
        """The file may take one in the cycle of the EXIT."""
        super().exit(warp)
        self.leaving = {"place": (warp, 0), "values": [self.word() for _ in range(self.cfg.lanes)], "size": 4}
        self.present()

    def exited(self) -> None:
        self.leaving = None
        self.present()


def lived(cfg, seed: int = 1, cycles: int = 150) -> EvictingDriver:
    """From the first kernel to the last sweep."""
    drivers, part = [], PackedFile(cfg)

    async def bench(ctx) -> None:
        drivers.append(driver := EvictingDriver(ctx, part, cfg, seed))
        await driver.begin(8)
        await driver.tell()
        for _ in range(cycles):
            await driver.cycle()
        await driver.end()

    run(part, bench)
    return drivers[0]


def windows(**changes: object):
    return config("bow_wr+packed", collectors=2, source_slots=1, window_entries=1, **changes)


@pytest.mark.parametrize("packing", [1, pytest.param(0, marks=pytest.mark.regress)])
def test_what_is_given_back_is_read_again(packing: int) -> None:
    driver = lived(windows(packing=packing))
    assert driver.taken > 50 and driver.raced and driver.reads > 20 and not driver.seen["error"]
    wanted = ("result waits", "look-up waits", "decision1", "decision4", *(("merge", "decision2") if packing else ()))
    assert all(driver.seen.get(name) for name in wanted), driver.seen


def test_a_look_up_waits_for_an_eviction_in_t_and_in_w0_as_on_the_page() -> None:
    """The worked example "eviction and read back": T in 1, W0 in 2, W1 in 3; the look-up is from 1 on."""
    part = PackedFile(cfg := windows())

    async def bench(ctx) -> None:
        await EvictingDriver(ctx, part, cfg, 1).begin(8)
        ctx.set(part.evict_valid, 1)
        ctx.set(part.evict_register, 1)
        ctx.set(part.evict_size, 0b0010)
        assert ctx.get(part.evict_ready) and not ctx.get(part.underway)
        await ctx.tick()
        ctx.set(part.evict_valid, 0)
        ctx.set(part.locate, 1)
        ctx.set(part.locate_registers[0], 1)
        seen = []
        for _ in range(4):
            seen.append((ctx.get(part.underway), ctx.get(part.looked_up), ctx.get(part.decision) & 7))
            await ctx.tick()
        assert seen == [(0b001, 0, 0), (0b010, 0, 4), (0b100, 1, 0), (0b000, 1, 0)]
        assert ctx.get(part.located_masks[0]) == 0b0011 and ctx.get(part.quiet) and not ctx.get(part.completed)

    run(part, bench)


@pytest.mark.parametrize("rule", ["look_ups_wait", "waiting"])
def test_a_file_without_one_of_the_rules_is_found_out(monkeypatch, rule: str) -> None:
    monkeypatch.setattr(file, "Evictions", lambda cfg: Miswired(Evictions(cfg), **{rule: lambda value: value & 0}))
    with pytest.raises(AssertionError):
        lived(windows())


def present(ctx, part: Evictions, leaving: Pair, results: list[Pair], looked: list[Pair]) -> None:
    """Warps and registers of what is evicted, of the results by port, and of one look-up per warp."""
    ctx.set(part.warp, leaving[0])
    ctx.set(part.register_name, leaving[1])
    for port, (warp, register) in enumerate(results):
        ctx.set(part.results[port].warp, warp)
        ctx.set(part.results[port].register, register)
    ctx.set(part.locate, (1 << len(looked)) - 1)
    for warp, register in looked:
        ctx.set(part.locate_warps[warp], warp)
        ctx.set(part.locate_registers[warp], register)


STAGES = ("read", "held", "store")  #: T, W0, W1


def drive(ctx, part: Evictions, places: list[Pair], events: dict[str, bool]) -> None:
    """What happens in a cycle, and what T, W0 and W1 of port 0 have."""
    for name, bit in events.items():
        ctx.set(getattr(part, name), bool(bit))
    for stage, (warp, register) in zip(STAGES, places, strict=True):
        ctx.set(getattr(part, f"{stage}_warp"), warp)
        ctx.set(getattr(part, f"{stage}_register"), register)


def test_what_is_under_way_is_waited_for() -> None:
    """T, W0 and W1 of port 0 with registers at random, three results, two look-ups, sweeps."""
    cfg = windows()
    part, numbers = Evictions(cfg), random.Random(5)
    ports, slots = range(cfg.write_ports), range(cfg.warps)

    def place() -> tuple[int, int]:
        return numbers.randrange(cfg.warps), numbers.randrange(2)

    async def bench(ctx) -> None:
        places, full, under_way, seen = [(0, 0)] * 3, [False] * 3, [False] * 3, set()
        for _ in range(500):
            leaving, results = place(), [place() for _ in ports]
            looked = [(warp, numbers.randrange(2)) for warp in slots]
            stores, valid = [numbers.random() < 0.4 for _ in ports], numbers.random() < 0.8
            stored = full[2] and numbers.random() < 0.4
            moves = full[1] and (stored or not full[2]) and numbers.random() < 0.5
            advances = full[0] and (moves or not full[1])
            accept = (stores[0] or valid) and (advances or not full[0]) and numbers.random() < 0.8
            events = {"valid": valid, "accept": accept, "advances": advances, "moves": moves, "stored": stored}
            drive(ctx, part, places, events)
            ctx.set(part.stores, sum(bit << port for port, bit in enumerate(stores)))
            present(ctx, part, leaving, results, looked)
            busy = [own for own, bit in zip(places, under_way, strict=True) if bit]
            late = [bit and result in busy for bit, result in zip(stores, results, strict=True)]
            stands, waits = valid and not stores[0], valid and leaving in busy
            met = any(bit and result == leaving for bit, result in zip(stores, results, strict=True))
            assert ctx.get(part.under_way) == sum(bit << stage for stage, bit in enumerate(under_way))
            assert (ctx.get(part.stands), ctx.get(part.waits)) == (stands, waits)
            assert ctx.get(part.results_wait) == sum(bit << port for port, bit in enumerate(late))
            late[0] |= stands and (waits or met)
            assert ctx.get(part.waiting) == sum(bit << port for port, bit in enumerate(late))
            hidden = [{stage for stage in (0, 1) if under_way[stage] and one == places[stage]} for one in looked]
            assert ctx.get(part.look_ups_wait) == sum(bool(bits) << slot for slot, bits in enumerate(hidden))
            assert ctx.get(part.sweeps_wait) == sum(1 << warp for warp in {warp for warp, _ in busy})
            seen |= {name for name, bit in (("met", met and stands), ("waits", waits), ("all", all(under_way))) if bit}
            seen |= {(stage,) for bits in hidden for stage in bits if len(bits) == 1}
            await ctx.tick()
            if stored:
                full[2] = under_way[2] = False
            for stage, bit in ((1, moves), (0, advances)):
                if bit:
                    for row in (places, full, under_way):
                        row[stage + 1] = row[stage]
                    full[stage] = under_way[stage] = False
            if accept:
                places[0], full[0], under_way[0] = (leaving if stands else results[0]), True, stands
        assert seen == {"met", "waits", "all", (0,), (1,)}

    run(part, bench)
