"""Giving back what a warp that has ended still has (docs/schemes/corf.md, section 7)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, encode, lowest_one
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


class Sweep(wiring.Component):
    """Reads the entries of the mapped registers of warps that have ended, one warp at a time, the lowest first.

    What is read is held until it is given up, and the next one is read in that cycle.

    Members
    -------
    exits : In(warps)            One-hot, the warp whose EXIT issues.
    waits : In(warps)            Warps whose sweep must not begin.
    begins : Out(warps), mapped : In(register_names)   One-hot, the warp that is swept from the next cycle on, and its
                                 mapped registers, which are none from then on.
    reads : Out(1), warp : Out(warp_bits), register_name : Out(register_bits)   It wants to read this entry; the
                                 register is zero where none is left.
    served : In(1), entry : In(entry_bits)   It is read; in the cycle after, what it says.
    held : Out(1), found : Out(entry_bits)   It holds what an entry said.
    frees : In(1)                That is given up in this cycle.
    kill_waits : In(1)           A dead register waits for what is held; nothing is read in the next cycle.
    swept : Out(warps)           Warps that wait or are swept; registers.
    retired : Out(warps)         One-hot, in the last cycle of a sweep.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **{name: In(cfg.warps) for name in ("exits", "waits")},
                **{name: Out(cfg.warps) for name in ("begins", "swept", "retired")},
                "mapped": In(cfg.register_names),
                **{name: Out(1) for name in ("reads", "held")},
                "warp": Out(cfg.warp_bits),
                "register_name": Out(cfg.register_bits),
                **{name: In(1) for name in ("served", "frees", "kill_waits")},
                "entry": In(cfg.mapping_bits),
                "found": Out(cfg.mapping_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The warp, its registers that are left, and the entry, which may have to be kept."""
        m = Module()
        sweeps, waited, fresh = (Signal(name=name) for name in ("sweeps", "waited", "fresh"))
        left = Signal(self._cfg.register_names, name="left")
        kept = Signal(self._cfg.mapping_bits, name="kept", reset_less=True)
        lowest = named(m, "lowest", lowest_one(left))
        some, room = named(m, "some", left.any()), named(m, "room", ~self.held | self.frees)
        ends = named(m, "ends", sweeps & ~some & room)
        can_begin = named(m, "can_begin", (self.swept & ~self.waits) & (~sweeps).replicate(self._cfg.warps))
        m.d.comb += [
            self.begins.eq(lowest_one(can_begin)),
            self.reads.eq(some & room & ~waited),
            self.register_name.eq(encode(lowest, self._cfg.register_bits)),
            self.found.eq(Mux(fresh, self.entry, kept)),
            self.retired.eq(decode(self.warp, self._cfg.warps) & ends.replicate(self._cfg.warps)),
        ]
        m.d.sync += [
            fresh.eq(self.served),
            kept.eq(self.found),
            waited.eq(self.kill_waits),
            self.held.eq(self.served | ~room),
            left.eq(Mux(sweeps, left & ~(lowest & self.served.replicate(len(lowest))), self.mapped)),
            sweeps.eq(Mux(sweeps, ~ends, can_begin.any())),
            self.swept.eq((self.swept | self.exits) & ~self.retired),
        ]
        with m.If(~sweeps):
            m.d.sync += self.warp.eq(encode(self.begins, self._cfg.warp_bits))
        return m
