"""Entries that the sources of a beat take in an operand window, and those that give way for them."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.collectors.bow.fit import entries_layout, fit_layout
from warpfile.hdl.count import at_least_before
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class TakeEntries(wiring.Component):
    """The k-th source that misses takes the k-th usable entry, combinationally.

    Members
    -------
    miss : In(source_slots), usable : In(window_entries)   Sources without an entry, and entries that may be taken.
    taken : Out(source_slots * window_entries)   Slot-major, one-hot per source; zero for sources that miss nothing.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.window_entries
        super().__init__({"miss": In(slots), "usable": In(entries), "taken": Out(slots * entries)})

    def elaborate(self, platform) -> Module:
        """Whether k entries are usable before each entry, and k sources miss before each source, for every k."""
        m = Module()
        slots, size = range(self._cfg.source_slots), self._cfg.window_entries
        places = at_least_before(m, "place", list(self.usable), len(slots))[:-1]
        numbers = at_least_before(m, "number", list(self.miss), len(slots))[:-1]
        kth = [named(m, f"usable{k}", self.usable & Cat(_exactly(place, k) for place in places)) for k in slots]
        for slot in slots:
            wants = Cat(self.miss[slot] & _exactly(numbers[slot], k) for k in slots)
            m.d.comb += self.taken.word_select(slot, size).eq(select(wants, kth))
        return m


def _exactly(counts: list[Value], count: int) -> Value:
    """Whether so many are set, from :func:`at_least`; the count may be above the largest possible."""
    known = [Const(1, 1), *counts, Const(0, 1)]
    return known[count] & ~known[count + 1] if count <= len(counts) else Const(0, 1)


class MakeRoom(wiring.Component):
    """Entries that have to leave because a beat does not fit (docs/schemes/bow.md, step 5b), combinationally.

    Members
    -------
    wanted : In(1)                  A beat waits for entries.
    entries : In(entries_layout(cfg)), fit : In(fit_layout(cfg)), older : In(window_entries ** 2)   After the result.
    pinned, late : In(window_entries)   ``late``: entries of its sources that must be written before they can be read.
    urgent : Out(window_entries)    Those, if there are any.
    victim : Out(window_entries)    Otherwise one entry, if there are too few.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        entries = cfg.window_entries
        super().__init__(
            {
                "wanted": In(1),
                "entries": In(entries_layout(cfg)),
                "fit": In(fit_layout(cfg)),
                "older": In(entries**2),
                **{name: In(entries) for name in ("pinned", "late")},
                **{name: Out(entries) for name in ("urgent", "victim")},
            }
        )

    def elaborate(self, platform) -> Module:
        """The oldest of the stale entries, or else of all that the beat does not use."""
        m = Module()
        entries, size = self.entries, self._cfg.window_entries
        hits = Cat(self.fit.hit[entry::size].any() for entry in range(size))
        loose = named(m, "loose", (entries.clean | entries.dirty) & ~self.pinned & ~hits & ~self.fit.usable)
        stale = named(m, "loose_stale", loose & entries.stale)
        oldest = oldest_one(named(m, "candidates", Mux(stale.any(), stale, loose)), self.older)
        needs_victim = self.wanted & ~self.late.any() & self.fit.short
        m.d.comb += [
            self.urgent.eq(self.late & self.wanted.replicate(size)),
            self.victim.eq(oldest & needs_victim.replicate(size)),
        ]
        return m
