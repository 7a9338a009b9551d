"""Proofs of which unit takes a beat, of what a slot keeps, and of the registers that are coming."""

from amaranth import Cat, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, passed_over, some_order
from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.collectors.sticky.choice import UnitChoice
from warpfile.hdl.collectors.sticky.coming import ComingRegisters
from warpfile.hdl.collectors.sticky.slot import KeptSlot
from warpfile.hdl.register_bits import columns
from warpfile.schemes import find
from warpfile.spec.schemes.sticky import StickyConfig


def configuration(**changes) -> StickyConfig:
    """A small machine."""
    small = {"warps": 2, "lanes": 1, "register_names": 8, "rows": 8, "collectors": 3, "source_slots": 3}
    return find("sticky").configuration("tiny", **small | {"payload_bits": 16} | changes)


class ChoiceProperties(ConfiguredProperties):
    """The unit allocated longest ago, of the free ones that fit or else of all."""

    def check(self, m, part):
        some_order(m, part.older, self._cfg.collectors)
        m.d.comb += Assume(at_most_one(part.wanted))
        fits, taken = Signal(self._cfg.collectors), part.allocate
        m.d.comb += fits.eq(select(part.wanted, list(part.fits)) & part.free)
        m.d.comb += [
            Assert(at_most_one(taken), "one unit takes the beat"),
            Assert(taken.any() == (part.wanted.any() & part.free.any()), "one does if any is free"),
            Assert((taken & ~part.free) == 0, "a unit that is not free takes no beat"),
            Assert(~(fits.any() & taken.any()) | (taken & fits).any(), "a unit that fits goes first"),
            Assert(~passed_over(Mux(fits.any(), fits, part.free), taken, part.older), "the one allocated longest ago"),
            Cover(taken[-1] & fits[-1] & passed_over(part.free, taken, part.older), "an older one does not fit"),
            Cover(taken[-1] & ~fits.any() & part.free.all(), "the last one is the oldest"),
        ]


class SlotProperties(ConfiguredProperties):
    """Any one register of any one warp: kept from a beat that reads it here to one that writes it, or the EXIT."""

    def check(self, m, part):
        cfg = self._cfg
        warp, register = constant(m, "warp", cfg.warps), constant(m, "register", cfg.register_names)
        head, offered = part.head, part.offered
        own = offered.bit_select(warp, 1)
        mine = (part.keeper & offered).any()
        aligned = Cat((head.dest_count > size) & head.dest[:bits].any() for size, bits in ((1, 1), (2, 2))).any()
        m.d.comb += [
            Assume(at_most_one(offered)),
            Assume((part.warp < cfg.warps) & (~part.replaces | (offered == decode(part.warp, cfg.warps)))),
            Assume((head.dest_count <= 4) & ~aligned),
        ]
        # What is shown is the beat that issues, if that is of the warp whose register is kept.
        wrote = head.executes & (head.dest <= part.source) & (part.source < head.dest + head.dest_count)
        same = head.valid & (head.source == part.source) & head.executes & (part.stays == ~wrote)
        m.d.comb += Assume(~(part.replaces & mine) | same)
        writes = head.executes & (head.dest <= register) & (register < head.dest + head.dest_count)
        self.holds = Signal(name="holds_shadow")
        reads = part.replaces & (part.warp == warp) & (part.source == register)
        with m.If(part.replaces):
            m.d.sync += self.holds.eq(reads & part.stays)
        with m.Elif(own & (writes | head.ends) & self.holds):
            m.d.sync += self.holds.eq(0)
        kept = part.kept & (part.owner == warp) & (part.name == register)
        asks = own & head.valid & (head.source == register)
        self.beats = Signal(2, name="beats_shadow")
        m.d.sync += self.beats.eq(Mux(part.replaces & (self.beats != 3), self.beats + 1, self.beats))
        m.d.comb += [
            Assert(kept == self.holds, "kept from a reader that does not write it to a writer or the EXIT"),
            Assert(~(asks & mine) | (part.hit == self.holds), "a hit is a register that is kept"),
            Assert(~part.hit | (mine & head.valid), "only a source of the warp hits"),
            Assert(part.overwritten == (mine & self._writes_name(part)), "overwritten by any beat that writes it"),
            Assert(part.fits == Mux(head.valid & (head.source == part.name), part.keeper, 0), "it fits its own warp"),
            Cover(part.hit & part.overwritten & part.replaces & (self.beats == 2), "a hit and its end in one beat"),
            Cover(self.holds & part.hit & (self.beats == 2) & (register == 5), "the second operand hits"),
        ]

    @staticmethod
    def _writes_name(part):
        head = part.head
        return head.executes & (head.dest <= part.name) & (part.name < head.dest + head.dest_count)


