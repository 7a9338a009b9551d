"""The renaming table: who is served, what is read, which registers are mapped; against the page in plain Python."""

from __future__ import annotations

import random
from collections import Counter

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

    def serve(self, places, writes: bool = False, effective: bool = True) -> bool:
        """All of some accesses, or none."""
        wanted = [(warp + register) % self.cfg.banks for warp, register in places]
        if any(wanted.count(memory) > self.left[memory] for memory in wanted):
            return False
        for memory in wanted:
            self.left[memory] -= 1
            (self.writes if writes else self.reads)[memory] += effective
        return True


class Cycle:
    """What everybody wants in one cycle: places as pairs of warp and register."""

    def __init__(self, cfg, numbers: random.Random, mapped) -> None:
        def place():
            return numbers.randrange(cfg.warps), numbers.randrange(cfg.register_names)

        width = cfg.asks.slots
        ports, slots = range(cfg.write_ports), range(cfg.collectors * width)
        self.writer = numbers.choice([None, *ports])
        self.places = [place() for _ in ports]
        self.effective = numbers.random() < 0.8
        self.entries = [numbers.randrange(1 << cfg.mapping_bits) for _ in ports]
        self.reads = [place() if numbers.random() < 0.5 else None for _ in ports]
        self.partners = [(read[0], place()[1]) if read and numbers.random() < 0.5 else None for read in self.reads]
        self.visit = place() if numbers.random() < 0.5 else None
        self.swept = numbers.choice(sorted(mapped)) if mapped and numbers.random() < 0.5 else None
        self.dead = place() if numbers.random() < 0.3 else None
        self.unmaps = numbers.random() < 0.6
        self.begins = numbers.randrange(cfg.warps) if numbers.random() < 0.1 else None
        write = None if self.writer is None else self.places[self.writer]
        busy = {write, self.dead}
        if self.swept in busy or write == self.dead or (write and write[0] == self.begins):
            self.swept = self.dead = self.begins = None
        if self.visit in busy or (self.visit and self.visit[0] == self.begins):
            self.visit = None
        warps = [numbers.randrange(cfg.warps) for _ in range(cfg.collectors)]
        self.slots = [(warps[slot // width], place()[1]) if numbers.random() < 0.3 else None for slot in slots]
        self.slots = [one if one not in busy and one and one[0] != self.begins else None for one in self.slots]
        offer = place()[0]
        self.offer = [(offer, place()[1]) if numbers.random() < 0.5 else None for _ in range(width)]
        self.offer = [one if one not in busy and offer != self.begins else None for one in self.offer]
        asks = cfg.asks.sources and numbers.random() < 0.6
        self.unit = numbers.randrange(cfg.collectors) if asks else None
        if self.unit is not None:
            for slot in range(self.unit * width, (self.unit + 1) * width):
                self.slots[slot] = None
        self.order = numbers.sample(range(cfg.collectors), cfg.collectors)

    def served(self, cfg, page: Page):
        """Read, visited, swept, looked up, in the order of the page."""
        write = None if self.writer is None else self.places[self.writer]
        if write:
            assert page.serve([write], True, self.effective)
        read = set()
        for port in reversed(range(cfg.write_ports)):
            wants = [one for one in (self.reads[port], self.partners[port]) if one]
            if wants and not {write, self.dead}.intersection(wants) and page.serve(wants):
                read.add(port)
        visited = bool(self.visit) and page.serve([self.visit])
        swept = bool(self.swept) and page.serve([self.swept])
        looked = set()
        for unit in self.order:
            for slot in range(unit * cfg.asks.slots, (unit + 1) * cfg.asks.slots):
                if self.slots[slot] and page.serve([self.slots[slot]]):
                    looked.add(slot)
        if self.unit is not None:
            for number, one in enumerate(self.offer):
                if one and page.serve([one]):
                    looked.add(self.unit * cfg.asks.slots + number)
        return read, visited, swept, looked

    def change(self, entries, mapped) -> None:
        """What the table says from the next cycle on."""
        if self.writer is not None and self.effective:
            entries[self.places[self.writer]] = self.entries[self.writer]
            mapped.add(self.places[self.writer])
        if self.dead and self.unmaps:
            mapped.discard(self.dead)
        mapped.difference_update({one for one in mapped if one[0] == self.begins})


def bits(values) -> int:
    return sum(bool(value) << at for at, value in enumerate(values))


def show(ctx, part, cfg, one: Cycle) -> None:
    ctx.set(part.writes, 0 if one.writer is None else 1 << one.writer)
    ctx.set(part.effective, one.effective)
    ctx.set(part.reads, bits(one.reads))
    ctx.set(part.begins, 0 if one.begins is None else 1 << one.begins)
    ctx.set(part.dies, bool(one.dead))
    ctx.set(part.unmaps, bool(one.dead) and one.unmaps)
    ctx.set(part.sweeps, bool(one.swept))
    releases = [("dead", one.dead), ("sweep", one.swept)]
    if hasattr(part, "visits"):
        ctx.set(part.visits, bool(one.visit))
        releases.append(("visit", one.visit))
    for name, place in releases:
        ctx.set(getattr(part, f"{name}_warp"), (place or (0, 0))[0])
        ctx.set(getattr(part, f"{name}_register"), (place or (0, 0))[1])
    for port in range(cfg.write_ports):
        for name, places in (("write", one.places), ("read", one.reads)):
            ctx.set(getattr(part, f"{name}_warps")[port], (places[port] or (0, 0))[0])
            ctx.set(getattr(part, f"{name}_registers")[port], (places[port] or (0, 0))[1])
        ctx.set(part.write_entries[port], one.entries[port])
    if hasattr(part, "paired"):
        ctx.set(part.paired, bits(one.partners))
        for port, place in enumerate(one.partners):
            ctx.set(part.partners[port], (place or (0, 0))[1])
    show_units(ctx, part, cfg, one)


def show_units(ctx, part, cfg, one: Cycle) -> None:
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


def hold(ctx, part, cfg, one: Cycle) -> None:
    """The cycle after: the unit that has taken the offered beat shows its registers; windows show anything."""
    if not cfg.asks.sources:
        for register in part.locate_registers:
            ctx.set(register, 0)
    elif one.unit is not None:
        for number, place in enumerate(one.offer):
            if place:
                ctx.set(part.locate_warps[one.unit], place[0])
                ctx.set(part.locate_registers[one.unit * cfg.asks.slots + number], place[1])


@pytest.mark.parametrize("scheme", ["packing", "corf", "corf_plus", "bow_wr+packed", "larf"])
def test_everybody_is_served_in_the_order_of_the_page(scheme: str) -> None:
    units = 4 if scheme == "bow_wr+packed" else 3
    cfg = config(scheme, collectors=units, source_slots=2, register_names=8, warps=4)
    part = RenamingTable(cfg, writers=cfg.write_ports, partnered=scheme == "corf", visited=scheme == "larf")
    numbers, entries, mapped = random.Random(3), {}, set()
    reached = Counter()

    async def bench(ctx) -> None:
        for _ in range(300):
            one, page = Cycle(cfg, numbers, mapped), Page(cfg)
            if scheme != "corf":
                one.partners = [None] * cfg.write_ports
            if scheme != "larf":
                one.visit = None
            show(ctx, part, cfg, one)
            read, visited, swept, looked = one.served(cfg, page)
            assert ctx.get(part.read) == sum(1 << port for port in read)
            assert scheme != "larf" or ctx.get(part.visited) == visited
            assert ctx.get(part.swept) == swept
            assert ctx.get(part.looked_up) == sum(1 << slot for slot in looked)
            assert ctx.get(part.left) == sum(1 << name for warp, name in mapped if warp == one.begins)
            for memory in range(cfg.banks):
                assert ctx.get(part.table_reads) >> 2 * memory & 3 == page.reads[memory]
                assert ctx.get(part.table_writes) >> 2 * memory & 3 == page.writes[memory]

            def said(place):
                return entries[place] if place in mapped else 0

            expected = [(part.read_entries[port], said(one.reads[port])) for port in read]
            expected += [(part.partner_entries[port], said(one.partners[port])) for port in read if one.partners[port]]
            if visited:
                expected.append((part.visit_entry, said(one.visit)))
                reached["visited"] += 1
            expected += [(part.sweep_entry, entries[one.swept])] if swept else []
            for slot in looked:
                unit, number = divmod(slot, cfg.asks.slots)
                place = one.offer[number] if unit == one.unit else one.slots[slot]
                expected.append((part.located[slot], said(place)))
                reached["looked up, mapped" if place in mapped else "looked up, unmapped"] += 1
            reached["waits"] += len([one for one in one.reads if one]) - len(read)
            reached["left"] += bool(ctx.get(part.left))
            one.change(entries, mapped)
            await ctx.tick()
            hold(ctx, part, cfg, one)
            for entry, value in expected:
                assert ctx.get(entry) == value

    run(part, bench)
    assert len(reached) == 4 + (scheme == "larf") and min(reached.values()) > 5


def test_a_look_up_is_told_whether_its_register_is_mapped_in_the_cycle_of_the_answer() -> None:
    """A beat that is taken is not known when its unit asks: the bit is looked for with what the unit shows then."""
    cfg = config("packing", collectors=1, source_slots=2, register_names=8, warps=4)
    part = RenamingTable(cfg, writers=cfg.write_ports)

    async def bench(ctx) -> None:
        ctx.set(part.writes, 1)
        ctx.set(part.effective, 1)
        ctx.set(part.write_warps[0], 2)
        ctx.set(part.write_registers[0], 5)
        ctx.set(part.write_entries[0], 9)
        await ctx.tick()
        ctx.set(part.writes, 0)
        ctx.set(part.allocate, 1)
        ctx.set(part.offer_valid, 0b11)
        ctx.set(part.offer_warp, 2)
        ctx.set(part.offer_registers[0], 5)
        ctx.set(part.offer_registers[1], 4)
        assert ctx.get(part.looked_up) == 0b11
        await ctx.tick()
        ctx.set(part.allocate, 0)
        ctx.set(part.locate_warps[0], 2)
        ctx.set(part.locate_registers[0], 5)
        ctx.set(part.locate_registers[1], 4)
        assert ctx.get(part.located[0]) == 9 and ctx.get(part.located[1]) == 0

    run(part, bench)
