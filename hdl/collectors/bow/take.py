"""Entries that the sources of a beat take in an operand window, and those that give way for them."""

from amaranth import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import oldest_one
from warpfile.hdl.collectors.bow.fit import entries_layout, fit_layout
from warpfile.hdl.count import count_ones
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
        """Number of usable entries before each entry, of misses before each source, one comparison per pair."""
        m = Module()
        entries = range(self._cfg.window_entries)
        places = [named(m, f"place{entry}", count_ones(list(self.usable[:entry]))) for entry in entries]
        for slot in range(self._cfg.source_slots):
            number = named(m, f"number{slot}", count_ones(list(self.miss[:slot])))
            same = Cat(self.usable[entry] & (places[entry] == number) for entry in entries)
            wanted = same & self.miss[slot].replicate(len(entries))
            m.d.comb += self.taken.word_select(slot, len(entries)).eq(wanted)
        return m


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
