"""Warps in the order in which they began to wait (docs/schemes/regmutex.md, section 5)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.config import Config


class Waiters(wiring.Component):
    """A FIFO of warp numbers. A warp is in it once at most, so it never overflows.

    Members
    -------
    push : In(1), warp : In(warp_bits)   This warp comes last, from the next cycle on.
    pop : In(1)                          The first one leaves; not in the cycle of a push.
    valid : Out(1), first : Out(warp_bits)   A warp waits, and which one waits longest.
    count : Out                          How many wait.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "push": In(1),
                "warp": In(cfg.warp_bits),
                "pop": In(1),
                "valid": Out(1),
                "first": Out(cfg.warp_bits),
                "count": Out(range(cfg.warps + 1)),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register, so that the first one is always in the same place."""
        m = Module()
        entries = [Signal(self._cfg.warp_bits, name=f"entry{k}", reset_less=True) for k in range(self._cfg.warps)]
        for number, (entry, behind) in enumerate(zip(entries, (*entries[1:], entries[-1]), strict=True)):
            with m.If(self.pop):
                m.d.sync += entry.eq(behind)
            with m.Elif(self.push & (self.count == number)):
                m.d.sync += entry.eq(self.warp)
        m.d.sync += self.count.eq(Mux(self.pop, self.count - 1, self.count + self.push))
        m.d.comb += [self.valid.eq(self.count.any()), self.first.eq(entries[0])]
        return m
