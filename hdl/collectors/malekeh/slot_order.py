"""Which of two entries of a caching collector unit serves the lower source slot."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.count import unary_count
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig


class SlotOrder(wiring.Component):
    """Order of the entries that the sources of a beat use, by slots.

    It could be read off the slots' entries, but those are known last. Of two entries that misses take the one that is
    replaced first has the lower slot; of one that a source was found in and one that a miss takes, the first has it iff
    fewer misses are before that source than replaceable entries before the other.

    Members
    -------
    found : In(source_slots * unit_entries)   Entries that sources were found in, slot-major.
    missing : In(source_slots), taken : In(unit_entries)   As in :class:`SourceLookup` and :class:`Victims`.
    before, order : In(unit_entries ** 2)     Likewise.
    earlier : Out(unit_entries ** 2)          Bit ``unit_entries * a + b``: a < b, both are used, a by a lower slot.
                                              Any value if one is not used.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        entries, slots = cfg.unit_entries, cfg.source_slots
        super().__init__(
            {
                "found": In(slots * entries),
                "missing": In(slots),
                "taken": In(entries),
                **{name: In(entries**2) for name in ("before", "order")},
                "earlier": Out(entries**2),
            }
        )

    def elaborate(self, platform) -> Module:
        """One of four cases for every two entries."""
        m = Module()
        entries, slots = self._cfg.unit_entries, range(self._cfg.source_slots)
        found = [Cat(self.found[slot * entries + entry] for slot in slots) for entry in range(entries)]
        counts = [unary_count(m, f"missing_before{slot}", list(self.missing[:slot])) for slot in slots]
        most = [Cat(count[: number + 1].any() for number in slots) for count in counts]
        # Bit k: at most k misses are before the slot of an entry.
        fewer = [named(m, f"fewer{entry}", select(mine, most)) for entry, mine in enumerate(found)]
        for low in range(entries):
            for high in range(low + 1, entries):
                both_found = any_of(found[low][slot] & found[high][slot + 1 :].any() for slot in slots)
                high_taken = Mux(self.taken[low], self.before[low * entries + high], self._first(fewer[low], high))
                high_found = Mux(self.taken[low], ~self._first(fewer[high], low), both_found)
                earlier = Mux(self.taken[high], high_taken, high_found)
                m.d.comb += self.earlier[low * entries + high].eq(earlier)
        return m

    def _first(self, fewer: Value, entry: int) -> Value:
        """Whether the source of a found entry comes before that of an entry which a miss takes."""
        places = self.order.word_select(entry, self._cfg.unit_entries)[: self._cfg.source_slots]
        return (places & fewer).any()
