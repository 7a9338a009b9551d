"""The file at its ports: which head beats are held, from the registers that they name, and what a scheduler is told."""

import pytest
from amaranth import Module
from amaranth.sim import Simulator

from tests.hdl.rf.owf.bench import config
from tests.hdl.unstamped import inside
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf import bank, banks, read_side
from warpfile.hdl.rf.owf.file import OwfFile

PRIVATE, SHARED = 6, 10
KERNEL = {"registers": 16, "private_registers": PRIVATE, "shared_registers": SHARED, "cta_warps": 1, "paired_warps": 2}
#: Head beats, and whether they name a register from 6 on (docs/schemes/owf.md, section 5).
BEATS = (
    ({"source_valid": 0b001, "sources": [PRIVATE, 0, 0]}, True),
    ({"source_valid": 0b100, "sources": [0, 0, 15]}, True),
    ({"source_valid": 0b011, "sources": [PRIVATE - 1, 0, PRIVATE]}, False),
    ({"source_valid": 0b010, "sources": [0, PRIVATE, 0], "executes": 0}, True),
    ({"dest": PRIVATE - 1, "dest_count": 1}, False),
    ({"dest": PRIVATE, "dest_count": 1}, True),
    ({"dest": PRIVATE, "dest_count": 0}, False),
    ({"dest": 4, "dest_count": 2}, False),
    ({"dest": 4, "dest_count": 3}, True),
    ({"dest": 4, "dest_count": 4}, True),
    ({"dest": 0, "dest_count": 4}, False),
    ({}, False),
)


class Pins(BankRam):
    """The SRAM of a bank is its pins only."""

    def elaborate(self, platform):
        return Module()


def play(monkeypatch, scene, kind=OwfFile) -> None:
    """Run a scene with slots 0 and 1 as partners in CTA slots 0 and 1, slot 2 without one in CTA slot 2."""
    monkeypatch.setattr(bank, "BankRam", Pins)
    for module in (banks, read_side):
        monkeypatch.setattr(module, "stamp", inside)
    part = kind(config(warps=3, source_slots=3))

    async def bench(ctx) -> None:
        for name, value in KERNEL.items():
            ctx.set(part.kernel[name], value)
        ctx.set(part.kernel_valid, 1)
        assert ctx.get(part.kernel_ready) and not ctx.get(part.launch_ready)
        await ctx.tick()
        ctx.set(part.kernel_valid, 0)
        ctx.set(part.launch_valid, 1)
        for warp, base in enumerate((0, PRIVATE, 2 * PRIVATE + SHARED)):
            assert ctx.get(part.launch_ready)
            for name, value in (("warp", warp), ("base", base), ("cta", warp)):
                ctx.set(part.launch[name], value)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)
        ctx.set(part.accept, 1)
        await scene(ctx, part)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


async def issue(ctx, part, warp: int, beat: dict, exits: bool = False) -> None:
    ctx.set(part.heads[warp], beat)
    ctx.set(part.buffered, 1 << warp)
    ctx.set(part.offer, beat)
    ctx.set(part.offer_warp, 1 << warp)
    ctx.set(part.offer_valid, 1)
    ctx.set(part.exits, exits << warp)
    await ctx.tick()
    for port in (part.buffered, part.offer_warp, part.offer_valid, part.exits):
        ctx.set(port, 0)


def test_a_warp_waits_with_shared_registers_alone_until_the_owner_ends(monkeypatch) -> None:
    async def scene(ctx, part) -> None:
        assert (ctx.get(part.paired), ctx.get(part.owners), ctx.get(part.sharers)) == (0b011, 0, 0b011)
        for owner in (False, True):
            if owner:
                await issue(ctx, part, 0, {"dest": PRIVATE, "dest_count": 1})
                assert (ctx.get(part.owners), ctx.get(part.sharers)) == (0b001, 0b010)
            for beat, shared in BEATS:
                for warp in range(3):
                    ctx.set(part.heads[warp], beat)
                assert ctx.get(part.hold) == 0, "no beat, nothing to hold"
                ctx.set(part.buffered, 0b111)
                assert ctx.get(part.hold) == ctx.get(part.yields) == (owner and shared) << 1
                assert ctx.get(part.refuses) == 0
                ctx.set(part.buffered, 0)
        await issue(ctx, part, 0, {}, exits=True)
        ctx.set(part.buffered, 0b010)
        ctx.set(part.heads[1], BEATS[0][0])
        assert (ctx.get(part.hold), ctx.get(part.owners), ctx.get(part.paired)) == (0, 0, 0b010)

    play(monkeypatch, scene)


@pytest.mark.parametrize(("offer", "accept"), [(0, 1), (1, 0)])
def test_a_beat_that_does_not_issue_makes_no_owner(monkeypatch, offer, accept) -> None:
    async def scene(ctx, part) -> None:
        ctx.set(part.heads[0], BEATS[0][0])
        ctx.set(part.buffered, 1)
        ctx.set(part.offer_warp, offer)
        ctx.set(part.offer_valid, offer)
        ctx.set(part.accept, accept)
        assert ctx.get(part.owner_taken) == 0
        await ctx.tick()
        assert ctx.get(part.owners) == 0

    play(monkeypatch, scene)


def test_sources_and_results_are_counted_by_set(monkeypatch) -> None:
    async def scene(ctx, part) -> None:
        beat = {"source_valid": 0b101, "sources": [PRIVATE, PRIVATE, PRIVATE - 1]}
        for executes in (0, 1):
            ctx.set(part.heads[0], beat)
            ctx.set(part.buffered, 1)
            ctx.set(part.offer, beat | {"executes": executes})
            ctx.set(part.offer_warp, 1)
            ctx.set(part.offer_valid, 1)
            assert (ctx.get(part.shared_source), ctx.get(part.private_source)) == (executes, executes << 2)
            assert ctx.get(part.owner_taken) == 1
        for register, shared in ((PRIVATE - 1, 0), (PRIVATE, 1)):
            for name, value in (("warp", 0), ("register", register), ("writes", 1), ("mask", 1)):
                ctx.set(part.results[0][name], value)
            for store in (0, 1):
                ctx.set(part.result_valid, 1)
                ctx.set(part.result_store, store)
                found = ctx.get(part.shared_write), ctx.get(part.private_write)
                assert found == ((store, 0) if shared else (0, store))

    play(monkeypatch, scene)


class Open(OwfFile):
    """It holds no warp."""

    def _heads(self, m, kernel, owners):
        super()._heads(m, kernel, owners)
        m.d.comb += self.hold.eq(0)


def test_a_file_that_holds_nothing_is_found(monkeypatch) -> None:
    async def scene(ctx, part) -> None:
        await issue(ctx, part, 0, BEATS[5][0])
        ctx.set(part.heads[1], BEATS[5][0])
        ctx.set(part.buffered, 0b010)
        assert ctx.get(part.hold) == 0b010

    with pytest.raises(AssertionError):
        play(monkeypatch, scene, Open)
