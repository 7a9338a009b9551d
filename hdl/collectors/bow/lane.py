"""One lane of the operands in a window."""

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.collectors.bow.ports import way_bits, writes_back
from warpfile.hdl.naming import named
from warpfile.hdl.operand_array import operand_array
from warpfile.hdl.slices import unpacked
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.structure import WINDOW_ARRAY


class WindowLane(wiring.Component):
    """One lane of the entries of one window. Reads give what the entries hold at the start of the cycle.

    Members
    -------
    fill : In(32), filled : In(window_entries)      Word from the banks, and the entry that takes it.
    results : In(32 * ports), enables : In(ports)   Words of the write-back ports; their masks have the lane.
    considered : In(ports), written : In(window_entries)   The result that an entry would take, and the entry.
    accepted : In(1)                                It does. That is known late, and has to reach all lanes.
    read : In(source_slots * window_entries), operands : Out(32 * source_slots)   Slot-major, one-hot.
    evict : In(window_entries), evicted : Out(32)   Only if windows write back.
    way : In(way_bits(cfg))                         How the word from the banks is unpacked; only over a renamed file.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        entries, slots = cfg.window_entries, cfg.source_slots
        members = {
            "fill": In(32),
            "filled": In(entries),
            "results": In(32 * cfg.write_ports),
            "enables": In(cfg.write_ports),
            "considered": In(cfg.write_ports),
            "written": In(entries),
            "accepted": In(1),
            "read": In(slots * entries),
            "operands": Out(32 * slots),
        }
        if writes_back(cfg):
            members |= {"evict": In(entries), "evicted": Out(32)}
        if cfg.gives.renamed:
            members["way"] = In(way_bits(cfg))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Entries with two write ports that never meet, and what is read of them."""
        m = Module()
        cfg = self._cfg
        result, enabled = Signal(32), Signal(name="enabled")
        ports = [self.results.word_select(port, 32) for port in range(cfg.write_ports)]
        m.d.comb += [
            result.eq(select(self.considered, ports)),
            enabled.eq(self.accepted & (self.considered & self.enables).any()),
        ]
        writes = (list(self.filled), self._fill(m)), ([bit & enabled for bit in self.written], result)
        reads = [self.read.word_select(slot, cfg.window_entries) for slot in range(cfg.source_slots)]
        targets = [self.operands.word_select(slot, 32) for slot in range(cfg.source_slots)]
        if writes_back(cfg):
            reads.append(self.evict)
            targets.append(self.evicted)
        found = operand_array(m, cfg, WINDOW_ARRAY, "entry", writes, reads)
        m.d.comb += [target.eq(word) for target, word in zip(targets, found, strict=True)]
        return m

    def _fill(self, m: Module) -> Value:
        if not self._cfg.gives.renamed:
            return self.fill
        word = unpacked(m, self.fill, self.way) if self._cfg.gives.slices else self.fill & self.way.replicate(32)
        return named(m, "unpacked", word)
