"""Proof of what becomes of a result in an operand window."""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.bow.windows import STATES, WindowProperties, one_state, proof
from tests.formal.properties import Proof, at_most_one, constant, passed_over, some_order
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.bow.result import ResultChoice


class ResultProperties(WindowProperties):
    """The table of the page, row by row."""

    def check(self, m, part):
        self._promised(m, part)
        now, through = part.entries, self._cfg.window_writes == "through"
        met = self._named & ~now.free
        there, leaves = met.any(), (met & now.evicting).any()
        had = now.free.any() | (now.clean & ~part.pinned).any()
        considered, write_class = part.considered, self._class
        full, late = (considered & part.full).any(), (considered & part.late).any()
        to_window, to_bank = write_class[1], write_class[0]
        fits = to_window & ~late & (there | had)
        #: Condition; what the window does, whether a bank is written, whether the result is dropped.
        rows = (
            (~full & there & ~leaves, "merge", through, False),
            (~full & leaves, "stay", False, False),
            (~full & late & ~to_bank, "none", False, True),
            (~full, "none", True, False),
            (~to_window & to_bank, "free", True, False),
            (~to_window, "free", False, True),
            (fits, "store", through, False),
            (~late, "none", True, False),
            (to_bank, "free", True, False),
            (Const(1, 1), "free", False, True),
        )
        before = Const(0, 1)
        for condition, effect, banked, dropped in rows:
            row = condition & ~before
            before = before | condition
            asked = part.bank_request == Mux(Const(banked, 1), considered, 0)
            same = asked & (part.dropped == dropped)
            m.d.comb += Assert(~row | same, "bank and drop are those of the first row that fits")
            m.d.comb += Assert(~row | self._effect(part, met, effect), "entries change by the first row that fits")
        self._entry(m, part, met)
        m.d.comb += Cover(
            part.had[-1] & (part.entries.free == 0) & now.clean.all(), "the last of clean entries gives way"
        )
        if not through:
            m.d.comb += Cover(full & late & (write_class != 0) & there, "a late result finds an entry")

    def _promised(self, m, part):
        """One entry at most has the register; it is neither on its way from a bank nor pinned."""
        now, cfg = part.entries, self._cfg
        some_order(m, part.older, cfg.window_entries)
        m.d.comb += [Assume(one_state(now, entry)) for entry in self._entries]
        ports = range(cfg.write_ports)
        m.d.comb += Assume(at_most_one(part.considered) & part.considered.any())
        self._named = Signal(cfg.window_entries, name="named_by_considered")
        self._class = Signal(2, name="class_of_considered")
        names = [part.named.word_select(port, cfg.window_entries) for port in ports]
        m.d.comb += self._named.eq(any_of(Mux(part.considered[port], names[port], 0) for port in ports))
        m.d.comb += self._class.eq(any_of(Mux(part.considered[port], part.write_class[port], 0) for port in ports))
        for name in names:
            m.d.comb += Assume(at_most_one(name & ~now.free))
            m.d.comb += Assume((name & ~now.free & (now.filling | part.pinned)) == 0)
        if cfg.window_writes != "hints":
            m.d.comb += [Assume(part.write_class[port] == 3) for port in ports]
        if cfg.window_writes == "through":
            m.d.comb += Assume((now.dirty | now.evicting) == 0)

    def _effect(self, part, met: Value, effect: str) -> Value:
        """The change of the result's own entry."""
        then, through = part.then, self._cfg.window_writes == "through"
        none, written = part.stored == 0, part.merged == 0
        if effect == "store":
            stored, owed = part.stored, self._class[0]
            state = then.clean if through else then.dirty
            entry = stored.any() & ((stored & ~state) == 0) & (through | ((stored & then.owed).any() == owed))
            return written & entry & ((stored & then.stale).any() == part.outdated) & (~met.any() | (stored == met))
        if effect == "free":
            return none & written & ((met & ~then.free) == 0)
        if effect == "none":
            return none & written & (then.as_value() == part.entries.as_value())
        state = then.evicting if effect == "stay" else then.clean if through else then.dirty & then.owed
        return none & (part.merged == met) & ((met & ~state) == 0)

    def _entry(self, m, part, met: Value) -> None:
        """Which entry a result gets, and that all others are left alone."""
        now, then, entry = part.entries, part.then, constant(m, "entry", self._cfg.window_entries)
        others = ~(met | part.had).bit_select(entry, 1)
        kept = [
            getattr(then, n).bit_select(entry, 1) == getattr(now, n).bit_select(entry, 1)
            for n in (*STATES, "owed", "stale")
        ]
        old, free = now.clean & ~part.pinned, now.free
        lower = [part.had[high] & free[low] for high in self._entries for low in range(high)]
        m.d.comb += [
            Assert(~others | Cat(kept).all(), "other entries stay as they are"),
            Assert((part.had & part.pinned & ~free) == 0, "a pinned entry never gives way"),
            Assert(~part.had.any() | ~met.any(), "a result has one entry"),
            Assert((part.had & ~(free | old)) == 0, "only a free or clean entry gives way"),
            Assert(~free.any() | ((part.had & ~free) == 0), "free entries go first"),
            Assert(~any_of(lower), "the lowest free one"),
            Assert(free.any() | ~passed_over(old, part.had, part.older), "of clean ones the lowest rank"),
        ]
        m.d.comb += [Assert(one_state(then, e), "an entry is in one state") for e in self._entries]


_CHOICE = {
    "bank and drop are those of the first row that fits": {"late": lambda late: Const(0)},
    "a pinned entry never gives way": {"pinned": lambda pinned: pinned & ~1},
}
_THROUGH = {"entries change by the first row that fits": {"full": lambda full: Const(1)}}


def _choice(writes: str, wrong: dict, *, entries: int = 4, regress: bool = False) -> Proof:
    size = f"of {entries} entries, {writes}"
    changes = {"window_entries": entries, "window_writes": writes}
    return proof(ResultChoice, ResultProperties, size, wrong, regress=regress, **changes)


PROOFS = (
    _choice("hints", _CHOICE),
    _choice("through", _THROUGH),
    _choice("hints", _CHOICE, entries=7, regress=True),
    _choice("back", _THROUGH, entries=7, regress=True),
)
