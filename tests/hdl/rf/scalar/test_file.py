"""The file at its ports, in every cycle against the page: places, banks, accepted results, values, probes."""

import random

import pytest
from amaranth import Const

from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.regmutex.bench import row_of
from tests.hdl.rf.scalar.bench import config, whole
from tests.hdl.rf.scalar.page import READS, WRITES, Page, Result
from warpfile.hdl.rf.banked.file import BankedFile
from warpfile.hdl.rf.scalar import file
from warpfile.hdl.rf.scalar.expansion import Expansion
from warpfile.hdl.rf.scalar.file import ScalarFile, scalar_file
from warpfile.hdl.rf.scalar.registers import ScalarRegisters
from warpfile.hdl.stamp import convert

LIVE = (0b1111, 0b0110)  #: lanes that live, of the warps: lane 0 of the second one has exited
WORDS = (0, 1, 0x80000000, 0xFFFFFFFF)


def bits(flags) -> int:
    return sum(bool(flag) << at for at, flag in enumerate(flags))


class Host:
    """Results, sources and launches at random, as a machine may present them, and what the page says of each cycle."""

    def __init__(self, ctx, part, cfg, seed: int) -> None:
        self.ctx, self.part, self.cfg, self.rng = ctx, part, cfg, random.Random(seed)
        self.page = Page(cfg.register_names, cfg.banks, cfg.lanes, cfg.bank_cycles)
        self.results: list[Result | None] = [None] * cfg.write_ports
        self.slots: list[tuple[int, int] | None] = [None] * cfg.source_slots
        self.fills: dict[int, list[tuple[int, list]]] = {}
        self.now = 0
        self.launched: int | None = None

    def taken(self) -> set:
        shown = {result.register for result in self.results if result}
        return shown | {slot for slot in self.slots if slot}

    def result(self) -> Result | None:
        register = self.rng.randrange(2), self.rng.randrange(4)
        if self.rng.random() < 0.4 or register in self.taken():
            return None
        live, full = LIVE[register[0]], self.rng.random() < 0.6
        mask = live if full else live & self.rng.randrange(live)
        words = [self.rng.choice(WORDS) for _ in range(self.cfg.lanes)]
        if self.rng.random() < 0.7:
            alike = self.rng.choice(WORDS)
            words = [alike if live >> lane & 1 else word for lane, word in enumerate(words)]
        return Result(register, mask, full, words)

    def show(self) -> None:
        """Ports that are free show a new result, free slots ask for a register."""
        ctx, part = self.ctx, self.part
        for port, shown in enumerate(self.results):
            self.results[port] = result = shown or self.result()
            if result:
                names = ("writes", "warp", "register", "mask", "full")
                for name, value in zip(names, (1, *result.register, result.mask, result.full), strict=True):
                    ctx.set(part.results[port][name], value)
                ctx.set(part.result_data[port], sum(word << 32 * lane for lane, word in enumerate(result.words)))
        for port in (part.result_valid, part.result_store):
            ctx.set(port, bits(self.results))
        for slot, asked in enumerate(self.slots):
            register = self.rng.randrange(2), self.rng.randrange(4)
            if asked is None and register not in self.taken() and self.rng.random() < 0.5:
                self.slots[slot] = register
                self.look_up(slot, register)
        ctx.set(part.requests, bits(self.slots))

    def look_up(self, slot: int, register: tuple[int, int]) -> None:
        """The place of a source of an offered beat; the other warp's head beat names another register."""
        ctx, part, page = self.ctx, self.part, self.page
        for warp in range(2):
            number = register[1] if warp == register[0] else register[1] ^ 1
            ctx.set(part.heads[warp].sources[slot], number)
        ctx.set(part.offer.sources[slot], register[1])
        ctx.set(part.offer_warp, 1 << register[0])
        source = part.source_places[slot]
        found = ctx.get(source.bank) + self.cfg.banks * ctx.get(source.twin), row_of(ctx, source) % self.cfg.rows
        assert found == (page.bank(register), page.home(register)[1])
        twin, bank = divmod(found[0], self.cfg.banks)
        ctx.set(part.request_places[slot], {"bank": bank, "row": found[1], "twin": twin})

    def check(self) -> None:
        """All that the page says of a cycle."""
        ctx, part, page = self.ctx, self.part, self.page
        shown = [result for result in self.results if result]
        assert ctx.get(part.scalar_registers) == len(page.scalar)
        assert ctx.get(part.expansion) == page.phase
        assert ctx.get(part.scalar_result) == bits(result and result.scalar for result in self.results)
        assert ctx.get(part.needs_expansion) == bits(result and page.needs(result) for result in self.results)
        assert (ctx.get(part.hold), ctx.get(part.refuses), ctx.get(part.yields)) == (0, 0, 0)
        accept = ctx.get(part.result_accept)
        stored = [result if accept >> port & 1 else None for port, result in enumerate(self.results)]
        assert ctx.get(part.scalar_write) == bits(result and result.scalar for result in stored)
        assert ctx.get(part.vector_write) == bits(result and not result.scalar for result in stored)
        if self.cfg.bank_cycles == 1:
            highest = {
                page.asks(result): port for port, result in enumerate(self.results) if result and not page.needs(result)
            }
            if page.phase == WRITES or self.cfg.bank_ports == "1RW":
                highest.pop(page.engine, None)
            assert accept == bits(port in highest.values() for port in range(self.cfg.write_ports))
            asked = page.engine is not None
            grants = ctx.get(part.expansion_read), ctx.get(part.expansion_write)
            assert grants == (asked and page.phase == READS, asked and page.phase == WRITES)
        page.reached["held beside another"] += any(page.needs(result) for result in shown) and accept != 0

    def fill(self) -> None:
        """Data that are due are there, and no others."""
        due = self.fills.pop(self.now, [])
        assert self.ctx.get(self.part.fill) == bits(
            slot in {at for at, _ in due} for slot in range(self.cfg.source_slots)
        )
        for slot, words in due:
            for lane, word in enumerate(words):
                found = self.ctx.get(self.part.fill_data[lane]) >> 32 * slot & 0xFFFFFFFF
                assert word in (None, found), f"lane {lane} has {found:x}, not {word:x}"

    def grants(self) -> None:
        ctx, part, page = self.ctx, self.part, self.page
        grant = ctx.get(part.grant)
        served = [register for slot, register in enumerate(self.slots) if grant >> slot & 1]
        banks = bits(bank in {page.bank(register) for register in served} for bank in range(2 * page.banks))
        assert ctx.get(part.vector_read) | ctx.get(part.scalar_read) << page.banks == banks
        homes = [page.home(register)[0] for register in served]
        page.reached["both banks of a home"] += len(homes) > len(set(homes))
        for slot in range(self.cfg.source_slots):
            if grant >> slot & 1:
                live, words = LIVE[self.slots[slot][0]], page.read(self.slots[slot])
                words = [word if live >> lane & 1 else None for lane, word in enumerate(words)]
                page.reached["a scalar source"] += self.slots[slot] in page.scalar
                self.fills.setdefault(self.now + self.cfg.bank_cycles, []).append((slot, words))
                self.slots[slot] = None

    def end(self) -> None:
        """What changes at the end of the cycle."""
        ctx, part, page = self.ctx, self.part, self.page
        needs = [result.register for result in self.results if result and page.needs(result)]
        granted = ctx.get(part.expansion_read) | ctx.get(part.expansion_write)
        accept = ctx.get(part.result_accept)
        page.expand(needs, self.now, bool(granted))
        for port, result in enumerate(self.results):
            if result and accept >> port & 1:
                page.write(result)
                self.results[port] = None
        if self.launched is not None:
            page.launch(self.launched)
        self.now += 1

    def launch(self, warp: int | None) -> None:
        """A warp of which nothing is under way is launched, or none."""
        ctx, part = self.ctx, self.part
        ctx.set(part.launch_valid, warp is not None)
        if warp is not None:
            ctx.set(part.launch.warp, warp)
            ctx.set(part.launch.base, warp * self.cfg.register_names)
            self.page.reached["a launch clears"] += any(register[0] == warp for register in self.page.scalar)
        self.launched = warp

    def cycle(self) -> None:
        """A cycle up to its end."""
        self.show()
        idle = sorted({0, 1} - {register[0] for register in self.taken()})
        self.launch(self.rng.choice(idle) if idle and self.rng.random() < 0.3 else None)
        self.check()
        self.fill()
        self.grants()
        self.end()


