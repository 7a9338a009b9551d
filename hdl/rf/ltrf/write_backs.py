"""Write-backs of one bank of the cache (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, decode, encode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.spec.schemes.ltrf import BACK_ASK, BACK_BEATS, BACK_IDLE, BACK_LOAD, LtrfConfig

PATIENCE = 8  #: cycles that a write-back loses before it goes before all others


class WriteBacks(wiring.Component):
    """Directory of the registers of this bank that have to be saved, and the channel that saves one of them.

    Members
    -------
    leaves : In(active_warps), homes : In(ArrayLayout)   Places whose register here has to be saved, from the next cycle
                                 on, and its place in the main banks.
    valid : Out(active_warps)    Places whose register has yet to be read.
    pick : Out(1)                A write-back is picked.
    phase : Out(2)               :data:`BACK_IDLE` and the others.
    place : Out(place_count_bits), home : Out(location)   Place and main bank and row of the write-back.
    place_used : Out(active_warps)   The place, one-hot; none while the channel is idle.
    reads, first : Out(1), served : In(1)   It asks to read the row in the cache; has lost so often that it goes before
                                 all others; does.
    latches : Out(1)             The staging register takes what the cache has read.
    asks : Out(1), granted : In(1)   It asks its main bank, and may send.
    beat : Out(crossbar_beats)   The beat that passes, one-hot or none.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places, main = cfg.active_warps, cfg.common()
        super().__init__(
            {
                "leaves": In(places),
                "homes": In(places_layout(main, places)),
                "valid": Out(places),
                "phase": Out(2),
                "place": Out(cfg.place_count_bits),
                "home": Out(location_layout(main)),
                "place_used": Out(places),
                **{name: In(1) for name in ("served", "granted")},
                **{name: Out(1) for name in ("pick", "reads", "first", "latches", "asks")},
                "beat": Out(cfg.crossbar_beats),
            }
        )

    def elaborate(self, platform) -> Module:
        """The directory, then the channel."""
        m = Module()
        cfg, places = self._cfg, self._cfg.active_warps
        m.submodules.turns = turns = RoundRobin(places)
        self._idle = named(m, "idle", self.phase == BACK_IDLE)
        used = decode(self.place, places)
        homes = [Signal(home.shape(), name=f"home{number}", reset_less=True) for number, home in enumerate(self.homes)]
        m.d.comb += [
            turns.requests.eq(self.valid & self._idle.replicate(places)),
            turns.taken.eq(self.pick),
            self.pick.eq(turns.grant.any()),
            self.place_used.eq(used & ~self._idle.replicate(places)),
            self.reads.eq(self.phase == BACK_LOAD),
            self.asks.eq(self.phase == BACK_ASK),
        ]
        read = named(m, "read", used & (self.reads & self.served).replicate(places))
        m.d.sync += self.valid.eq((self.valid & ~read) | self.leaves)
        for number, (leaves, home, kept) in enumerate(zip(self.leaves, self.homes, homes, strict=True)):
            take(m, cfg, f"home{number}", [kept.as_value()], (leaves, [home.as_value()]))
        with m.If(self.pick):
            m.d.sync += [
                self.place.eq(encode(turns.grant, cfg.place_count_bits)),
                self.home.eq(select(turns.grant, [home.as_value() for home in homes])),
            ]
        self._lose(m)
        self._move(m)
        return m

    def _lose(self, m: Module) -> None:
        lost = Signal(range(PATIENCE + 1))
        with m.If(self.pick):
            m.d.sync += lost.eq(0)
        with m.Elif(self.reads & ~self.served & ~self.first):
            m.d.sync += lost.eq(lost + 1)
        m.d.comb += self.first.eq(lost[-1])

    def _move(self, m: Module) -> None:
        m.d.sync += [
            self.latches.eq(self.reads & self.served),
            self.beat.eq(Cat(self.granted, self.beat[:-1])),
        ]
        with m.Switch(self.phase):
            with m.Case(BACK_IDLE), m.If(self.pick):
                m.d.sync += self.phase.eq(BACK_LOAD)
            with m.Case(BACK_LOAD), m.If(self.served):
                m.d.sync += self.phase.eq(BACK_ASK)
            with m.Case(BACK_ASK), m.If(self.granted):
                m.d.sync += self.phase.eq(BACK_BEATS)
            with m.Default(), m.If(self.beat[-1]):
                m.d.sync += self.phase.eq(BACK_IDLE)
