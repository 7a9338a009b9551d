"""Registers whose results are coming (docs/schemes/sticky.md, sections 3 and 4)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.register_bits import bit_at, columns, decoded, lines_of
from warpfile.spec.schemes.sticky import StickyConfig


class ComingRegisters(wiring.Component):
    """A bit per register of one warp: its beat has left by a port that forwards, and its result is not there.

    The sources of the head beat are looked up before it is known which warp is chosen.

    Members (F: ``cfg.near_slots``, N: ports that forward)
    -------
    sources : In(ArrayLayout)    Registers of the head beat's near sources, F of them.
    found : Out(F)               Sources that are coming.
    meets : Out(F)               Sources that are coming and the register of the result.
    marks : In(N)                Beats of this warp that leave and have their destinations come.
    registers : In(ArrayLayout)  A bit per register that these write.
    own : In(1)                  The result that forwards has a register of this warp.
    register : In(register_bits)   That register.
    row, column : In             The same register, both one-hot.
    arrives : In(1)              The result is accepted; late.
    coming : Out(register_names)   State.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        near, ports = cfg.near_slots, sum(cfg.forwarding_ports)
        super().__init__(
            {
                "sources": In(data.ArrayLayout(cfg.register_bits, near)),
                "found": Out(near),
                "meets": Out(near),
                "marks": In(ports),
                "registers": In(data.ArrayLayout(cfg.register_names, ports)),
                "own": In(1),
                "register": In(cfg.register_bits),
                "row": In(cfg.register_names // columns(cfg)),
                "column": In(columns(cfg)),
                "arrives": In(1),
                "coming": Out(cfg.register_names),
            }
        )

    def elaborate(self, platform) -> Module:
        """The bits, and where they are looked up. None is set and cleared in one cycle."""
        m = Module()
        bits = self.coming
        lines = lines_of(self._cfg, bits)
        for slot, source in enumerate(self.sources):
            row, column = decoded(m, self._cfg, f"source{slot}", source)
            m.d.comb += self.found[slot].eq(bit_at(m, f"source{slot}", lines, row, column))
        same = Cat(source == self.register for source in self.sources)
        m.d.comb += self.meets.eq(self.found & same & self.own.replicate(len(same)))
        ends = named(m, "ends", self.row & (self.own & self.arrives).replicate(len(self.row)))
        cleared = named(m, "cleared", Cat(self.column & end.replicate(len(self.column)) for end in ends))
        marked = any_of(
            registers & mark.replicate(len(bits)) for mark, registers in zip(self.marks, self.registers, strict=True)
        )
        m.d.sync += bits.eq((bits & ~cleared) | marked)
        return m
