"""One main bank: registers in flight to the cache (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, select
from warpfile.hdl.naming import named
from warpfile.spec.schemes.ltrf import FILLING, FREE, FULL, LtrfConfig


class MainSide(wiring.Component):
    """Which fill and which write-back a main bank takes, and its latches; their data are in the lanes.

    Rows of fills and write-backs, and places of fills, are given for all banks of the cache.

    Members
    -------
    fills, ready : In(cache banks), fill_rows, fill_places : In(ArrayLayout)   Requests for this bank; those of all
                                 requests that may be granted; rows and places.
    backs : In(cache banks)      Write-backs that ask this bank.
    parking : In(1), parked : In(1)   A parked result starts here; one is in work here.
    senders : In(cache banks + 1), sender_rows : In(ArrayLayout)   Write-backs whose beats pass to this bank, above them
                                 the parked result; rows of all of them.
    last : In(1)                 The last of those beats passes.
    fill_grant, back_grant : Out(cache banks)   One-hot or none.
    nearly : Out(1)              A fill that is picked now finds the bank free.
    busy : Out(1), latch : Out(2), free : Out(1)   An access is too near for another one; state of the input latch; it
                                 is free.
    written : Out(1)             The latch goes to the bank.
    read, write : Out(1), row : Out(row_bits)   The access of the SRAM, a cycle later.
    receiver : Out(cache banks), place : Out(place_count_bits), beat : Out(crossbar_beats)   Bank of the cache and place
                                 that the beats of a fill pass to, one-hot or none; the beat, one-hot or none.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        banks, rows = cfg.interval_registers, cfg.row_bits
        super().__init__(
            {
                **{name: In(banks) for name in ("fills", "ready", "backs")},
                "fill_rows": In(data.ArrayLayout(rows, banks)),
                "fill_places": In(data.ArrayLayout(cfg.place_count_bits, banks)),
                "senders": In(banks + 1),
                "sender_rows": In(data.ArrayLayout(rows, banks + 1)),
                **{name: In(1) for name in ("parking", "parked", "last")},
                **{name: Out(banks) for name in ("fill_grant", "back_grant", "receiver")},
                **{name: Out(1) for name in ("nearly", "busy", "free", "written", "read", "write")},
                "latch": Out(2),
                "row": Out(rows),
                "place": Out(cfg.place_count_bits),
                "beat": Out(cfg.crossbar_beats),
            }
        )

    def elaborate(self, platform) -> Module:
        """Both choices, the counters, the fill under way, and the latch."""
        m = Module()
        filled = named(m, "filled", self.fill_grant.any())
        array = self._count(m, "array", self._cfg.bank_cycles, filled | self.written)
        output = self._count(m, "output", self._cfg.crossbar_beats, filled)
        full = named(m, "full", self.latch == FULL)
        idle = named(m, "idle", ~array.any())
        m.d.comb += [
            self.busy.eq(~idle),
            self.free.eq(self.latch == FREE),
            self.written.eq(full & idle),
            self.nearly.eq((array <= 1) & (output <= 1)),
        ]
        m.submodules.fill_turns = turns = RoundRobin(len(self.fills))
        open_ = named(m, "open_", idle & ~output.any() & ~full & ~self.parked)
        m.d.comb += [
            turns.requests.eq(self.fills & self.ready & open_.replicate(len(self.fills))),
            turns.taken.eq(filled),
            self.fill_grant.eq(turns.grant),
        ]
        self._save(m, filled)
        self._read(m, filled, idle)
        self._latch(m)
        return m

    def _count(self, m: Module, name: str, cycles: int, starts: Value) -> Signal:
        """Cycles before the next start."""
        left = Signal(max(1, (cycles - 1).bit_length()), name=name)
        m.d.sync += left.eq(Mux(starts, cycles - 1, left - left.any()))
        return left

    def _save(self, m: Module, filled: Value) -> None:
        """The choice of a write-back, and whose turn it is."""
        m.submodules.back_turns = turns = RoundRobin(len(self.backs))
        turn = Signal()
        may = named(m, "may_save", self.free & ~(turn & self.fills.any()))
        granted = named(m, "saved", self.back_grant.any())
        # A parked result is found late.
        m.d.comb += [
            turns.requests.eq(self.backs & may.replicate(len(self.backs))),
            turns.taken.eq(granted),
            self.back_grant.eq(turns.grant & ~self.parking.replicate(len(self.backs))),
        ]
        with m.If(granted | self.parking):
            m.d.sync += turn.eq(1)
        with m.Elif(filled):
            m.d.sync += turn.eq(0)

    def _read(self, m: Module, filled: Value, idle: Value) -> None:
        """The fill in access, then the one whose beats pass."""
        reading, receiver = Signal(), Signal(len(self.fills), reset_less=True)
        place, row = Signal(self._cfg.place_count_bits, reset_less=True), Signal(self._cfg.row_bits, reset_less=True)
        with m.If(filled):
            m.d.sync += [
                receiver.eq(self.fill_grant),
                place.eq(select(self.fill_grant, list(self.fill_places))),
                row.eq(select(self.fill_grant, list(self.fill_rows))),
            ]
        arrives = named(m, "arrives", reading & idle)
        m.d.sync += [
            self.read.eq(filled),
            self.write.eq(self.written),
            reading.eq(filled | (reading & ~idle)),
            self.beat.eq(Cat(arrives, self.beat[:-1])),
        ]
        with m.If(arrives):
            m.d.sync += [self.receiver.eq(receiver), self.place.eq(place)]
        with m.Elif(self.beat[-1]):
            m.d.sync += self.receiver.eq(0)
        self._row = row

    def _latch(self, m: Module) -> None:
        row = Signal(self._cfg.row_bits, name="latch_row", reset_less=True)
        with m.If(self.senders.any()):
            m.d.sync += row.eq(select(self.senders, list(self.sender_rows)))
        m.d.comb += self.row.eq(Mux(self.read, self._row, row))
        with m.If(self.back_grant.any() | self.parking):
            m.d.sync += self.latch.eq(FILLING)
        with m.Elif(self.last):
            m.d.sync += self.latch.eq(FULL)
        with m.Elif(self.written):
            m.d.sync += self.latch.eq(FREE)
