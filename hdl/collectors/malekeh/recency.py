"""Order in which the entries of a caching collector unit were used."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig


class Recency(wiring.Component):
    """A rank per entry, 0 the least recently used; always a permutation.

    In one cycle first a result uses an entry, then the sources of a beat use theirs in slot order.

    Members
    -------
    result : In(unit_entries)                   Entry that a result enters, one-hot or zero.
    used : In(source_slots)                     Slots whose source uses an entry.
    sources : In(source_slots * unit_entries)   These entries, slot-major; all different, zero for slots not used.
    rank : Out(ArrayLayout)                     At the start of the cycle.
    older : Out(unit_entries ** 2)              Bit ``unit_entries * a + b``: a was used longer ago than b.
    older_then : Out(unit_entries ** 2)         The same after the result.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        entries, slots = cfg.unit_entries, cfg.source_slots
        super().__init__(
            {
                "result": In(entries),
                "used": In(slots),
                "sources": In(slots * entries),
                "rank": Out(data.ArrayLayout(cfg.rank_bits, entries), init=range(entries)),
                "older": Out(entries**2),
                "older_then": Out(entries**2),
            }
        )

    def elaborate(self, platform) -> Module:
        """Comparisons of all pairs; every entry counts the used ones below it, which leave their places."""
        m = Module()
        entries = range(self._cfg.unit_entries)
        self._compare(m)
        by_source = [self.sources[entry :: len(entries)] for entry in entries]
        touched = named(m, "touched", self.result | Cat(slots.any() for slots in by_source))
        from_result = named(m, "rank_of_result", self._newest(list(self.used)))
        from_source = [
            named(m, f"rank_of_source{slot}", self._newest(list(self.used[slot + 1 :])))
            for slot in range(self._cfg.source_slots)
        ]
        for entry in entries:
            below = [touched[other] & self.older[other * len(entries) + entry] for other in entries if other != entry]
            kept = Mux(self.result[entry], from_result, self.rank[entry] - count_ones(below))
            moved = Mux(by_source[entry].any(), select(by_source[entry], from_source), kept)
            m.d.sync += self.rank[entry].eq(moved)
        return m

    def _compare(self, m: Module) -> None:
        entries = self._cfg.unit_entries
        for low in range(entries):
            for high in range(low + 1, entries):
                older = named(m, f"older{low}_{high}", self.rank[low] < self.rank[high])
                for first, second, before in ((low, high, older), (high, low, ~older)):
                    then = ~self.result[first] & (before | self.result[second])
                    m.d.comb += self.older[first * entries + second].eq(before)
                    m.d.comb += self.older_then[first * entries + second].eq(then)

    def _newest(self, later: list[Value]) -> Value:
        """Rank of an entry after which so many others are used: the highest one, less their number."""
        return (self._cfg.unit_entries - 1 - count_ones(later))[: self._cfg.rank_bits]
