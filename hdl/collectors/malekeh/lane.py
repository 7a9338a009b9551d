"""One lane of the data of caching collector units."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.operand_array import operand_array
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.structure import UNIT_ARRAY


class CachingLane(wiring.Component):
    """One lane of the entries of one unit: port S fills them, port D writes results, each source slot reads one.

    Members
    -------
    fill : In(unit_entries), fill_data : In(32)   Entry that takes data from the banks at the end of the cycle.
    place : In(unit_entries), winner : In(ports)  Entry that takes a result, and the write-back port of that.
    enable : In(ports)                            The result of this port has this lane.
    results : In(32 * ports)                      This lane of the results.
    reads : In(source_slots * unit_entries)       Entry of each source slot, slot-major.
    operands : Out(32 * source_slots)             What the slots read.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "fill": In(cfg.unit_entries),
                "fill_data": In(32),
                "place": In(cfg.unit_entries),
                "winner": In(cfg.write_ports),
                "enable": In(cfg.write_ports),
                "results": In(32 * cfg.write_ports),
                "reads": In(cfg.source_slots * cfg.unit_entries),
                "operands": Out(32 * cfg.source_slots),
            }
        )

    def elaborate(self, platform) -> Module:
        """One result for all entries, the entries, what is read of them."""
        m = Module()
        result, writes = Signal(32), Signal(name="writes")
        results = [self.results.word_select(port, 32) for port in range(self._cfg.write_ports)]
        m.d.comb += [
            result.eq(select(self.winner, results)),
            writes.eq((self.winner & self.enable).any()),
        ]
        ports = (list(self.fill), self.fill_data), ([bit & writes for bit in self.place], result)
        slots = range(self._cfg.source_slots)
        reads = [self.reads.word_select(slot, self._cfg.unit_entries) for slot in slots]
        words = operand_array(m, self._cfg, UNIT_ARRAY, "entry", ports, reads)
        m.d.comb += [self.operands.word_select(slot, 32).eq(word) for slot, word in zip(slots, words, strict=True)]
        return m
