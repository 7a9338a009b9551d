"""Which unit each bank reads for, where a unit is served once and all banks go by the same order of the units."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Value
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
    (the wave front of Tamir and Chi 1993). Its longest path is a cell per bank and rank. Cells whose bank and rank have
    the same sum do not depend on each other: a wave, one vector of each signal, the lowest bank first.

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
        banks, ranks = range(self._banks), range(self._units)
        asks = [Cat((self.requests[bank] & units).any() for units in order) for bank in banks]
        asks = [named(m, f"bank{bank}_asks", one) for bank, one in enumerate(asks)]
        left: list[Value] = [self.free[bank] for bank in banks]
        waits: list[Value] = [Const(1)] * self._units
        taken: list[dict[int, Value]] = [{} for _ in banks]
        for wave in range(self._banks + self._units - 1):
            cells = [(bank, wave - bank) for bank in banks if wave - bank in ranks]
            asked = Cat(asks[bank][rank] for bank, rank in cells)
            waiting, free = Cat(waits[rank] for _, rank in cells), Cat(left[bank] for bank, _ in cells)
            meets = named(m, f"wave{wave}_meets", asked & waiting)
            takes = named(m, f"wave{wave}_takes", meets & free)
            waiting = named(m, f"wave{wave}_waits", waiting & ~(asked & free))
            free = named(m, f"wave{wave}_left", free & ~meets)
            for place, (bank, rank) in enumerate(cells):
                taken[bank][rank], waits[rank], left[bank] = takes[place], waiting[place], free[place]
        m.d.comb += [
            self.picked[bank].eq(select([cells[rank] for rank in ranks], order)) for bank, cells in enumerate(taken)
        ]
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
