"""Which entry of a caching collector unit gives way (docs/schemes/malekeh.md, section 3, step 1)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, oldest_one
from warpfile.hdl.count import unary_count
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig


def entry_members(cfg: MalekehConfig) -> dict[str, wiring.Member]:
    """What decides the order of replacement: empty entries, then far ones from ``start`` on, then near ones by age.

    empty, near, locked : In(unit_entries)   An empty entry is not near; locked ones are not replaceable.
    start : In(rank_bits)                    Where the search for a far entry begins.
    older : In(unit_entries ** 2)            Bit ``unit_entries * a + b``: a was used longer ago than b.
    """
    return {
        **{name: In(cfg.unit_entries) for name in ("empty", "near", "locked")},
        "start": In(cfg.rank_bits),
        "older": In(cfg.unit_entries**2),
    }


def behind_start(start: Value, entries: int) -> Value:
    """Entries that the search from ``start`` reaches only after the highest one."""
    return Cat(*(start > entry for entry in range(entries - 1)), Const(0, 1))


class FirstVictim(wiring.Component):
    """The first of the replaceable entries.

    Members
    -------
    See :func:`entry_members`.
    victim : Out(unit_entries)   One-hot; zero if every entry is locked.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__({**entry_members(cfg), "victim": Out(cfg.unit_entries)})

    def elaborate(self, platform) -> Module:
        """A choice among each kind of entry, then among the kinds."""
        m = Module()
        empty = named(m, "free_empty", self.empty & ~self.locked)
        near = named(m, "free_near", self.near & ~self.locked)
        far = named(m, "free_far", ~self.empty & ~self.near & ~self.locked)
        ahead = named(m, "far_ahead", far & ~behind_start(self.start, self._cfg.unit_entries))
        first_far = named(m, "first_far", Mux(ahead.any(), lowest_one(ahead), lowest_one(far)))
        kept = named(m, "first_kept", Mux(far.any(), first_far, oldest_one(near, self.older)))
        m.d.comb += self.victim.eq(Mux(empty.any(), lowest_one(empty), kept))
        return m


class Victims(wiring.Component):
    """An entry for every source that is not in the unit: the k-th of them takes the k-th replaceable entry.

    All entries are sorted at once: the place of an entry is the number of replaceable ones before it.

    Members
    -------
    See :func:`entry_members`: locked ones have a source.
    missing : In(source_slots)                   Sources that are in no entry.
    before : Out(unit_entries ** 2)              Bit ``unit_entries * a + b``: a is replaced before b, if both are.
    order : Out(unit_entries ** 2)               Bit ``unit_entries * e + k``: e is replaceable, as are k before it.
    numbers : Out(source_slots ** 2)             Bit ``source_slots * s + k``: s misses, as do k sources before it.
    victims : Out(source_slots * unit_entries)   Slot-major, one-hot per slot; zero for slots that miss nothing.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.unit_entries
        super().__init__(
            {
                **entry_members(cfg),
                "missing": In(slots),
                "before": Out(entries**2),
                "order": Out(entries**2),
                "numbers": Out(slots**2),
                "victims": Out(slots * entries),
            }
        )

    def elaborate(self, platform) -> Module:
        """Places of entries and numbers of misses, both one-hot, and where they are the same."""
        m = Module()
        entries = self._cfg.unit_entries
        self._places(m)
        self._numbers(m)
        for slot in range(self._cfg.source_slots):
            number = self.numbers.word_select(slot, self._cfg.source_slots)[: slot + 1]
            for entry in range(entries):
                place = self.order.word_select(entry, entries)[: slot + 1]
                m.d.comb += self.victims[slot * entries + entry].eq((place & number).any())
        return m

    def _numbers(self, m: Module) -> None:
        """Misses before each slot."""
        slots = self._cfg.source_slots
        for slot in range(slots):
            before = named(m, f"missing_before{slot}", unary_count(m, f"missing{slot}", list(self.missing[:slot])))
            m.d.comb += self.numbers.word_select(slot, slots).eq(before & self.missing[slot].replicate(slot + 1))

    def _places(self, m: Module) -> None:
        """Replaceable entries before each entry."""
        count = self._cfg.unit_entries
        entries, before = range(count), self._before(m)
        m.d.comb += [self.before[first * count + second].eq(value) for (first, second), value in before.items()]
        for entry in entries:
            earlier = [
                named(m, f"earlier{other}_{entry}", before[other, entry] & ~self.locked[other])
                for other in entries
                if other != entry
            ]
            place = unary_count(m, f"place{entry}", earlier)
            m.d.comb += self.order.word_select(entry, count).eq(place & (~self.locked[entry]).replicate(count))

    def _before(self, m: Module) -> dict[tuple[int, int], Value]:
        """Of every two entries, whether the one is replaced before the other, without locks."""
        entries, before = self._cfg.unit_entries, {}
        far = named(m, "far", ~self.empty & ~self.near)
        behind = named(m, "behind", behind_start(self.start, entries))
        for low in range(entries):
            for high in range(low + 1, entries):
                far_first = far[low] & (self.near[high] | ~behind[low] | behind[high])
                near_first = self.near[low] & self.near[high] & self.older[low * entries + high]
                first = self.empty[low] | ((far_first | near_first) & ~self.empty[high])
                before[low, high] = named(m, f"before{low}_{high}", first)
                before[high, low] = ~before[low, high]
        return before
