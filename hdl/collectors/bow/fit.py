"""Do the sources of a warp's next beat fit into its operand window (docs/schemes/bow.md, section 3)?"""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.count import at_least
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


def entries_layout(cfg: BowConfig) -> data.StructLayout:
    """Entries of a window as some step of a cycle sees them, one bit per entry.

    An entry is in one of the first five states. ``owed`` counts for dirty ones, ``stale`` for clean and dirty ones.
    """
    names = ("free", "filling", "clean", "dirty", "evicting", "owed", "stale")
    return data.StructLayout(dict.fromkeys(names, cfg.window_entries))


def fit_layout(cfg: BowConfig) -> data.StructLayout:
    """Answer of :class:`SourceFit`.

    ``hit``: slot-major, the entry that a source finds, one-hot. ``miss``: sources that find none. ``usable``: entries
    that a source may take when the beat enters. ``fits``: it can enter. ``short``: there would be too few usable
    entries even if those in flight to a bank were free.
    """
    entries, slots = cfg.window_entries, cfg.source_slots
    return data.StructLayout({"hit": slots * entries, "miss": slots, "usable": entries, "fits": 1, "short": 1})


def margin_layout() -> data.StructLayout:
    """What a count of entries decides: :func:`fit_layout`."""
    return data.StructLayout({"fits": 1, "short": 1})


class SourceFit(wiring.Component):
    """Compares what the head beat needs with what a window has, combinationally.

    Members
    -------
    entries : In(entries_layout(cfg))   All entries.
    used : In(source_slots)        Sources of the beat.
    named : In(source_slots * window_entries)   Slot-major: the entry has the register of the source.
    fit : Out(fit_layout(cfg))     What was found.
    urgent : Out(window_entries)   Entries of used sources that the bank must have before it can be asked.
    leaving : Out(1)               A used source has such an entry, or one that is already in flight.
    fewer, more : Out(margin_layout())   ``fits`` and ``short`` with one usable entry less, and with one more.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "entries": In(entries_layout(cfg)),
                "used": In(cfg.source_slots),
                "named": In(cfg.source_slots * cfg.window_entries),
                "fit": Out(fit_layout(cfg)),
                "urgent": Out(cfg.window_entries),
                "leaving": Out(1),
                "fewer": Out(margin_layout()),
                "more": Out(margin_layout()),
            }
        )

    def elaborate(self, platform) -> Module:
        """Hits, then two counts and their comparison."""
        m = Module()
        entries, fit, size = self.entries, self.fit, self._cfg.window_entries
        late = named(m, "late", entries.dirty & entries.owed & entries.stale)
        found = named(m, "found", entries.filling | ((entries.clean | entries.dirty) & ~entries.stale))
        wanted = [self._wanted(slot) for slot in range(self._cfg.source_slots)]
        m.d.comb += [
            fit.hit.eq(Cat(entry & found for entry in wanted)),
            fit.miss.eq(Cat(self.used[n] & ~fit.hit.word_select(n, size).any() for n in range(len(wanted)))),
            fit.usable.eq(entries.free | (entries.stale & (entries.clean | (entries.dirty & ~entries.owed)))),
            self.urgent.eq(any_of(wanted) & late),
            self.leaving.eq((any_of(wanted) & (late | entries.evicting)).any()),
        ]
        slots = self._cfg.source_slots
        misses = at_least(m, "misses", list(fit.miss), slots)
        usable = at_least(m, "usable_entries", list(fit.usable), slots + 1)
        coming = at_least(m, "coming_entries", list(fit.usable | entries.evicting), slots + 1)
        for answer, spare in ((self.fewer, -1), (fit, 0), (self.more, 1)):
            m.d.comb += [
                answer.fits.eq(~self.leaving & _enough(usable, misses, spare)),
                answer.short.eq(~_enough(coming, misses, spare)),
            ]
        return m

    def _wanted(self, slot: int) -> Value:
        size = self._cfg.window_entries
        return self.named.word_select(slot, size) & self.used[slot].replicate(size)


def _enough(there: list[Value], wanted: list[Value], spare: int) -> Value:
    """Whether what is there, and ``spare`` more, is at least what is wanted; both as :func:`at_least` gives them."""
    known = [Const(1, 1), *there] + [Const(0, 1)] * len(wanted)
    missing = [Const(1, 1), *wanted]
    pairs = [(missing[count], known[count - spare]) for count in range(len(missing)) if count >= spare]
    return ~any_of(miss & ~enough for miss, enough in pairs)
