"""The file at its ports: head beats that it holds and refuses, places, absent ones, errors."""

import functools

import pytest
from amaranth import Module
from amaranth.sim import Simulator

from tests.hdl.rf.regmutex.bench import config, row_of
from tests.hdl.unstamped import inside
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf import bank, banks, read_side
from warpfile.hdl.rf.regmutex.file import RegMutexFile
from warpfile.spec.beat import SCHEME_PINS
from warpfile.spec.trace import Drain, Kind

BASE, EXTENDED, POOL = 5, 3, 40
KERNEL = {"registers": 8, "base_registers": BASE, "extended_registers": EXTENDED, "pool": POOL, "sections": 2}
ACQ, REL = Drain.NONE, Drain.DISPATCHED


class Pins(BankRam):
    """The SRAM of a bank is its pins only."""

    def elaborate(self, platform):
        return Module()


@pytest.fixture(autouse=True)
def whole(monkeypatch):
    """The file is one tree, which the simulator can run."""
    monkeypatch.setattr(bank, "BankRam", Pins)
    for module in (banks, read_side):
        monkeypatch.setattr(module, "stamp", inside)


class Driver:
    """Drives a file as frame, collectors and environment would."""

    def __init__(self, ctx, part):
        self.ctx, self.part = ctx, part

    async def begin(self, warps):
        """A kernel is taken and its warps are launched."""
        ctx, part = self.ctx, self.part
        ctx.set(part.accept, 1)
        for name, value in KERNEL.items():
            ctx.set(part.kernel[name], value)
        ctx.set(part.kernel_valid, 1)
        assert ctx.get(part.kernel_ready) and not ctx.get(part.launch_ready)
        await ctx.tick()
        ctx.set(part.kernel_valid, 0)
        for warp in range(warps):
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            ctx.set(part.launch.base, warp * BASE)
            assert ctx.get(part.launch_ready)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)

    def head(self, warp, drain):
        """A pseudo-instruction is at the head of a warp's buffer."""
        self.ctx.set(self.part.heads[warp].kind, SCHEME_PINS)
        self.ctx.set(self.part.heads[warp].drain, drain.value)
        self.ctx.set(self.part.buffered, self.ctx.get(self.part.buffered) | 1 << warp)

    async def choose(self, warp, beat=None, operand=None):
        """The scheduler takes a warp. Returns whether its head beat issues; ``operand`` comes in the next cycle."""
        ctx, part = self.ctx, self.part
        assert not ctx.get(part.hold) >> warp & 1
        refused = ctx.get(part.refuses) >> warp & 1
        ctx.set(part.refused, refused << warp)
        ctx.set(part.offer_valid, not refused)
        ctx.set(part.offer_warp, 0 if refused else 1 << warp)
        ctx.set(part.offer, beat or {"drain": ctx.get(part.heads[warp].drain)})
        await ctx.tick()
        ctx.set(part.refused, 0)
        ctx.set(part.offer_valid, 0)
        ctx.set(part.offer_warp, 0)
        ctx.set(part.buffered, ctx.get(part.buffered) & ~(0 if refused else 1 << warp))
        if operand is not None and not refused:
            ctx.set(part.operand, operand)
            ctx.set(part.operand_valid, 1)
            await ctx.tick()
            ctx.set(part.operand_valid, 0)
        return not refused

    async def issue(self, warp, drain):
        """An ACQ or a REL that is the head beat now, with the operand that goes with it."""
        self.head(warp, drain)
        return await self.choose(warp, operand=drain is ACQ)

    async def place(self, warp, register):
        """Number of the place of a register."""
        ctx, part = self.ctx, self.part
        ctx.set(part.offer_warp, 1 << warp)
        ctx.set(part.offer.sources[0], register)
        await ctx.delay(1e-9)
        place = part.source_places[0]
        found = row_of(ctx, place) % config().rows * config().banks + ctx.get(place.bank)
        ctx.set(part.offer_warp, 0)
        return found


@functools.cache
def stage(**changes):
    """A simulator of a file with one lane, and a list for the scene that it shall run; building it takes long."""
    part, scenes = RegMutexFile(config(lanes=1, warps=4, **changes)), []

    async def bench(ctx):
        await scenes[-1](ctx, part, Driver(ctx, part))

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    return simulator, scenes


def play(scene, **changes):
    """Run a scene from reset on."""
    simulator, scenes = stage(**changes)
    if scenes:
        simulator.reset()
    scenes.append(scene)
    simulator.run()


def test_sections_are_multiplied_out_from_the_lowest_on():
    async def scene(ctx, part, drive):
        await drive.begin(4)
        for warp, section in ((2, 0), (0, 1)):
            assert await drive.issue(warp, ACQ)
            for register in range(BASE, BASE + EXTENDED):
                assert await drive.place(warp, register) == POOL + section * EXTENDED + register - BASE
        assert await drive.place(3, BASE - 1) == 4 * BASE - 1
        assert ctx.get(part.acquired) == 0b0101 and ctx.get(part.stray) == 0
        assert await drive.issue(2, REL)
        assert await drive.issue(1, ACQ)
        assert await drive.place(1, BASE) == POOL

    play(scene)


def test_who_is_refused_is_held_and_yields_until_a_section_is_free():
    async def scene(ctx, part, drive):
        await drive.begin(4)
        assert await drive.issue(0, ACQ) and await drive.issue(1, ACQ)
        assert not await drive.issue(3, ACQ)
        assert (ctx.get(part.hold), ctx.get(part.yields), ctx.get(part.section_waiting)) == (0b1000, 0b1000, 0b1000)
        assert await drive.issue(1, REL)
        assert (ctx.get(part.hold), ctx.get(part.yields), ctx.get(part.section_waiting)) == (0, 0, 0b1000)
        assert await drive.choose(3)
        assert ctx.get(part.section_waiting) == 0 and ctx.get(part.acquired) == 0b1001

    play(scene)


