"""What becomes of a result in an operand window (docs/schemes/bow.md, section 3, step 1)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, oldest_one, select
from warpfile.hdl.collectors.bow.fit import entries_layout
from warpfile.hdl.collectors.bow.ports import writes_back
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class ResultChoice(wiring.Component):
    """The row of the table that fits a result, combinationally, and the entries as they are if it is accepted.

    Whether a bank is asked is found for every port by itself, because that bank's answer decides all else.

    Members
    -------
    considered : In(ports)          The port whose result it is, one-hot or zero; of all ports:
    full, late : In(ports), write_class : In(ArrayLayout)   The result writes all live lanes; its beat has left the
                                    window; where the compiler wants it.
    named : In(ports * window_entries)   Port-major: entries with its register.
    outdated : In(1)                The beat of the considered result is the one that leaves the window next.
    entries : In(entries_layout(cfg))   All entries at the start of the cycle.
    pinned : In(window_entries), older : In(window_entries ** 2)   Those that a beat is to read; their order.
    bank_request : Out(ports)       The considered result goes to its bank.
    then : Out(entries_layout(cfg))     All entries after the result.
    candidate : Out(window_entries)     Entry that a result would get anew, whatever it is.
    had : Out(window_entries)       Entry that it gets anew.
    stored, merged : Out(window_entries)   Entry that it overwrites as a whole, or in its lanes.
    dropped : Out(1)                It is dropped.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._through = not writes_back(cfg)
        self._ports = range(cfg.write_ports)
        entries, ports = cfg.window_entries, cfg.write_ports
        super().__init__(
            {
                **{name: In(ports) for name in ("considered", "full", "late")},
                "write_class": In(data.ArrayLayout(2, ports)),
                "outdated": In(1),
                "named": In(ports * entries),
                "entries": In(entries_layout(cfg)),
                "pinned": In(entries),
                "older": In(entries**2),
                "bank_request": Out(ports),
                "then": Out(entries_layout(cfg)),
                **{name: Out(entries) for name in ("candidate", "had", "stored", "merged")},
                "dropped": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """Its entry or a new one, the row, the entries after it."""
        m = Module()
        entries, considered, size = self.entries, self.considered, len(self.pinned)
        held = named(m, "held", entries.clean | entries.dirty | entries.evicting)
        names = [self.named.word_select(port, size) for port in self._ports]
        replaceable = named(m, "replaceable", entries.clean & ~self.pinned)
        self._obtainable = named(m, "obtainable", (entries.free | replaceable).any())
        self._ask(m, held, names)
        full, late = (considered & self.full).any(), (considered & self.late).any()
        write_class = named(m, "considered_class", select(considered, list(self.write_class)))
        met = named(m, "met", select(considered, names) & held)
        has_entry = named(m, "has_entry", met.any())
        kept, lost = self._row(full, late, write_class, has_entry)
        target = named(m, "target", Mux(has_entry, met, self.candidate))
        m.d.comb += [
            self.candidate.eq(self._new_entry(replaceable)),
            self.stored.eq(target & named(m, "kept", kept).replicate(size)),
            self.had.eq(self.stored & ~met),
            self.merged.eq(met & ~full.replicate(size)),
            self.dropped.eq(lost),
        ]
        self._after(m, named(m, "freed", met & (full & ~kept).replicate(size)), write_class[0])
        return m

    def _ask(self, m: Module, held: Value, names: list[Value]) -> None:
        banked = []
        for port in self._ports:
            has_entry = (names[port] & held).any()
            kept, lost = self._row(self.full[port], self.late[port], self.write_class[port], has_entry)
            in_window = Const(0) if self._through else kept | (~self.full[port] & has_entry)
            banked.append(named(m, f"banked{port}", ~lost & ~in_window))
        m.d.comb += self.bank_request.eq(self.considered & Cat(banked))

    def _row(self, full: Value, late: Value, write_class: Value, has_entry: Value) -> tuple[Value, Value]:
        """Whether a whole result is stored, and whether the result is dropped."""
        to_bank, to_window = write_class[0], write_class[1]
        kept = full & to_window & ~late & (has_entry | self._obtainable)
        return kept, Mux(full, ~(to_window & ~late), ~has_entry & late) & ~to_bank

    def _new_entry(self, replaceable: Value) -> Value:
        oldest = oldest_one(replaceable, self.older)
        return Mux(self.entries.free.any(), lowest_one(self.entries.free), oldest)

    def _after(self, m: Module, freed: Value, owed: Value) -> None:
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
            then.owed.eq((now.owed & ~self.stored) | dirtied | (self.stored & owed.replicate(size))),
            then.stale.eq((now.stale & ~self.stored) | (self.stored & self.outdated.replicate(size))),
        ]
