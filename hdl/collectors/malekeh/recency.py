"""Order in which the entries of a caching collector unit were used."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig


def ranks(older: Value, entries: int) -> list[Value]:
    """Of every entry the number of those that were used longer ago; ``older`` as :class:`Recency` gives it."""
    return [count_ones([older[entries * other + entry] for other in range(entries)]) for entry in range(entries)]


class Recency(wiring.Component):
    """Order of the last use of the entries, as a triangle of bits.

    In one cycle a result uses an entry, or the sources of a beat use theirs in slot order.

    Members
    -------
    result : In(unit_entries)          Entry that a result would enter, one-hot or zero; it does if no beat comes.
    allocate, own : In(1)              A beat uses entries: ``used`` if the unit is its own, else ``fresh``.
    used : In(unit_entries), earlier : In(unit_entries ** 2)   One a before another one b > a if bit
                                       ``unit_entries * a + b`` is set.
    fresh : In(unit_entries)           A lower entry before a higher one.
    older : Out(unit_entries ** 2)     Bit ``unit_entries * a + b``: a was used longer ago than b.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        entries = cfg.unit_entries
        super().__init__(
            {
                "result": In(entries),
                "allocate": In(1),
                "own": In(1),
                "used": In(entries),
                "earlier": In(entries**2),
                "fresh": In(entries),
                "older": Out(entries**2),
            }
        )

    def elaborate(self, platform) -> Module:
        """One register per pair of entries; which beat comes is known last, so that it chooses at the end."""
        m = Module()
        count, used = self._cfg.unit_entries, self.used
        for low in range(count):
            for high in range(low + 1, count):
                order = Signal(name=f"first{low}_older{high}", init=1)
                then = named(m, f"then{low}_{high}", ~self.result[low] & (order | self.result[high]))
                own = Mux(used[high], ~used[low] | self.earlier[low * count + high], ~used[low] & order)
                fresh = self.fresh[high] | (~self.fresh[low] & order)
                m.d.sync += order.eq(Mux(self.allocate, Mux(self.own, own, fresh), then))
                m.d.comb += self.older[low * count + high].eq(order)
                m.d.comb += self.older[high * count + low].eq(~order)
        return m
