"""One lane of the register cache, and of the operands of units that read it."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.rf.lanes import unit_inputs
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig


class CacheLane(wiring.Component):
    """One lane of all lines: flip-flops with one write port and three read ports.

    Members
    -------
    results : In(32 * ports), masks : In(ports)   This lane of the results, and whether they have it.
    writer : In(ports)                            Result that is written, one-hot.
    line : In(lines)                              Line that takes it, zero for none.
    lines : In(READ_PORTS * lines)                Line that each port reads, port-major, one-hot.
    reads : Out(32 * READ_PORTS)
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "results": In(32 * cfg.ports),
                "masks": In(cfg.ports),
                "writer": In(cfg.ports),
                "line": In(cfg.lines),
                "lines": In(READ_PORTS * cfg.lines),
                "reads": Out(32 * READ_PORTS),
            }
        )

    def elaborate(self, platform) -> Module:
        """The word that is written, the words, one AND-OR multiplexer per read port."""
        m = Module()
        cfg, result, writes = self._cfg, Signal(32), Signal()
        m.d.comb += [
            result.eq(select(self.writer, [self.results.word_select(port, 32) for port in range(cfg.ports)])),
            writes.eq((self.writer & self.masks).any()),
        ]
        words = [Signal(32, name=f"line{line}", reset_less=True) for line in range(cfg.lines)]
        for line, word in enumerate(words):
            with m.If(self.line[line] & writes):
                m.d.sync += word.eq(result)
        for port in range(READ_PORTS):
            m.d.comb += self.reads.word_select(port, 32).eq(select(self.lines.word_select(port, cfg.lines), words))
        return m


class CachedOperandLane(wiring.Component):
    """One lane of the operands of all collector units, filled from the banks and from the cache.

    Members
    -------
    inputs, fill, chosen, operands    As in :class:`hdl.collectors.units.unit.CollectorLane`.
    reads : In(32 * READ_PORTS)       From the cache; every slot has the port of its number.
    take : In(collectors * slots)     Slots that take their port's word at the end of the cycle.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        super().__init__(
            {
                "inputs": In(32 * unit_inputs(cfg)),
                "fill": In(slots),
                "reads": In(32 * READ_PORTS),
                "take": In(slots),
                "chosen": In(cfg.ports * cfg.collectors),
                "operands": Out(32 * cfg.source_slots * cfg.ports),
            }
        )

    def elaborate(self, platform) -> Module:
        """Operand registers, then one AND-OR multiplexer per port and slot."""
        m = Module()
        cfg, width = self._cfg, self._cfg.source_slots
        words = [
            Signal(32, name=f"unit{unit}_slot{slot}", reset_less=True)
            for unit in range(cfg.collectors)
            for slot in range(width)
        ]
        for index, word in enumerate(words):
            bank = self.inputs.word_select(index if cfg.collect == "all" else index // width, 32)
            cache = self.reads.word_select(index % width, 32)
            with m.If(self.fill[index] | self.take[index]):
                m.d.sync += word.eq(Mux(self.take[index], cache, bank))
        for port in range(cfg.ports):
            chosen = self.chosen.word_select(port, cfg.collectors)
            for slot in range(width):
                operand = self.operands.word_select(port * width + slot, 32)
                m.d.comb += operand.eq(select(chosen, words[slot::width]))
        return m
