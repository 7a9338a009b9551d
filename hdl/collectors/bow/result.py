"""What becomes of a result in an operand window (docs/schemes/bow.md, section 3, step 1)."""

from amaranth import Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, oldest_one
from warpfile.hdl.collectors.bow.fit import entries_layout
from warpfile.hdl.collectors.bow.ports import writes_back
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class ResultChoice(wiring.Component):
    """The row of the table that fits a result, combinationally, and the entries as they are if it is accepted.

    Members
    -------
    full : In(1), write_class : In(2)   It writes all live lanes; where the compiler wants it.
    late : In(1)                    Its beat has left the window.
    outdated : In(1)                Its beat is the one that leaves the window next.
    named : In(window_entries)      Entries with its register.
    entries : In(entries_layout(cfg))   All entries at the start of the cycle.
    pinned : In(window_entries), older : In(window_entries ** 2)   Those that a beat is to read; their order.
    then : Out(entries_layout(cfg))     All entries after the result.
    had : Out(window_entries)       Entry that it gets anew.
    stored, merged : Out(window_entries)   Entry that it overwrites as a whole, or in its lanes.
    banked, dropped : Out(1)        It goes to its bank, nobody takes it.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._through = not writes_back(cfg)
        entries = cfg.window_entries
        super().__init__(
            {
                **{name: In(1) for name in ("full", "late", "outdated")},
                "write_class": In(2),
                "named": In(entries),
                "entries": In(entries_layout(cfg)),
                "pinned": In(entries),
                "older": In(entries**2),
                "then": Out(entries_layout(cfg)),
                **{name: Out(entries) for name in ("had", "stored", "merged")},
                **{name: Out(1) for name in ("banked", "dropped")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Its entry or a new one, the row, the entries after it."""
        m = Module()
        entries, to_bank, to_window = self.entries, self.write_class[0], self.write_class[1]
        met = named(m, "met", self.named & (entries.clean | entries.dirty | entries.evicting))
        has_entry = named(m, "has_entry", met.any())
        target = named(m, "target", Mux(has_entry, met, self._new_entry(m)))
        kept = named(m, "kept", self.full & to_window & ~self.late & target.any())
        lost = Mux(self.full, ~(to_window & ~self.late), ~has_entry & self.late) & ~to_bank
        in_window = kept | (~self.full & has_entry)
        m.d.comb += [
            self.stored.eq(target & kept.replicate(len(target))),
            self.had.eq(self.stored & ~met),
            self.merged.eq(met & ~self.full.replicate(len(met))),
            self.dropped.eq(lost),
            self.banked.eq(~lost & (Const(1) if self._through else ~in_window)),
        ]
        self._after(m, named(m, "freed", met & (self.full & ~kept).replicate(len(met))))
        return m

    def _new_entry(self, m: Module) -> Value:
        oldest = oldest_one(named(m, "replaceable", self.entries.clean & ~self.pinned), self.older)
        return Mux(self.entries.free.any(), lowest_one(self.entries.free), oldest)

    def _after(self, m: Module, freed: Value) -> None:
        now, then, size = self.entries, self.then, len(freed)
        kept = named(m, "untouched", ~freed & ~self.stored)
        dirtied = named(m, "dirtied", Const(0, size) if self._through else self.merged & (now.clean | now.dirty))
        clean, dirty = (self.stored, Const(0, size)) if self._through else (Const(0, size), self.stored)
        m.d.comb += [
            then.free.eq((now.free & ~self.stored) | freed),
            then.filling.eq(now.filling),
            then.clean.eq((now.clean & kept & ~dirtied) | clean),
            then.dirty.eq((now.dirty & kept) | dirtied | dirty),
            then.evicting.eq(now.evicting & kept),
            then.owed.eq((now.owed & ~self.stored) | dirtied | (self.stored & self.write_class[0].replicate(size))),
            then.stale.eq((now.stale & ~self.stored) | (self.stored & self.outdated.replicate(size))),
        ]
