"""Proofs of the mapped bits and the sweep: what a warp leaves is given up, once, and before it retires."""

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from warpfile.hdl.renaming.mapped_bits import MappedBits
from warpfile.hdl.renaming.sweep import Sweep
from warpfile.schemes import SCHEMES
from warpfile.spec.schemes.packed import PackedConfig

WARPS, NAMES = 2, 8


def config() -> PackedConfig:
    """Few warps and registers."""
    small = {"banks": 2, "rows": 4, "ports": 1, "write_back_ports": 1, "lanes": 1, "warps": WARPS}
    return SCHEMES["packing"].configuration("tiny", **small, register_names=NAMES)


class SweepProperties(ConfiguredProperties):
    """Warps end in any order with any registers; the table serves, and what is held is given up, at any time."""

    def check(self, m, part):
        self.named = name = constant(m, "name", NAMES)
        served = part.served & (part.register_name == name)
        #: Of one register: it was mapped when the sweep began and is yet to be read; it is held.
        self.owed, self.own, self.said = Signal(name="owed"), Signal(name="own"), Signal.like(part.entry, name="said")
        came = past(m, part.served, "served")
        self.now = Mux(came, part.entry, self.said)
        m.d.sync += self.said.eq(self.now)
        with m.If(part.begins.any()):
            m.d.sync += self.owed.eq(part.mapped.bit_select(name, 1))
        with m.Elif(served):
            m.d.sync += self.owed.eq(0)
        with m.If(served):
            m.d.sync += self.own.eq(1)
        with m.Elif(part.frees):
            m.d.sync += self.own.eq(0)
        m.d.comb += [
            Assume(at_most_one(part.exits) & ((part.exits & part.swept) == 0)),
            Assume(~part.served | part.reads),
            Assume(~part.frees | part.held),
            Assume(part.begins.any() | ~part.mapped.any()),
            Assert(~served | self.owed, "an entry that is read was mapped when the sweep began, and is read once"),
            Assert(
                ~part.retired.any() | ~(self.owed | (self.own & ~part.frees)), "a warp that retires has no rows left"
            ),
            Assert(~self.own | part.held, "the entry that was read is held until it is released"),
            Assert(~part.held | (part.found == self.now), "the held value is the one read last"),
            Assert(((part.begins | part.retired) & ~part.swept) == 0, "only warps that have ended are swept"),
            Assert(at_most_one(part.begins) & at_most_one(part.retired), "one warp at a time"),
            Assert((part.begins & part.waits) == 0, "a warp that must wait is not swept"),
            Assert(~(past(m, part.kill_waits, "kill_waits") & part.reads), "nothing is read behind a kill that waited"),
            Assert(~(part.reads & part.held & ~part.frees), "nothing is read while something stays held"),
        ]
        waited = Signal(name="waited_once")
        m.d.sync += waited.eq((waited | (part.kill_waits & part.held)) & ~part.begins.any())
        m.d.comb += Cover(part.retired.any() & waited & self.own, "a warp retires although a kill waited")

    def help(self, m, part, state):
        """What is left and whether a warp is swept."""
        sweeps, left = state("sweeps"), state("left")
        decoded = Cat(part.warp == warp for warp in range(WARPS))
        m.d.comb += [
            Assert(sweeps | ~(left.any() | part.held | self.owed), "nothing is left where none is swept"),
            Assert(~sweeps | (decoded & part.swept).any(), "who is swept has ended"),
            Assert(state("waited") == past(m, part.kill_waits, "waits_known"), "whether a kill waited is known"),
            Assert(state("fresh") == past(m, part.served, "served_known"), "whether something was read is known"),
            Assert(~part.held | state("fresh") | (state("kept") == self.said), "what was read is kept"),
            Assert(~state("fresh") | part.held, "what was just read is held"),
        ]
        for number in range(NAMES):
            with m.If(self.named == number):
                m.d.comb += Assert(left[number] == self.owed, "what is left is what is owed")


class MappedProperties(ConfiguredProperties):
    """Any registers come and go one by one, and all of a warp at once; one reader of the bits."""

    def check(self, m, part):
        warp, name = constant(m, "warp", WARPS), constant(m, "name", NAMES)
        own = Signal(name="own")
        maps, unmaps = (
            bit & (whose == warp) & (which == name)
            for bit, whose, which in (
                (part.maps, part.map_warp, part.map_register),
                (part.unmaps, part.unmap_warp, part.unmap_register),
            )
        )
        taken = part.taken.bit_select(warp, 1)
        m.d.sync += own.eq((own | maps) & ~unmaps & ~taken)
        reads = (part.warps[0] == warp) & (part.registers[0] == name)
        m.d.comb += [
            Assume(at_most_one(part.taken) & ~(maps & (unmaps | taken))),
            Assert(~reads | (part.mapped == own), "a reader sees whether its register is mapped"),
            Assert(~taken | (part.bits_taken.bit_select(name, 1) == own), "a warp leaves what is mapped"),
            Cover(taken & own & (part.bits_taken != 1 << name), "a warp leaves several registers"),
        ]
        self._bit = lambda rows: Cat(rows).bit_select(warp * NAMES + name, 1) == own

    def help(self, m, part, state):
        """The bit is there."""
        m.d.comb += Assert(self._bit([state(f"mapped{warp}") for warp in range(WARPS)]), "a bit is as it was left")


def _sweep(**changes):
    return lambda: SweepProperties(Miswired(Sweep(config()), **changes), config(), helped=False)


def _mapped(**changes):
    return lambda: MappedProperties(Miswired(MappedBits(config(), [1]), **changes), config(), helped=False)


PROOFS = (
    Proof(
        "hdl.renaming.sweep",
        f"{WARPS} warps of {NAMES} registers",
        lambda: SweepProperties(Sweep(config()), config()),
        {
            "a warp that retires has no rows left": _sweep(mapped=lambda value: value & ~1),
            "an entry that is read was mapped when the sweep began, and is read once": _sweep(
                mapped=lambda value: value | 1
            ),
            "the entry that was read is held until it is released": _sweep(frees=lambda value: Const(1, 1)),
            "the held value is the one read last": _sweep(entry=lambda value: ~value),
            "only warps that have ended are swept": _sweep(begins=lambda value: value | 1),
            "a warp that must wait is not swept": _sweep(waits=lambda value: value & 0),
            "nothing is read behind a kill that waited": _sweep(kill_waits=lambda value: value & 0),
            "nothing is read while something stays held": _sweep(frees=lambda value: Const(1, 1)),
        },
        reach=8,
    ),
    Proof(
        "hdl.renaming.mapped_bits",
        f"{WARPS} warps of {NAMES} registers",
        lambda: MappedProperties(MappedBits(config(), [1]), config()),
        {
            "a reader sees whether its register is mapped": _mapped(unmaps=lambda value: value & 0),
            "a warp leaves what is mapped": _mapped(maps=lambda value: value & 0),
        },
    ),
)