class ComingProperties(ConfiguredProperties):
    """Any one register: coming from a mark to the acceptance of its result."""

    def check(self, m, part):
        cfg = self._cfg
        register, width = constant(m, "register", cfg.register_names), columns(cfg)
        m.d.comb += [
            Assume(part.row == decode(part.register // width, len(part.row))),
            Assume(part.column == decode(part.register % width, width)),
        ]
        marked = any_of(
            mark & some.bit_select(register, 1) for mark, some in zip(part.marks, part.registers, strict=True)
        )
        came = part.own & part.arrives & (part.register == register)
        m.d.comb += Assume(~(marked & came))
        self.comes, self.register = Signal(name="comes_shadow"), register
        with m.If(marked):
            m.d.sync += self.comes.eq(1)
        with m.Elif(came):
            m.d.sync += self.comes.eq(0)
        for slot, source in enumerate(part.sources):
            same = source == register
            m.d.comb += [
                Assert(~same | (part.found[slot] == self.comes), "a source is coming from the mark to its result"),
                Assert(
                    part.meets[slot] == (part.found[slot] & part.own & (part.register == source)),
                    "a source meets the result of its register",
                ),
            ]
        m.d.comb += [
            Assert(part.coming.bit_select(register, 1) == self.comes, "its bit says so"),
            Cover(self.comes & part.meets.all() & ~part.arrives, "a result is held"),
            Cover(marked & (part.register == 3) & part.own & part.arrives, "one goes as another one comes"),
        ]


def _proof(kind, part, size: str, cfg: StickyConfig, broken: dict, *, regress: bool = False, reach: int = 6) -> Proof:
    def wrong(**changes):
        return lambda: kind(Miswired(part(cfg), **changes), cfg, helped=False)

    return Proof(
        f"{part.__module__.removeprefix('warpfile.')}.{part.__name__}",
        size,
        lambda: kind(part(cfg), cfg),
        {message: wrong(**change) for message, change in broken.items()},
        reach=reach,
        regress=regress,
    )


_CHOICE = {
    "a unit that is not free takes no beat": {"free": lambda free: free | 1},
    "a unit that fits goes first": {"fits": lambda fits: fits & ~1},
    "the one allocated longest ago": {"older": lambda older: older ^ 0b1010},
}
_SLOT = {
    "kept from a reader that does not write it to a writer or the EXIT": {"stays": lambda stays: stays | 1},
    "a hit is a register that is kept": {"hit": lambda hit: hit & 0},
    "overwritten by any beat that writes it": {"overwritten": lambda bit: bit & 0},
    "it fits its own warp": {"fits": lambda warps: warps | 1},
}
_COMING = {
    "a source is coming from the mark to its result": {"own": lambda own: own & 0},
    "a source meets the result of its register": {"register": lambda register: register & ~1},
}

PROOFS = (
    _proof(ChoiceProperties, UnitChoice, "of 3 units", configuration(), _CHOICE, reach=2),
    _proof(ChoiceProperties, UnitChoice, "of 5 units", configuration(collectors=5), {}, reach=2, regress=True),
    _proof(SlotProperties, KeptSlot, "2 warps of 8 registers", configuration(), _SLOT),
    _proof(SlotProperties, KeptSlot, "5 warps of 32 registers", configuration(warps=5, register_names=32, rows=128),
           {}, regress=True),
    _proof(ComingProperties, ComingRegisters, "of 8 registers, 2 ports", configuration(ports=6), _COMING),
    _proof(ComingProperties, ComingRegisters, "of 64 registers, 1 port", configuration(register_names=64, rows=64),
           {}, regress=True),
)  # fmt: skip
