"""Greedy, then the youngest (docs/schemes/modern.md, section 11)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring

from warpfile.hdl.arbiter import Ages, oldest_one
from warpfile.hdl.scheduler.contract import scheduler_members
from warpfile.spec.config import Config


class Cggty(wiring.Component):
    """The warp that issued last while it can, otherwise the warp that was launched last.

    Ports: :func:`scheduler_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(scheduler_members(cfg))

    def elaborate(self, platform) -> Module:
        """Launch order as an age triangle, read the other way round; the last issuer as a one-hot register."""
        m = Module()
        count = self._cfg.warps
        m.submodules.ages = ages = Ages(count)
        last, greedy = Signal(count), Signal(count)
        younger = Cat(ages.older[count * other + warp] for warp in range(count) for other in range(count))
        m.d.comb += [
            ages.arrive.eq(self.launch),
            greedy.eq(self.eligible & last),
            self.grant.eq(Mux(greedy.any(), greedy, oldest_one(self.eligible, younger))),
        ]
        with m.If(self.taken):
            m.d.sync += last.eq(self.grant & ~self.exit)
        return m
