"""Which entry of a caching collector unit gives way (docs/schemes/malekeh.md, section 3, step 1)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, oldest_one
from warpfile.hdl.count import count_ones
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
    See :func:`entry_members`.
    misses : In(source_slots)                    Sources that are not there.
    victims : Out(source_slots * unit_entries)   Slot-major, one-hot per slot; zero for slots that miss nothing.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots = cfg.source_slots
        super().__init__({**entry_members(cfg), "misses": In(slots), "victims": Out(slots * cfg.unit_entries)})

    def elaborate(self, platform) -> Module:
        """Places of entries, numbers of misses, one comparison per slot and entry."""
        m = Module()
        entries = range(self._cfg.unit_entries)
        before = self._order(m)
        places = []
        for entry in entries:
            earlier = [before[other, entry] & ~self.locked[other] for other in entries if other != entry]
            places.append(named(m, f"place{entry}", count_ones(earlier)))
        for slot in range(self._cfg.source_slots):
            number = named(m, f"number{slot}", count_ones(list(self.misses[:slot])))
            chosen = Cat(~self.locked[entry] & (places[entry] == number) for entry in entries)
            taken = chosen & self.misses[slot].replicate(len(entries))
            m.d.comb += self.victims.word_select(slot, len(entries)).eq(taken)
        return m

    def _order(self, m: Module) -> dict[tuple[int, int], Value]:
        """Of every two entries, whether the one is replaced before the other."""
        entries, before = self._cfg.unit_entries, {}
        far = named(m, "far", ~self.empty & ~self.near)
        behind = named(m, "behind", behind_start(self.start, entries))
        for low in range(entries):
            for high in range(low + 1, entries):
                far_first = far[low] & ~self.empty[high] & (self.near[high] | ~behind[low] | behind[high])
                near_first = self.near[low] & self.near[high] & self.older[low * entries + high]
                before[low, high] = named(m, f"before{low}_{high}", self.empty[low] | far_first | near_first)
                before[high, low] = ~before[low, high]
        return before
