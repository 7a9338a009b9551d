"""Which unit each bank reads for, where a unit is served once and all banks go by the same order of the units."""

from collections.abc import Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def is_matched(cfg: Config) -> bool:
    """Whether the banks' choices are made by :class:`Matching`."""
    return cfg.collect == "one" and cfg.bank_arbitration == "oldest"


class Matching(wiring.Component):
    """Banks choose in index order, each the oldest unit that asks it and that no lower bank serves.

    One after the other, the choices are as long a path as the banks are many times a choice among all units. All banks
    go by one order, so the units are put in that order first, of which registers alone decide. What is left is a grid
    of banks and ranks, in which a bank and a unit meet in one cell: whichever is still free goes on to the next one
    (the wave front of Tamir and Chi 1993). Its longest path is a cell per bank and rank.

    Members
    -------
    requests : In(ArrayLayout)     Units that ask, of each bank.
    free : In(banks)               Banks whose port can read.
    older : In(units ** 2)         Order of allocation, as :class:`hdl.arbiter.Ages` gives it.
    picked : Out(ArrayLayout)      Unit that each bank serves, one-hot; zero if none. In the same cycle.
    """

    def __init__(self, units: int, banks: int) -> None:
        self._units, self._banks = units, banks
        asked = data.ArrayLayout(units, banks)
        super().__init__(
            {"requests": In(asked), "free": In(banks), "older": In(units**2), "picked": Out(asked)},
        )

    def elaborate(self, platform) -> Module:
        """Units in order, the grid, and its cells as units again."""
        m = Module()
        order = self._order(m)
        left: list[Value] = [self.free[bank] for bank in range(self._banks)]
        asks = [[(self.requests[bank] & units).any() for units in order] for bank in range(self._banks)]
        taken: list[list[Value]] = [[] for _ in range(self._banks)]
        for rank in range(self._units):
            waits: Value | None = None
            for bank in range(self._banks):
                wanted = named(m, f"asks{bank}_{rank}", asks[bank][rank])
                meets = wanted if waits is None else named(m, f"meets{bank}_{rank}", wanted & waits)
                taken[bank].append(named(m, f"takes{bank}_{rank}", meets & left[bank]))
                takes = ~(wanted & left[bank])
                waits = named(m, f"waits{bank}_{rank}", takes if waits is None else waits & takes)
                left[bank] = named(m, f"left{bank}_{rank}", left[bank] & ~meets)
        m.d.comb += [self.picked[bank].eq(select(cells, order)) for bank, cells in enumerate(taken)]
        return m

    def _order(self, m: Module) -> Sequence[Value]:
        """Per rank, the oldest first, the unit that has it, one-hot."""
        count = self._units
        ranks = []
        for unit in range(count):
            older = [self.older[other * count + unit] for other in range(count) if other != unit]
            rank = named(m, f"rank{unit}", count_ones(older))
            ranks.append(named(m, f"has{unit}", decode(rank, count)))
        return [named(m, f"of_rank{rank}", Cat(one[rank] for one in ranks)) for rank in range(count)]
