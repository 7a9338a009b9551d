"""The reader of address registers, cycle by cycle (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

import pytest

from tests.hdl.rf.shared.bench import run
from warpfile.hdl.rf.shared.notes import HINTS
from warpfile.hdl.rf.shared.reader import AddressReader
from warpfile.schemes import find
from warpfile.spec.schemes.las import ASK, DATA, NO_READER, READ
from warpfile.spec.schemes.shared import LOAD

WARPS, WARP, REGISTER, OTHER = 16, 9, 2, 12
#: The place of R2 of warp 9: bank 1, row 3; and that it is mapped.
ROW, BANK = 3, 1


class Bench:
    """A reader that is told a cycle at a time."""

    def __init__(self, ctx, part, cfg) -> None:
        self.ctx, self.part, self.cfg = ctx, part, cfg
        self.mapped = BANK | ROW << cfg.bank_bits | 1 << cfg.mapping_bits - 1
        ctx.set(part.probe_empty, 1)

    def load(self, warp: int, register: int, **changes: int) -> None:
        """The head beat of a warp is a load whose address is in a register."""
        ctx, head, values = self.ctx, self.part.heads[warp], {"address_offset": 100 + warp, "access": LOAD} | changes
        ctx.set(head.full, changes.get("full", 1))
        ctx.set(head.mask, 0b1011)
        ctx.set(head.source_valid, changes.get("source_valid", 1))
        ctx.set(head.sources[0], register)
        values = {"address_registers": 1} | values
        hints = sum(values[name] << self.cfg.hint_at(name) for name in HINTS if name in values)
        ctx.set(head.hints, hints)
        ctx.set(self.part.buffered, ctx.get(self.part.buffered) | 1 << warp)
        ctx.set(self.part.shareable, ctx.get(self.part.shareable) | 1 << warp)

    async def cycle(self, **inputs: int) -> tuple[int, int, int, int]:
        """One cycle with these inputs, the others 0: state, who is probed, whether it reads, whether it is late."""
        for name in ("issues", "captured", "ask_served", "entry", "read"):
            self.ctx.set(getattr(self.part, name), inputs.get(name, 0))
        await self.ctx.delay(1e-8)
        part = self.part
        seen = tuple(self.ctx.get(getattr(part, name)) for name in ("state", "probed", "reads", "late"))
        self.place = self.ctx.get(part.place.bank), self.ctx.get(part.place.row)
        await self.ctx.tick()
        return seen


def config_of_las():
    small = {"lanes": 4, "rows": 4, "banks": 2, "register_names": 8, "warps": WARPS}
    return find("larf+las").configuration("tiny", **small)


def simulate(monkeypatch, steps, part=None) -> None:
    cfg = config_of_las()
    part = part or AddressReader(cfg)

    async def bench(ctx) -> None:
        await steps(Bench(ctx, part, cfg))

    run(monkeypatch, part, bench)


async def worked_example(bench: Bench) -> None:
    """The table of the page: R2 of warp 9, whose bank is asked by a result in 2."""
    probed = 1 << WARP
    bench.load(WARP, REGISTER)
    assert await bench.cycle() == (NO_READER, 0, 0, 0)
    assert (bench.ctx.get(bench.part.ask_warp), bench.ctx.get(bench.part.ask_register)) == (WARP, REGISTER)
    assert await bench.cycle(ask_served=1) == (ASK, probed, 0, 0)
    assert await bench.cycle(entry=bench.mapped) == (READ, probed, 1, 0)
    assert bench.place == (BANK, ROW)
    assert await bench.cycle(read=1) == (READ, probed, 1, 0)
    assert bench.place == (BANK, ROW), "the place is kept"
    bench.load(OTHER, 5)
    assert bench.ctx.get(bench.part.arrives) == 1
    assert (bench.ctx.get(bench.part.offset), bench.ctx.get(bench.part.mask)) == (100 + WARP, 0b1011)
    assert await bench.cycle() == (DATA, probed, 0, 0), "another one is chosen in DATA"
    assert await bench.cycle(issues=probed) == (ASK, probed | 1 << OTHER, 0, 0)
    assert await bench.cycle() == (ASK, 1 << OTHER, 0, 0), "what another warp issues drops nothing"


def test_worked_example(monkeypatch) -> None:
    simulate(monkeypatch, worked_example)


class Forgetful(AddressReader):
    """It does not keep the place that the table said."""

    def _place(self, m, in_read):
        mapped, last = super()._place(m, in_read)
        with m.If(self.entry == 0):
            m.d.comb += self.place.eq(0)
        return mapped, last


def test_a_reader_that_forgets_its_place_is_found(monkeypatch) -> None:
    with pytest.raises(AssertionError, match="the place is kept"):
        simulate(monkeypatch, worked_example, Forgetful(config_of_las()))


def test_late_after_four_cycles_without_the_bank(monkeypatch) -> None:
    async def steps(bench: Bench) -> None:
        bench.load(WARP, REGISTER)
        await bench.cycle()
        assert (await bench.cycle())[0] == ASK
        assert (await bench.cycle(ask_served=1))[0] == ASK, "it asks until it is served"
        seen = [await bench.cycle(entry=bench.mapped if first else 0) for first in (True, False, False, False)]
        assert seen == [(READ, 1 << WARP, 1, late) for late in (0, 0, 0, 1)]
        assert await bench.cycle() == (NO_READER, 1 << WARP, 0, 0)
        assert (await bench.cycle())[0] == NO_READER, "one probe per head load"

    simulate(monkeypatch, steps)


def test_served_in_the_fourth_cycle_is_not_late_and_a_busy_probe_keeps_it_from_asking(monkeypatch) -> None:
    async def steps(bench: Bench) -> None:
        bench.load(WARP, REGISTER)
        await bench.cycle()
        await bench.cycle(ask_served=1)
        bench.ctx.set(bench.part.probe_empty, 0)
        assert [await bench.cycle(entry=bench.mapped)] + [await bench.cycle() for _ in range(2)] == [
            (READ, 1 << WARP, 0, 0)
        ] * 3
        bench.ctx.set(bench.part.probe_empty, 1)
        assert await bench.cycle(read=1) == (READ, 1 << WARP, 1, 0)
        assert (await bench.cycle())[0] == DATA

    simulate(monkeypatch, steps)


def test_a_register_that_is_nowhere_asks_no_bank(monkeypatch) -> None:
    async def steps(bench: Bench) -> None:
        bench.load(WARP, REGISTER)
        await bench.cycle()
        await bench.cycle(ask_served=1)
        assert await bench.cycle() == (READ, 1 << WARP, 0, 0)
        assert (await bench.cycle())[0] == NO_READER

    simulate(monkeypatch, steps)


@pytest.mark.parametrize("at", range(5))
def test_a_warp_that_issues_drops_its_reader(at: int, monkeypatch) -> None:
    """In any cycle from the choice to DATA; probed is cleared, and clear wins."""

    async def steps(bench: Bench) -> None:
        bench.load(WARP, REGISTER)
        inputs = [{}, {"ask_served": 1}, {"entry": bench.mapped}, {"read": 1}, {}]
        for number, given in enumerate(inputs[: at + 1]):
            states = (NO_READER, ASK, READ, READ, DATA)
            assert (await bench.cycle(**given, issues=(number == at) << WARP))[0] == states[number]
            bench.ctx.set(bench.part.buffered, 0)
        assert (await bench.cycle())[:2] == (NO_READER, 0)

    simulate(monkeypatch, steps)


@pytest.mark.parametrize(
    "not_so", [{"full": 0}, {"source_valid": 0}, {"address_registers": 0}, {"pending": 1}, {"captured": 1}]
)
def test_who_is_no_candidate(not_so: dict[str, int], monkeypatch) -> None:
    async def steps(bench: Bench) -> None:
        if "captured" in not_so:
            await bench.cycle(captured=1 << WARP)
        bench.load(
            WARP, REGISTER, **{name: value for name, value in not_so.items() if name not in ("pending", "captured")}
        )
        bench.ctx.set(bench.part.pending[WARP], not_so.get("pending", 0) << REGISTER)
        await bench.cycle()
        assert (await bench.cycle())[0] == NO_READER
        bench.load(OTHER, REGISTER)
        await bench.cycle()
        assert (await bench.cycle())[0] == ASK
        assert bench.ctx.get(bench.part.ask_warp) == OTHER

    simulate(monkeypatch, steps)
