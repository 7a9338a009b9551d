"""One lane of the entries (docs/schemes/shrf.md, section 4)."""

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.naming import named
from warpfile.hdl.operand_array import operand_array
from warpfile.hdl.rf.layouts import unit_inputs
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.structure import LAST_RESULT_ARRAY, OPERAND_FILE_ARRAY


def _write_members(cfg: ShrfConfig, rows: int) -> dict[str, wiring.Member]:
    """results : In(32 * ports), masks : In(ports)   This lane of the results, and whether they have it.

    writer : In(ports)   Result whose word the write port takes, one-hot or zero.
    written : In(rows)   Row that is written; zero for none.
    """
    ports = cfg.write_ports
    return {"results": In(32 * ports), "masks": In(ports), "writer": In(ports), "written": In(rows)}


def _written(cfg: ShrfConfig, lane: wiring.Component) -> tuple[Value, Value]:
    """Whether the chosen result has this lane, and its word."""
    word = select(lane.writer, [lane.results.word_select(port, 32) for port in range(cfg.write_ports)])
    return (lane.writer & lane.masks).any(), word


class OperandFileLane(wiring.Component):
    """One lane of the operand register file: an array with one write port and a read port per source slot.

    Row place * orf_entries + entry.

    Members
    -------
    See :func:`_write_members`.
    inputs : In(32 * inputs)           What reaches the units from the banks.
    brought : In(inputs)               The input whose word is written, one-hot or zero: a bring.
    bring_mask : In(1)                 The bring has this lane.
    rows : In(slots * rows)            Row that each slot reads, slot-major, one-hot or zero.
    words : Out(32 * slots)            What they read.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        self._rows, slots, inputs = cfg.entry_places * cfg.orf_entries, cfg.source_slots, unit_inputs(cfg)
        super().__init__(
            {
                **_write_members(cfg, self._rows),
                "inputs": In(32 * inputs),
                "brought": In(inputs),
                "bring_mask": In(1),
                "rows": In(slots * self._rows),
                "words": Out(32 * slots),
            }
        )

    def elaborate(self, platform) -> Module:
        """The word that is written, the words, what is read of them."""
        m = Module()
        cfg, slots, words = self._cfg, range(self._cfg.source_slots), range(unit_inputs(self._cfg))
        has, result = _written(cfg, self)
        word = named(m, "word", result | select(self.brought, [self.inputs.word_select(one, 32) for one in words]))
        writes = named(m, "writes", has | self.bring_mask)
        reads = [self.rows.word_select(slot, self._rows) for slot in slots]
        write = ([row & writes for row in self.written], word)
        found = operand_array(m, cfg, OPERAND_FILE_ARRAY, "operand", [write], reads)
        m.d.comb += [self.words.word_select(slot, 32).eq(word) for slot, word in zip(slots, found, strict=True)]
        return m


class LastResultLane(wiring.Component):
    """One lane of one last-result file: an array with one write port and one read port. Row: the place.

    Members
    -------
    See :func:`_write_members`.
    row : In(rows)                     Row that is read, one-hot or zero.
    word : Out(32)                     What it has.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        rows = cfg.entry_places
        super().__init__({**_write_members(cfg, rows), "row": In(rows), "word": Out(32)})

    def elaborate(self, platform) -> Module:
        """The word that is written, the words, the one that is read."""
        m = Module()
        has, result = _written(self._cfg, self)
        writes = named(m, "writes", has)
        write = ([row & writes for row in self.written], named(m, "result", result))
        m.d.comb += self.word.eq(*operand_array(m, self._cfg, LAST_RESULT_ARRAY, "last", [write], [self.row]))
        return m
