"""What it means for the warps that the offered beat leaves its buffer."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout
from warpfile.spec.config import Config
from warpfile.spec.trace import Kind


class Departure(wiring.Component):
    """Whose beat leaves in this cycle, and what it was (docs/machine.md, section 4). Combinational.

    Which beat is offered is known late, so every head is asked before it.

    Members
    -------
    kinds : In(ArrayLayout)      Kind of each warp's head beat.
    offered : In(warps)          Warp of the offered beat, one-hot or zero.
    accept : In(1)               The collectors take it.
    leaves, exits, arrives : Out(warps)   One-hot or zero: whose beat leaves; it was an EXIT; it was a barrier.
    """

    def __init__(self, cfg: Config) -> None:
        self._warps = cfg.warps
        kinds = data.ArrayLayout(beat_layout(cfg)["kind"].shape, cfg.warps)
        super().__init__(
            {
                "kinds": In(kinds),
                "offered": In(cfg.warps),
                "accept": In(1),
                **{name: Out(cfg.warps) for name in ("leaves", "exits", "arrives")},
            }
        )

    def elaborate(self, platform) -> Module:
        """One comparison per warp and kind."""
        m = Module()
        m.d.comb += self.leaves.eq(self.offered & self.accept.replicate(self._warps))
        for whose, kind in ((self.exits, Kind.EXIT), (self.arrives, Kind.BARRIER)):
            m.d.comb += whose.eq(self.leaves & Cat(head == kind.value for head in self.kinds))
        return m
