"""Registers of a place that have to be moved, and the next of them (docs/schemes/ltrf.md, section 5)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import location_layout
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.location import look_up
from warpfile.hdl.rf.ltrf.registers import lowest_register, number_of
from warpfile.spec.schemes.ltrf import LtrfConfig


def candidate_layout(cfg: LtrfConfig) -> data.StructLayout:
    """A transfer that has to be made: its register and bank of the cache, its place in the main banks, and whether it
    is a write-back."""
    place = location_layout(cfg.common())
    return data.StructLayout({"back": 1, "register": cfg.register_bits, "bank": cfg.cache_bank_bits, "place": place})


class PendingTransfers(wiring.Component):
    """Pending registers of one place, and its candidate.

    Members
    -------
    start : In(1), saved : In(names)   These registers are pending, and no others.
    adds : In(names)             This one is pending from the next cycle on, one-hot or none.
    moving : In(1), keeps : In(names)   There may be a candidate; pending registers that have to be fetched, not saved.
    chosen : Out(names), bank : In(cache_bank_bits)   The next candidate, one-hot; its bank, in the same cycle.
    base : In(place_bits), warp : In(bank_bits)   Place of the warp's register 0, and its number modulo main banks.
    valid : Out(1), candidate : Out(candidate_layout(cfg))   The candidate.
    granted : In(1)              Its transfer starts.
    none : Out(1)                Nothing is pending, and there is no candidate.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        names = cfg.register_names
        super().__init__(
            {
                "start": In(1),
                "saved": In(names),
                "adds": In(names),
                "moving": In(1),
                "keeps": In(names),
                "chosen": Out(names),
                "bank": In(cfg.cache_bank_bits),
                "base": In(place_digits(cfg)),
                "warp": In(cfg.bank_bits),
                "valid": Out(1),
                "candidate": Out(candidate_layout(cfg)),
                "granted": In(1),
                "none": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """The lowest write-back, otherwise the lowest fill, as soon as there is room for it."""
        m = Module()
        names = self._cfg.register_names
        waiting = Signal(names)
        backs = named(m, "backs", waiting & ~self.keeps)
        back, some = named(m, "back", backs.any()), named(m, "some", waiting.any())
        first_back, first = lowest_register(m, "first_back", backs), lowest_register(m, "first", waiting)
        room = named(m, "room", self.moving & (~self.valid | self.granted))
        taken = self.chosen & room.replicate(names)
        m.d.comb += [self.chosen.eq(Mux(back, first_back, first)), self.none.eq(~some & ~self.valid)]
        m.d.sync += waiting.eq(Mux(self.start, self.saved, (waiting & ~taken) | self.adds))
        register = named(m, "register", number_of(self.chosen, self._cfg.register_bits))
        place = Signal(location_layout(self._cfg.common()), name="place")
        look_up(m, self._cfg.common(), self.base, self.warp, register, place)
        with m.If(room):
            m.d.sync += [
                self.valid.eq(some),
                self.candidate.back.eq(back),
                self.candidate.register.eq(register),
                self.candidate.bank.eq(self.bank),
                self.candidate.place.eq(place),
            ]
        return m
