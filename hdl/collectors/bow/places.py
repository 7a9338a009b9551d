"""Where the entries of an operand window are that have to be read, over a renaming table (docs/schemes/corf.md, 17)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.bow import BowConfig


class EntryPlaces(wiring.Component):
    """One look-up and one turn per cycle. A register that is nowhere has its turn without a bank.

    Members
    -------
    unlooked : In(window_entries), older : In(window_entries ** 2)   Entries that have yet to be looked up; their order.
    asking : Out(window_entries), looked_up : In(1)   The one that asks the table, one-hot; the table serves it.
    place : In(location_layout(cfg)), mask : In(4)   What it said, in the cycle after.
    turn : In(window_entries)    The one of those that were looked up that has its turn.
    request, zero : Out(1), request_place : Out(location_layout(cfg))   It asks a bank, and where; it is nowhere.
    fill : In(1)                 What a bank reads is there.
    arrives : Out(1), slices : Out(4)   The same, or zero is there for what was nowhere in the cycle before; of what
                                 had its turn then, the slices.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._entries, self._place = cfg.window_entries, location_layout(cfg)
        super().__init__(
            {
                **{name: In(cfg.window_entries) for name in ("unlooked", "turn")},
                "older": In(cfg.window_entries**2),
                "asking": Out(cfg.window_entries),
                **{name: In(1) for name in ("looked_up", "fill")},
                **{name: Out(1) for name in ("request", "zero", "arrives")},
                "place": In(self._place),
                "request_place": Out(self._place),
                "mask": In(SLICES),
                "slices": Out(SLICES),
            }
        )

    def elaborate(self, platform) -> Module:
        """What the table says is there in one cycle only, and kept."""
        m = Module()
        fresh, zeros = Signal(self._entries), Signal()
        answer = named(m, "answer", Cat(self.place, self.mask))
        kept = [Signal(len(answer), name=f"located{entry}", reset_less=True) for entry in range(self._entries)]
        for entry, place in enumerate(kept):
            with m.If(fresh[entry]):
                m.d.sync += place.eq(answer)
        now = named(m, "now", Mux((self.turn & fresh).any(), answer, select(self.turn, kept)))
        mask = now[-SLICES:]
        m.d.comb += [
            self.asking.eq(oldest_one(self.unlooked, self.older)),
            self.request.eq(self.turn.any() & mask.any()),
            self.zero.eq(self.turn.any() & ~mask.any()),
            self.request_place.eq(now[:-SLICES]),
            self.arrives.eq(self.fill | zeros),
        ]
        m.d.sync += [
            fresh.eq(self.asking & self.looked_up.replicate(self._entries)),
            zeros.eq(self.zero),
            self.slices.eq(mask),
        ]
        return m