def simulate(monkeypatch, cycles: int = 500, **changes) -> Page:
    whole(monkeypatch)
    cfg = config(**changes)
    part = ScalarFile(cfg)
    pages = []

    async def bench(ctx) -> None:
        host = Host(ctx, part, cfg, seed=5)
        pages.append(host.page)
        for warp in range(2):
            host.launch(warp)
            await ctx.tick()
        for _ in range(cycles):
            host.cycle()
            await ctx.tick()

    run(part, bench)
    return pages[0]


REACHED = {
    "is scalar again",
    "a full result ends it",
    "two results need it",
    "expanded",
    "held beside another",
    "both banks of a home",
    "a scalar source",
    "a launch clears",
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bank_ports": "1R1W"},
        {"bank_cycles": 2},
        {"bank_cycles": 3, "bank_occupancy": "one", "banks": 3, "rows": 8},
    ],
    ids=str,
)
def test_every_cycle_is_that_of_the_page(monkeypatch, changes) -> None:
    page = simulate(monkeypatch, **changes)
    assert {what for what, count in page.reached.items() if count} == REACHED


class FirstLane(Expansion):
    """It writes the first lane alone."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += [lane.eq(0) for lane in list(self.engine_data)[1:]]
        return m


class Kept(ScalarRegisters):
    """A launch clears nothing."""

    def elaborate(self, platform):
        launched, self.launched = self.launched, Const(0, len(self.launched))
        m = super().elaborate(platform)
        self.launched = launched
        return m


@pytest.mark.parametrize(("name", "part"), [("Expansion", FirstLane), ("ScalarRegisters", Kept)])
def test_wrong_parts_are_found(monkeypatch, name, part) -> None:
    monkeypatch.setattr(file, name, part)
    with pytest.raises(AssertionError):
        simulate(monkeypatch)


async def store(ctx, part, cfg, port: int, result: Result | None) -> None:
    """Show a result on one port, and none on the others."""
    ctx.set(part.result_valid, (result is not None) << port)
    ctx.set(part.result_store, (result is not None) << port)
    if result:
        names = ("writes", "warp", "register", "mask", "full")
        for name, value in zip(names, (1, *result.register, result.mask, result.full), strict=True):
            ctx.set(part.results[port][name], value)
        ctx.set(part.result_data[port], sum(word << 32 * lane for lane, word in enumerate(result.words)))


def test_with_free_ports_a_result_of_some_lanes_asks_its_bank_four_cycles_after_it_came(monkeypatch) -> None:
    whole(monkeypatch)
    cfg = config()
    part = ScalarFile(cfg)

    async def bench(ctx) -> None:
        await store(ctx, part, cfg, 0, Result((1, 3), 0b1111, True, [7] * 4))
        assert (ctx.get(part.scalar_write), ctx.get(part.completed)) == (1, 1)
        await ctx.tick()
        await store(ctx, part, cfg, 0, Result((1, 3), 0b0010, False, [7] * 4))
        for phase in range(4):
            found = ctx.get(part.expansion), ctx.get(part.needs_expansion), ctx.get(part.result_accept)
            assert found == (phase, 1, 0)
            assert (ctx.get(part.expansion_read), ctx.get(part.expansion_write)) == (phase == READS, phase == WRITES)
            await ctx.tick()
        assert (ctx.get(part.needs_expansion), ctx.get(part.vector_write), ctx.get(part.completed)) == (0, 1, 1)

    run(part, bench)


def test_without_scalar_values_the_verilog_is_that_of_the_baseline() -> None:
    none, scalar = (config(scalar_values=values) for values in ("none", "uniform"))
    texts = [convert(lambda part=part: part, "register_file") for part in (scalar_file(none), BankedFile(none))]
    assert texts[0] == texts[1] != convert(lambda: scalar_file(scalar), "register_file")
