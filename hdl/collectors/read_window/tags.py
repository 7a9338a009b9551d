"""Tags of the reuse cache: an entry per operand position and bank (sections 7.1 and 7.4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.modern import ENTRIES, POSITIONS, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


class ReuseTags(wiring.Component):
    """Which registers the entries hold, and when their words are there. Entry 2 * position + bank.

    Members
    -------
    offered : In(ports), results : In(ArrayLayout), owners : In(ArrayLayout)   Results with a register, accepted or
                                     not: their registers and warps.
    warp : In(warp_bits), sources : In(positions), registers : In(ArrayLayout)   The beat in Allocate, by position.
    leaves : In(1), marks : In(positions)   It leaves; operands that are kept.
    exits : In(1), ended : In(warp_bits)   A warp ends in this cycle.
    hit : Out(positions)             Operands of the beat that are there, after this cycle's results.
    valid, killed : Out(entries)     Entries at the beginning of the cycle; those that a result ends.
    tags : Out(ArrayLayout), timers : Out(ArrayLayout)   Of valid entries: warp and register, and cycles until the word
                                     is there; zero of others.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        self._tag = cfg.warp_bits + cfg.register_bits
        self._timer = index_bits(cfg.read_window + 1)
        super().__init__(
            {
                "offered": In(ports),
                "results": In(data.ArrayLayout(cfg.register_bits, ports)),
                "owners": In(data.ArrayLayout(cfg.warp_bits, ports)),
                "warp": In(cfg.warp_bits),
                "sources": In(POSITIONS),
                "registers": In(data.ArrayLayout(cfg.register_bits, POSITIONS)),
                "leaves": In(1),
                "marks": In(POSITIONS),
                "exits": In(1),
                "ended": In(cfg.warp_bits),
                "hit": Out(POSITIONS),
                "valid": Out(ENTRIES),
                "killed": Out(ENTRIES),
                "tags": Out(data.ArrayLayout(self._tag, ENTRIES)),
                "timers": Out(data.ArrayLayout(self._timer, ENTRIES)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Entry by entry."""
        m = Module()
        for position in range(POSITIONS):
            hits = [self._entry(m, position, bank) for bank in range(BANKS)]
            m.d.comb += self.hit[position].eq(any_of(hits))
        return m

    def _entry(self, m: Module, position: int, bank: int) -> Value:
        """One entry; returns whether the operand at its position is there. The bank is the register's lowest bit."""
        number = BANKS * position + bank
        warp = Signal(self._cfg.warp_bits, name=f"warp{number}", reset_less=True)
        high = Signal(self._cfg.register_bits - 1, name=f"register{number}", reset_less=True)
        timer = Signal(self._timer, name=f"timer{number}", reset_less=True)
        valid, asked = self.valid[number], self.registers[position]
        tag = named(m, f"tag{number}", Cat(warp, Const(bank, 1), high))
        results = zip(self.offered, self.owners, self.results, strict=True)
        written = any_of(one & (Cat(owner, register) == tag) for one, owner, register in results)
        here = named(m, f"here{number}", self.sources[position] & (asked[0] == bank))
        changes = named(m, f"changes{number}", self.leaves & here)
        m.d.comb += [
            self.killed[number].eq(valid & ~timer.any() & written),
            self.tags[number].eq(Mux(valid, tag, 0)),
            self.timers[number].eq(Mux(valid, timer, 0)),
        ]
        left = valid & ~self.killed[number]
        hit = named(m, f"hit{number}", left & here & (Cat(self.warp, asked) == tag))
        kept = changes & self.marks[position]
        m.d.sync += valid.eq(Mux(changes, self.marks[position], left & ~(self.exits & (warp == self.ended))))
        take(m, self._cfg, f"tag{number}", [warp, high], (kept, [self.warp, asked[1:]]))
        with m.If(kept):
            m.d.sync += timer.eq(self._cfg.read_window)
        with m.Elif(timer.any()):
            m.d.sync += timer.eq(timer - 1)
        return hit
