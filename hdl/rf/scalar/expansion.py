"""The expansion of a scalar register: its word goes to all lanes of its bank (docs/schemes/scalar.md, section 7)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import highest_one, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import engine_members
from warpfile.hdl.rf.layouts import places_layout
from warpfile.spec.schemes.scalar import IDLE, READS, WAITS, WRITES, ScalarConfig
from warpfile.spec.structure import WORD_BITS


class Expansion(wiring.Component):
    """Expands one register at a time: reads its word, waits for it, writes it.

    What it asks is decided by registers alone.

    Members
    -------
    needs : In(ports)       Results that need expansion; the highest port goes first.
    results : In(ArrayLayout)   Of each port warp and register, as one number.
    homes : In(ArrayLayout)     Of each port the place; the bit ``twin`` is not used.
    phase : Out(2)          0 idle, 1 reads, 2 waits, 3 writes.
    reads : Out(1)          It is granted its read.
    writes : Out(1)         It is granted its write, so that its register is not scalar from the next cycle on.
    register : Out          Of the result whose register is expanded, as one number.
    engine_... : the ports of :func:`hdl.rf.contract.engine_members`, flipped. The word is taken from lane 0.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg = cfg
        ports, name = cfg.write_ports, cfg.warp_bits + cfg.register_bits
        engine = {name: member.flip() for name, member in engine_members(cfg, cfg.gives.engines).items()}
        super().__init__(
            {
                "needs": In(ports),
                "results": In(data.ArrayLayout(name, ports)),
                "homes": In(places_layout(cfg, ports)),
                "phase": Out(2),
                "reads": Out(1),
                "writes": Out(1),
                "register": Out(name),
                **engine,
            }
        )

    def elaborate(self, platform) -> Module:
        """The phase, and what is kept of the register."""
        m = Module()
        bank, row = self._kept(m)
        asks = {phase: named(m, name, self.phase == phase) for phase, name in ((READS, "reading"), (WRITES, "writing"))}
        m.d.comb += [
            self.engine_valid.eq(asks[READS] | asks[WRITES]),
            self.engine_write.eq(asks[WRITES]),
            self.engine_places[0].bank.eq(bank),
            self.engine_places[0].row.eq(row),
            self.engine_places[0].twin.eq(asks[READS]),
            self.reads.eq(asks[READS] & self.engine_grant),
            self.writes.eq(asks[WRITES] & self.engine_grant),
        ]
        with m.Switch(self.phase):
            for phase, ends in ((IDLE, self.needs.any()), (WAITS, self.engine_fill), (READS, self.engine_grant)):
                with m.Case(phase), m.If(ends):
                    m.d.sync += self.phase.eq(phase + 1)
            with m.Case(WRITES), m.If(self.engine_grant):
                m.d.sync += self.phase.eq(IDLE)
        return m

    def _kept(self, m: Module) -> tuple[Signal, Signal]:
        """Whose register it is and where it lives, from the result on; its word, from the read on. Bank and row."""
        sizes = {
            "register_of": len(self.register),
            "bank": len(self.homes[0].bank),
            "row": len(self.homes[0].row),
            "word": WORD_BITS,
        }
        register, bank, row, word = (Signal(size, name=name, reset_less=True) for name, size in sizes.items())
        first = named(m, "first", highest_one(self.needs))
        found: list[Value] = [
            select(first, list(self.results)),
            select(first, [home.bank for home in self.homes]),
            select(first, [home.row for home in self.homes]),
        ]
        take(m, self._cfg, "kept", [register, bank, row], ((self.phase == IDLE) & self.needs.any(), found))
        take(m, self._cfg, "word", [word], (self.engine_fill, [self.engine_read[0]]))
        m.d.comb += [self.register.eq(register), *(lane.eq(word) for lane in self.engine_data)]
        return bank, row
