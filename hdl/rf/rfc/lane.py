"""One lane of the register cache."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.operand_array import operand_array
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig
from warpfile.spec.structure import LINES_ARRAY


class CacheLane(wiring.Component):
    """One lane of all lines: an array with one write port and three read ports.

    Members
    -------
    results : In(32 * ports), masks : In(ports)   This lane of the results, and whether they have it.
    writer : In(ports)                            Result that is written, one-hot.
    line : In(lines)                              Line that takes it, zero for none.
    lines : In(READ_PORTS * lines)                Line that each port reads, port-major, one-hot.
    reads : Out(32 * READ_PORTS)                  What the ports read.
    whole, fresh : In(1)                          The result is full; the line gets another register. These and what
                                                  follows only where lines know their lanes.
    present : Out(lines)                          Lines that have this lane.
    saves : Out(READ_PORTS)                       Lines that are read, that have this lane.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lanes = {"whole": In(1), "fresh": In(1), "present": Out(cfg.lines), "saves": Out(READ_PORTS)}
        super().__init__(
            {
                "results": In(32 * cfg.write_ports),
                "masks": In(cfg.write_ports),
                "writer": In(cfg.write_ports),
                "line": In(cfg.lines),
                "lines": In(READ_PORTS * cfg.lines),
                "reads": Out(32 * READ_PORTS),
                **(lanes if cfg.keeps_lanes else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """The word that is written, the words, what is read of them."""
        m = Module()
        cfg, result, writes = self._cfg, Signal(32), Signal(name="writes")
        m.d.comb += [
            result.eq(select(self.writer, [self.results.word_select(port, 32) for port in range(cfg.write_ports)])),
            writes.eq((self.writer & self.masks).any()),
        ]
        ports = range(READ_PORTS)
        reads = [self.lines.word_select(port, cfg.lines) for port in ports]
        words = operand_array(m, cfg, LINES_ARRAY, "line", [([bit & writes for bit in self.line], result)], reads)
        m.d.comb += [self.reads.word_select(port, 32).eq(word) for port, word in zip(ports, words, strict=True)]
        if cfg.keeps_lanes:
            self._present(m, writes)
        return m

    def _present(self, m: Module, writes: Signal) -> None:
        """Which lines have this lane: those it was written to since they have their register."""
        for line in range(self._cfg.lines):
            present = Signal(name=f"present{line}", reset_less=True)
            with m.If(self.line[line]):
                m.d.sync += present.eq(writes | self.whole | (present & ~self.fresh))
            m.d.comb += self.present[line].eq(present)
        for port in range(READ_PORTS):
            m.d.comb += self.saves[port].eq((self.lines.word_select(port, self._cfg.lines) & self.present).any())
