"""Which unit takes the offered beat (docs/schemes/sticky.md, section 5, step 4)."""

from amaranth import Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.schemes.sticky import StickyConfig


class UnitChoice(wiring.Component):
    """Of the free units that fit the beat, or else of all free units, the one that was allocated longest ago.

    Combinational. The unit of every warp's head beat is found beside the choice of the warp.

    Members
    -------
    free : In(units)             Units that may take a beat.
    older : In(units ** 2)       Order of allocation.
    fits : In(ArrayLayout)       Per warp the units that keep a source of its head beat, free or not.
    wanted : In(warps)           Warp whose beat takes a unit, one-hot or zero.
    allocate : Out(units)        Unit that takes it, one-hot or zero.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        units = cfg.collectors
        super().__init__(
            {
                "free": In(units),
                "older": In(units**2),
                "fits": In(data.ArrayLayout(units, cfg.warps)),
                "wanted": In(cfg.warps),
                "allocate": Out(units),
            }
        )

    def elaborate(self, platform) -> Module:
        """One choice among all free units, and one per warp among those that fit it."""
        m = Module()
        oldest = named(m, "oldest", oldest_one(self.free, self.older))
        following = []
        for warp, units in enumerate(self.fits):
            fitting = named(m, f"fitting{warp}", units & self.free)
            chosen = Mux(fitting.any(), oldest_one(fitting, self.older), oldest)
            following.append(named(m, f"following{warp}", chosen))
        m.d.comb += self.allocate.eq(select(self.wanted, following))
        return m
