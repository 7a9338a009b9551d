"""Fills of one bank of the cache (docs/schemes/ltrf.md, section 5)."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, decode, encode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.spec.schemes.ltrf import LtrfConfig


class Fills(wiring.Component):
    """Directory of the registers that this bank has to get, and the request for one of them.

    Members
    -------
    enters : In(active_warps), homes : In(ArrayLayout)   Places that have to get a register here from the next cycle on,
                                 and its place in the main banks.
    blocked : In(active_warps)   Places whose last register has yet to be read here.
    able : In(active_warps)      Places whose fill finds its main bank free soon.
    last : In(1), last_place : In(place_count_bits)   The last beat of a fill of this place arrives.
    stores : Out(1), row : Out(place_count_bits)   The row of a place is written.
    valid, asked : Out(active_warps)   Places that have yet to get their register, and those whose fill was picked.
    kept : Out(ArrayLayout)      Place of that register in the main banks.
    pick : Out(1)                A fill is picked.
    asks : Out(1), place : Out(place_count_bits), home : Out(location)   The request.
    ready : Out(1)               It may be granted: the fill before is far enough.
    granted : In(1)              It is.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places, main = cfg.active_warps, cfg.common()
        super().__init__(
            {
                **{name: In(places) for name in ("enters", "blocked", "able")},
                "homes": In(places_layout(main, places)),
                "valid": Out(places),
                "asked": Out(places),
                "kept": Out(places_layout(main, places)),
                **{name: Out(1) for name in ("pick", "asks", "ready", "stores")},
                "place": Out(cfg.place_count_bits),
                "home": Out(location_layout(main)),
                "granted": In(1),
                "last": In(1),
                "last_place": In(cfg.place_count_bits),
                "row": Out(cfg.place_count_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The directory, the choice of a place, and the request."""
        m = Module()
        places = self._cfg.active_warps
        m.submodules.turns = turns = RoundRobin(places)
        wanted = self.valid & ~self.asked & ~self.blocked & self.able
        homes = [Signal(home.shape(), name=f"home{number}", reset_less=True) for number, home in enumerate(self.kept)]
        m.d.comb += [
            turns.requests.eq(wanted & ~self.asks.replicate(places)),
            turns.taken.eq(self.pick),
            self.pick.eq(turns.grant.any()),
            *(kept.eq(home) for kept, home in zip(self.kept, homes, strict=True)),
        ]
        stored = named(m, "stored", decode(self.row, places) & self.stores.replicate(places))
        m.d.sync += [
            self.stores.eq(self.last),
            self.row.eq(self.last_place),
            self.valid.eq((self.valid & ~stored) | self.enters),
            self.asked.eq((self.asked & ~stored & ~self.enters) | turns.grant),
        ]
        for number, (enters, home, kept) in enumerate(zip(self.enters, self.homes, homes, strict=True)):
            take(m, self._cfg, f"home{number}", [kept.as_value()], (enters, [home.as_value()]))
        with m.If(self.pick):
            m.d.sync += [
                self.asks.eq(1),
                self.place.eq(encode(turns.grant, self._cfg.place_count_bits)),
                self.home.eq(select(turns.grant, [home.as_value() for home in homes])),
            ]
        with m.Elif(self.granted):
            m.d.sync += self.asks.eq(0)
        self._wait(m)
        return m

    def _wait(self, m: Module) -> None:
        """A fill has the way from the crossbar for all its beats."""
        left = Signal(range(self._cfg.crossbar_beats), name="input")
        if not len(left):
            m.d.comb += self.ready.eq(self.asks)
            return
        with m.If(self.granted):
            m.d.sync += left.eq(self._cfg.crossbar_beats - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        m.d.comb += self.ready.eq(self.asks & ~left.any())
