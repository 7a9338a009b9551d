"""What a near slot of a collector unit keeps: the tag of its operand (docs/schemes/sticky.md, sections 3 and 5)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.clock_gate import take
from warpfile.hdl.collectors.held import register
from warpfile.hdl.naming import named
from warpfile.hdl.pending_entries import group_mask, writes
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.trace import Kind


def view_layout(cfg: StickyConfig) -> data.StructLayout:
    """What a slot looks at in the head beat of its warp."""
    registers = {"source": cfg.register_bits, "dest": cfg.register_bits}
    return data.StructLayout({"valid": 1, **registers, "dest_count": 3, "executes": 1, "ends": 1})


def viewed(head: data.View, slot: int) -> Cat:
    """The same of one warp's head beat, for the slot of that number; layout: :func:`view_layout`."""
    ends = head.kind == Kind.EXIT.value
    return Cat(head.source_valid[slot], head.sources[slot], head.dest, head.dest_count, head.executes, ends)


class KeptSlot(wiring.Component):
    """Register and warp of one slot's operand, and whether they are known to be the operand's.

    The head beat of the warp is looked at before it is known which warp is chosen.

    Members
    -------
    keeper : Out(warps)          Warp whose register is kept, one-hot; zero if none is.
    head : In(view_layout(cfg))  The head beat of that warp; zero if none is kept.
    offered : In(warps)          Warp of the beat that issues, one-hot or zero.
    fits : Out(warps)            Warp whose head beat finds its source in the slot, one-hot or zero.
    hit : Out(1)                 The beat that issues finds its source here.
    overwritten : Out(1)         The beat that issues writes the register that is kept.
    replaces : In(1)             The beat that issues takes the unit and has a source here.
    warp : In(warp_bits), source : In(register_bits)   Of the beat that issues.
    stays : In(1)                The beat that issues does not write its source for this slot.
    kept : Out(1)                State: the operand is that of name and owner.
    owner : Out(warp_bits), name : Out(register_bits)   State: of the last beat that had a source here, whether that is
                                 kept or not.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        warps = {name: (Out if name in ("keeper", "fits") else In)(cfg.warps) for name in ("keeper", "offered", "fits")}
        super().__init__(
            {
                **warps,
                "head": In(view_layout(cfg)),
                **{name: Out(1) for name in ("hit", "overwritten", "kept")},
                **{name: In(1) for name in ("replaces", "stays")},
                "warp": In(cfg.warp_bits),
                "source": In(cfg.register_bits),
                "owner": Out(cfg.warp_bits),
                "name": Out(cfg.register_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """One comparison with a source and one with destinations, then the rules of section 5, step 6."""
        m = Module()
        warps = self._cfg.warps
        found = named(m, "found", self.head.valid & (self.head.source == self.name))
        mask = named(m, "dest_mask", group_mask(self.head))
        written = named(m, "written", self.head.executes & writes(self.head.dest, mask, self.name))
        mine = named(m, "mine", (self.keeper & self.offered).any())
        m.d.comb += [
            self.keeper.eq(decode(self.owner, warps) & self.kept.replicate(warps)),
            self.fits.eq(self.keeper & found.replicate(warps)),
            self.hit.eq(mine & found),
            self.overwritten.eq(mine & written),
        ]
        with m.If(self.replaces):
            m.d.sync += self.kept.eq(self.stays)
        with m.Elif(mine & (written | self.head.ends)):
            m.d.sync += self.kept.eq(0)
        held = [register(m, "name", self.name), register(m, "owner", self.owner)]
        take(m, self._cfg, "tag", held, (self.replaces, [self.source, self.warp]))
        return m
