"""The renaming table: who is served, what is read, how it clears itself; against the page in plain Python."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run, whole
from warpfile.hdl.renaming.table import RenamingTable


@pytest.fixture(autouse=True)
def simulated(monkeypatch) -> None:
    whole(monkeypatch)


class Page:
    """Section 4 of docs/schemes/corf.md: ports that are left in each memory."""

    def __init__(self, cfg) -> None:
        self.cfg = cfg
        self.left = [2] * cfg.banks
        self.reads, self.writes = [0] * cfg.banks, [0] * cfg.banks

    def memory(self, place: tuple[int, int]) -> int:
        warp, register = place
        return (warp if self.cfg.allocation == "sides" else warp + register) % self.cfg.banks

    def serve(self, places, writes: bool = False, effective: bool = True) -> bool:
        """All of some accesses, or none."""
        wanted = [self.memory(place) for place in places]
        if any(wanted.count(memory) > self.left[memory] for memory in wanted):
            return False
        for memory in wanted:
            self.left[memory] -= 1
            (self.writes if writes else self.reads)[memory] += effective
        return True


class Cycle:
    """What everybody wants in one cycle: places as pairs of warp and register."""

    def __init__(self, cfg, numbers: random.Random) -> None:
        def place():
            return numbers.randrange(cfg.warps), numbers.randrange(cfg.register_names)

        width = cfg.asks.slots
        ports, slots = range(cfg.write_ports), range(cfg.collectors * width)
        self.writes = [place() if numbers.random() < 0.4 else None for _ in ports]
        self.effective = [numbers.random() < 0.8 for _ in ports]
        self.entries = [numbers.randrange(1 << cfg.mapping_bits) for _ in ports]
        self.reads = [place() if numbers.random() < 0.5 else None for _ in ports]
        self.partners = [(read[0], place()[1]) if read and numbers.random() < 0.5 else None for read in self.reads]
        self.release = place() if numbers.random() < 0.5 else None
        self.clears = numbers.random() < 0.5
        busy = {one for one in (*self.writes, self.release if self.clears else None) if one}
        warps = [numbers.randrange(cfg.warps) for _ in range(cfg.collectors)]
        self.slots = [(warps[slot // width], place()[1]) if numbers.random() < 0.3 else None for slot in slots]
        self.slots = [one if one not in busy else None for one in self.slots]
        offer = place()[0]
        self.offer = [(offer, place()[1]) if numbers.random() < 0.5 else None for _ in range(width)]
        self.offer = [one if one not in busy else None for one in self.offer]
        asks = cfg.asks.sources and numbers.random() < 0.6
        self.unit = numbers.randrange(cfg.collectors) if asks else None
        if self.unit is not None:
            for slot in range(self.unit * width, (self.unit + 1) * width):
                self.slots[slot] = None
        self.order = numbers.sample(range(cfg.collectors), cfg.collectors)

    def served(self, cfg, page: Page):
        """Written, read, released, looked up, in the order of the page."""
        ports = list(reversed(range(cfg.write_ports)))
        written = {
            port for port in ports if self.writes[port] and page.serve([self.writes[port]], True, self.effective[port])
        }
        changes = {*self.writes, self.release if self.clears else None} - {None}
        read = set()
        for port in ports:
            wants = [one for one in (self.reads[port], self.partners[port]) if one]
            if wants and not changes.intersection(wants) and page.serve(wants):
                read.add(port)
        released = bool(self.release) and page.serve([self.release], self.clears)
        looked = set()
        for unit in self.order:
            for slot in range(unit * cfg.asks.slots, (unit + 1) * cfg.asks.slots):
                if self.slots[slot] and page.serve([self.slots[slot]]):
                    looked.add(slot)
        if self.unit is not None:
            for number, one in enumerate(self.offer):
                if one and page.serve([one]):
                    looked.add(self.unit * cfg.asks.slots + number)
        return written, read, released, looked


def show(ctx, part, cfg, one: Cycle) -> None:
    def bits(values) -> int:
        return sum(bool(value) << at for at, value in enumerate(values))

    ctx.set(part.writes, bits(one.writes))
    ctx.set(part.effective, bits(one.effective))
    ctx.set(part.reads, bits(one.reads))
    ctx.set(part.release, bool(one.release))
    ctx.set(part.clears, one.clears)
    ctx.set(part.release_warp, (one.release or (0, 0))[0])
    ctx.set(part.release_register, (one.release or (0, 0))[1])
    for port in range(cfg.write_ports):
        for name, places in (("write", one.writes), ("read", one.reads)):
            ctx.set(getattr(part, f"{name}_warps")[port], (places[port] or (0, 0))[0])
            ctx.set(getattr(part, f"{name}_registers")[port], (places[port] or (0, 0))[1])
        ctx.set(part.write_entries[port], one.entries[port])
    if hasattr(part, "paired"):
        ctx.set(part.paired, bits(one.partners))
        for port, place in enumerate(one.partners):
            ctx.set(part.partners[port], (place or (0, 0))[1])
    ctx.set(part.locate, bits(one.slots))
    for slot, place in enumerate(one.slots):
        if place:
            ctx.set(part.locate_warps[slot // cfg.asks.slots], place[0])
            ctx.set(part.locate_registers[slot], place[1])
    if cfg.asks.sources:
        ctx.set(part.allocate, 0 if one.unit is None else 1 << one.unit)
        ctx.set(part.offer_valid, bits(one.offer))
        for number, place in enumerate(one.offer):
            if place:
                ctx.set(part.offer_warp, place[0])
                ctx.set(part.offer_registers[number], place[1])
    units = range(cfg.collectors)
    older = [one.order.index(a) < one.order.index(b) and a != b for a in units for b in units]
    ctx.set(part.older, bits(older))


@pytest.mark.parametrize("scheme", ["packing", "corf", "corf_plus", "bow_wr+packed"])
def test_everybody_is_served_in_the_order_of_the_page(scheme: str) -> None:
    units = 4 if scheme == "bow_wr+packed" else 3
    cfg = config(scheme, collectors=units, source_slots=2, register_names=8, warps=4)
    part, numbers = RenamingTable(cfg, partnered=scheme == "corf"), random.Random(3)
    entries = {(warp, register): 0 for warp in range(4) for register in range(8)}

    async def bench(ctx) -> None:
        for _ in range(cfg.table_rows):
            assert ctx.get(part.clearing)
            await ctx.tick()
        assert not ctx.get(part.clearing)
        waits = 0
        for _ in range(100):
            one, page = Cycle(cfg, numbers), Page(cfg)
            if scheme != "corf":
                one.partners = [None] * cfg.write_ports
            if len({*one.writes, one.release} - {None}) < sum(map(bool, (*one.writes, one.release))):
                continue  # nobody writes an entry in a cycle in which another one has an access to it
            show(ctx, part, cfg, one)
            written, read, released, looked = one.served(cfg, page)
            assert ctx.get(part.written) == sum(1 << port for port in written)
            assert ctx.get(part.read) == sum(1 << port for port in read)
            assert ctx.get(part.released) == released
            assert ctx.get(part.looked_up) == sum(1 << slot for slot in looked)
            for memory in range(cfg.banks):
                assert ctx.get(part.table_reads) >> 2 * memory & 3 == page.reads[memory]
                assert ctx.get(part.table_writes) >> 2 * memory & 3 == page.writes[memory]
            waits += len([one for one in one.reads if one]) - len(read)
            await ctx.tick()
            for port in read:
                assert ctx.get(part.read_entries[port]) == entries[one.reads[port]]
                if one.partners[port]:
                    assert ctx.get(part.partner_entries[port]) == entries[one.partners[port]]
            if released and not one.clears:
                assert ctx.get(part.release_entry) == entries[one.release]
            for slot in looked:
                place = one.slots[slot]
                if one.unit is not None and slot // cfg.asks.slots == one.unit:
                    place = one.offer[slot % cfg.asks.slots]
                assert ctx.get(part.located[slot]) == entries[place]
            entries.update({one.writes[port]: one.entries[port] for port in written if one.effective[port]})
            entries.update({one.release: 0} if released and one.clears else {})
        assert waits > 10

    run(part, bench)