@pytest.mark.parametrize(("pending", "held"), [(0, 0), ((1 << BASE) - 1, 0), (1 << BASE, 1), (1 << 15, 1)])
def test_a_rel_waits_for_pending_extended_registers_alone(pending, held):
    async def scene(ctx, part, drive):
        await drive.begin(2)
        drive.head(1, REL)
        ctx.set(part.pending[1], pending)
        assert ctx.get(part.hold) == 0  # it has nothing to give back
        assert await drive.issue(1, ACQ)
        drive.head(1, REL)
        assert (ctx.get(part.hold), ctx.get(part.section_draining), ctx.get(part.yields)) == (held << 1, held << 1, 0)
        ctx.set(part.pending[1], 0)
        ctx.set(part.pending[0], pending)
        assert await drive.choose(1, operand=0)
        assert ctx.get(part.acquired) == 0 and ctx.get(part.stray) == 0

    play(scene)


def test_each_register_of_the_extended_set_holds_the_rel_of_its_warp():
    async def scene(ctx, part, drive):
        await drive.begin(4)
        names = range(config().register_names)
        for warp in range(4):
            assert await drive.issue(warp, ACQ)
            drive.head(warp, REL)
            held = []
            for register in names:
                ctx.set(part.pending[warp], 1 << register)
                held.append(ctx.get(part.hold))
            ctx.set(part.pending[warp], 0)
            assert held == [(register >= BASE) << warp for register in names]
            assert await drive.choose(warp, operand=0)

    play(scene)


def accepted(ctx, part, warp, register):
    """Which of two results of one register are accepted in this cycle, on ports 0 and 1."""
    for port in (0, 1):
        for name, value in (("warp", warp), ("register", register), ("writes", 1), ("mask", 1)):
            ctx.set(part.results[port][name], value)
    ctx.set(part.result_valid, 0b11)
    ctx.set(part.result_store, 0b11)
    found = ctx.get(part.result_accept)
    assert ctx.get(part.completed) == found
    return found, ctx.get(part.extended_write), ctx.get(part.base_write)


def test_results_for_absent_places_are_accepted_beside_all_ports():
    async def scene(ctx, part, drive):
        await drive.begin(2)
        assert accepted(ctx, part, 1, BASE) == (0b11, 0, 0)
        assert accepted(ctx, part, 1, BASE - 1) == (0b10, 0, 0b10)
        ctx.set(part.result_valid, 0)
        ctx.set(part.result_store, 0)
        assert await drive.issue(1, ACQ)
        assert accepted(ctx, part, 1, BASE) == (0b10, 0b10, 0)

    play(scene)


ALONE = {"executes": 1, "source_valid": 0, "dest_count": 0}


@pytest.mark.parametrize(
    ("beat", "stray"),
    [
        ({"source_valid": 0b10, "sources": [0, BASE]}, 1),
        ({"source_valid": 0b01, "sources": [BASE - 1, BASE]}, 0),
        ({"source_valid": 0b10, "sources": [0, BASE], "executes": 0}, 0),
        ({"dest": BASE, "dest_count": 1}, 1),
        ({"dest": 15, "dest_count": 0}, 0),
        ({"dest": BASE - 1, "dest_count": 1}, 0),
        ({"dest": 4, "dest_count": 4}, 1),
        ({"dest": 12, "dest_count": 4}, 1),
    ],
)
def test_an_access_without_a_section_is_an_error(beat, stray):
    async def scene(ctx, part, drive):
        await drive.begin(2)
        assert await drive.choose(1, ALONE | beat)
        assert ctx.get(part.stray) == stray

    async def with_section(ctx, part, drive):
        await drive.begin(2)
        assert await drive.issue(1, ACQ)
        assert await drive.choose(1, ALONE | beat)
        assert ctx.get(part.stray) == 0

    play(scene)
    play(with_section)
    if "dest" in beat or stray:
        play(with_section, sharing="pairs", pair_state="pair")


@pytest.mark.parametrize(("drain", "operand", "stray"), [(ACQ, 1, 0), (ACQ, 0, 1), (REL, 0, 0), (REL, 1, 1)])
def test_an_operand_that_belies_its_drain_class_is_an_error_for_ever(drain, operand, stray):
    async def scene(ctx, part, drive):
        await drive.begin(2)
        drive.head(1, drain)
        assert await drive.choose(1, operand=operand)
        assert ctx.get(part.stray) == stray
        assert await drive.issue(1, ACQ)
        assert ctx.get(part.stray) == stray

    play(scene)


def test_one_bit_per_pair_knows_that_one_of_two_holds():
    async def scene(ctx, part, drive):
        await drive.begin(4)
        assert await drive.issue(3, ACQ)
        assert ctx.get(part.acquired) == 0b10
        assert not await drive.issue(2, ACQ)
        assert await drive.choose(3, {"kind": Kind.EXIT.value})  # gives nothing back
        assert ctx.get(part.acquired) == 0b10 and ctx.get(part.hold) == 0b0100
        drive.head(3, REL)
        assert await drive.choose(3, operand=0)
        assert ctx.get(part.acquired) == 0 and await drive.choose(2)

    play(scene, sharing="pairs", pair_state="pair")
