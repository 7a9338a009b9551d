"""Whether the sources still fit after a result has changed one entry."""

from amaranth import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.collectors.bow.fit import entries_layout, fit_layout, margin_layout
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class FitAfter(wiring.Component):
    """Answer of :class:`SourceFit` for the entries after a result, from that for the entries before, combinationally.

    Nothing is searched for or counted again, because the result comes late in the cycle and changes one entry at most.
    That is none of a source of the beat, except for a new one that a source may have found.

    Members
    -------
    fit : In(fit_layout(cfg)), fewer, more : In(margin_layout())   Of the entries before.
    now, then : In(entries_layout(cfg))   The entries before and after the result.
    candidate : In(window_entries), had : In(1)   The entry that a result would get anew; it gets it.
    after : Out(fit_layout(cfg))          The answer.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._entries, self._slots = cfg.window_entries, cfg.source_slots
        entries, fit = entries_layout(cfg), fit_layout(cfg)
        super().__init__(
            {
                "fit": In(fit),
                "fewer": In(margin_layout()),
                "more": In(margin_layout()),
                "now": In(entries),
                "then": In(entries),
                "candidate": In(cfg.window_entries),
                "had": In(1),
                "after": Out(fit),
            }
        )

    def elaborate(self, platform) -> Module:
        """One entry more or less decides between three counts that are known."""
        m = Module()
        fit, after, then, size = self.fit, self.after, self.then, self._entries
        rows = [fit.hit.word_select(n, size) for n in range(self._slots)]
        lost = named(m, "lost", Cat((row & self.candidate).any() for row in rows))
        usable = named(m, "usable", then.free | (then.stale & (then.clean | (then.dirty & ~then.owed))))
        gained = named(m, "gained", (usable & ~fit.usable).any())
        fewer = named(m, "fewer_usable", (fit.usable & ~usable).any() | (self.had & lost.any()))
        arrives = named(m, "fewer_evicting", fewer | (self.now.evicting & ~then.evicting).any())
        kept = named(m, "kept", ~(self.candidate & self.had.replicate(size)))
        m.d.comb += [
            after.hit.eq(Cat(row & kept for row in rows)),
            after.miss.eq(fit.miss | (lost & self.had.replicate(self._slots))),
            after.usable.eq(usable),
            after.fits.eq(Mux(gained == fewer, fit.fits, Mux(gained, self.more.fits, self.fewer.fits))),
            after.short.eq(Mux(gained == arrives, fit.short, Mux(gained, self.more.short, self.fewer.short))),
        ]
        return m
