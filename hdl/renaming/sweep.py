"""Giving back what a warp that has ended still has (docs/schemes/corf.md, section 7)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, encode, lowest_one
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


class Sweep(wiring.Component):
    """Walks the entries of warps that have ended, one warp at a time, the lowest that waits first.

    Of each register the entry is read, and in a later cycle cleared. Which warp is walked is known from the cycle
    after the choice on.

    Members
    -------
    exits : In(warps)            One-hot, the warp whose EXIT issues.
    registers : In               Registers of a warp of the kernel, held.
    wants, clears : Out(1)       It wants a step: to read an entry, or to clear it.
    warp : Out(warp_bits), register_name : Out(register_bits)   Of that entry; the register is zero where no warp is
                                 walked.
    served : In(1)               The step is done.
    entry : In(entry_bits)       In the cycle after an entry was read: what it says.
    found : Out(entry_bits)      What the entry to be cleared says.
    swept : Out(warps)           Warps that wait or are walked; registers.
    retired : Out(warps)         One-hot, in the cycle of the last step of a warp.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "exits": In(cfg.warps),
                "registers": In(cfg.register_names.bit_length()),
                **{name: Out(1) for name in ("wants", "clears")},
                "warp": Out(cfg.warp_bits),
                "register_name": Out(cfg.register_bits),
                "served": In(1),
                "entry": In(cfg.mapping_bits),
                "found": Out(cfg.mapping_bits),
                **{name: Out(cfg.warps) for name in ("swept", "retired")},
            }
        )

    def elaborate(self, platform) -> Module:
        """The warp, the register, which of its steps is next, and the entry, which may have to be kept."""
        m = Module()
        fresh, kept = Signal(), Signal(self._cfg.mapping_bits, reset_less=True)
        last = self.served & self.clears & (self.register_name + 1 >= self.registers)
        m.d.comb += [
            self.found.eq(Mux(fresh, self.entry, kept)),
            self.retired.eq(decode(self.warp, self._cfg.warps) & last.replicate(self._cfg.warps)),
        ]
        m.d.sync += [
            fresh.eq(self.served & ~self.clears),
            kept.eq(self.found),
            self.swept.eq((self.swept | self.exits) & ~self.retired),
        ]
        lowest = named(m, "lowest", lowest_one(self.swept))
        with m.If(~self.wants):
            m.d.sync += [self.wants.eq(self.swept.any()), self.warp.eq(encode(lowest, self._cfg.warp_bits))]
        with m.Elif(self.served):
            m.d.sync += self.clears.eq(~self.clears)
            with m.If(self.clears):
                m.d.sync += self.register_name.eq(self.register_name + 1)
            with m.If(last):
                m.d.sync += [self.wants.eq(0), self.register_name.eq(0)]
        return m
