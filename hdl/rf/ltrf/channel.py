"""The channel of one bank of the cache: what becomes of a transfer (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.ltrf import BEATS, IDLE, LATCH, LOAD, MAIN, STORE, LtrfConfig

PATIENCE = 8  #: cycles that a channel loses before it goes before all others


class Channel(wiring.Component):
    """Control of one channel; its staging register is in the lanes.

    Members
    -------
    start : In(1)                A transfer is granted, with these four:
    back : In(1), place : In(place_count_bits), main : In(bank_bits), row : In(row_bits)   Write-back or fill; place,
                                 main bank and row.
    phase : Out(3)               :data:`IDLE` and the others.
    place_used : Out(active_warps)   The place that it works for, one-hot; none while it is idle.
    main_used : Out(banks), main_row : Out(row_bits)   The main bank that it has reserved, one-hot, and the row.
    row_used : Out(place_count_bits)   Row in the cache.
    main_read : Out(1)           The main bank starts to read.
    beat : Out(crossbar_beats), fills : Out(1)   The beat that passes, one-hot or none; it comes from the main bank.
    reads, writes : Out(1)       It asks to read, or to write, the row in the cache.
    first : Out(1)               It has lost so often that it goes before all others.
    served : In(1)               It does.
    latches : Out(1)             The staging register takes what the cache has read.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        bits = cfg.place_count_bits
        super().__init__(
            {
                **{name: In(1) for name in ("start", "back", "served")},
                "place": In(bits),
                "main": In(cfg.bank_bits),
                "row": In(cfg.row_bits),
                "phase": Out(3),
                "place_used": Out(cfg.active_warps),
                "main_used": Out(cfg.banks),
                "main_row": Out(cfg.row_bits),
                "row_used": Out(bits),
                "beat": Out(cfg.crossbar_beats),
                **{name: Out(1) for name in ("main_read", "fills", "reads", "writes", "first", "latches")},
            }
        )

    def elaborate(self, platform) -> Module:
        """What is kept of the transfer; then its phases."""
        m = Module()
        cfg = self._cfg
        back, main = Signal(reset_less=True), Signal(cfg.bank_bits, reset_less=True)
        with m.If(self.start):
            m.d.sync += [
                back.eq(self.back),
                main.eq(self.main),
                self.main_row.eq(self.row),
                self.row_used.eq(self.place),
            ]
        phases = (IDLE, MAIN, BEATS, STORE, LOAD, LATCH)
        self._is = {phase: named(m, f"phase{phase}", self.phase == phase) for phase in phases}
        reserved = ~self._is[IDLE] & ~self._is[STORE]
        m.d.comb += [
            self.place_used.eq(_unless(self._is[IDLE], decode(self.row_used, cfg.active_warps))),
            self.main_used.eq(_unless(~reserved, decode(main, cfg.banks))),
            self.fills.eq(~back),
            self.reads.eq(self._is[LOAD]),
            self.writes.eq(self._is[STORE]),
            self.latches.eq(self._is[LATCH]),
        ]
        self._lose(m)
        self._move(m, back)
        return m

    def _lose(self, m: Module) -> None:
        lost = Signal(range(PATIENCE + 1))
        with m.If(self.start):
            m.d.sync += lost.eq(0)
        with m.Elif((self.reads | self.writes) & ~self.served & ~self.first):
            m.d.sync += lost.eq(lost + 1)
        m.d.comb += self.first.eq(lost[-1])

    def _move(self, m: Module, back: Value) -> None:
        """Phases, and the cycles of those that take several."""
        cfg = self._cfg
        cycle = Signal(index_bits(max(cfg.bank_cycles, cfg.crossbar_beats)))
        last_beat = named(m, "last_beat", cycle == cfg.crossbar_beats - 1)
        last_cycle = named(m, "last_cycle", cycle == cfg.bank_cycles - 1)
        m.d.comb += [
            self.main_read.eq(self._is[MAIN] & ~back & (cycle == 0)),
            self.beat.eq(_unless(~self._is[BEATS], Cat(cycle == beat for beat in range(cfg.crossbar_beats)))),
        ]
        ends = named(m, "ends", Mux(self._is[MAIN], last_cycle, last_beat))
        with m.If(self._is[MAIN] | self._is[BEATS]):
            m.d.sync += cycle.eq(Mux(ends, 0, cycle + 1))
        with m.Switch(self.phase):
            with m.Case(IDLE), m.If(self.start):
                m.d.sync += self.phase.eq(Mux(self.back, LOAD, MAIN))
            with m.Case(MAIN), m.If(last_cycle):
                m.d.sync += self.phase.eq(Mux(back, IDLE, BEATS))
            with m.Case(BEATS), m.If(last_beat):
                m.d.sync += self.phase.eq(Mux(back, MAIN, STORE))
            with m.Case(STORE), m.If(self.served):
                m.d.sync += self.phase.eq(IDLE)
            with m.Case(LOAD), m.If(self.served):
                m.d.sync += self.phase.eq(LATCH)
            with m.Default():  # LATCH
                m.d.sync += self.phase.eq(BEATS)


def _unless(none: Value, one_hot: Value) -> Value:
    return one_hot & ~none.replicate(len(one_hot))
