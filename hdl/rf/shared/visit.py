"""The old mapping of the destinations of loads (docs/schemes/larf.md, section 7, "Old mapping")."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.schemes.shared import SharedConfig


class Visit(wiring.Component):
    """Asks once for each of two loads, one behind the other, the first one first; keeps the answers.

    Members
    -------
    searches, acts : In(1)       There is a load in the second stage that may ask; in the third.
    enters : In(1)               Another one is in the second stage from the next cycle on.
    moves : In(1)                That of the second stage is in the third from the next cycle on.
    asks, first : Out(1)         The table is asked; for the third stage.
    asked : In(1), entry : In(entry_bits)   It serves; in the cycle after, the mapping.
    answered : Out(1), old : Out(entry_bits)   Of the third stage: the mapping is known.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        inputs = ("searches", "acts", "enters", "moves", "asked")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in ("asks", "first", "answered")},
                "entry": In(cfg.mapping_bits),
                "old": Out(cfg.mapping_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Per stage whether it was served, whether the answer is there in this cycle, and what it was."""
        m = Module()
        served, fresh, kept = Signal(name="served"), Signal(name="fresh"), self._kept("kept")
        fresh_first, kept_first = Signal(name="fresh_first"), self._kept("kept_first")
        old = named(m, "old_behind", Mux(fresh, self.entry, kept))
        behind = named(m, "asked_behind", self.asked & ~self.first)
        m.d.comb += [
            self.first.eq(self.acts & ~self.answered),
            self.asks.eq(self.first | (self.searches & ~served)),
            self.old.eq(Mux(fresh_first, self.entry, kept_first)),
        ]
        m.d.sync += [
            fresh.eq(behind & ~self.moves),
            fresh_first.eq(self.asked & (self.first | self.moves)),
            served.eq((served | behind) & ~self.enters),
            self.answered.eq(Mux(self.moves, served | behind, self.answered | (self.asked & self.first))),
            kept.eq(old),
            kept_first.eq(Mux(self.moves, old, self.old)),
        ]
        return m

    def _kept(self, name: str) -> Signal:
        return Signal(self._cfg.mapping_bits, name=name, reset_less=True)
