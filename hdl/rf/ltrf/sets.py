"""Working sets and livenesses of all warps (docs/schemes/ltrf.md, section 3)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rams.table import TableRam
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import LtrfConfig


class WarpSets(wiring.Component):
    """Memories with a row per warp. No row is read and written in one cycle.

    Members
    -------
    read : In(1), reader : In(warp_bits)   The warp whose rows are read; they are there in the next cycle.
    word, live_word : Out(names)   Its working set, its live registers. What is live is there only with ``liveness``.
    enter : In(1), entering : In(warp_bits), operand : In(names)   A working set that is written.
    save : In(1), saving : In(warp_bits), live : In(names)   Live registers that are written.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        names, warp = cfg.register_names, cfg.warp_bits
        live = {"live_word": Out(names), "save": In(1), "saving": In(warp), "live": In(names)} if cfg.liveness else {}
        super().__init__(
            {
                "read": In(1),
                "reader": In(warp),
                "word": Out(names),
                "enter": In(1),
                "entering": In(warp),
                "operand": In(names),
                **live,
            }
        )

    def elaborate(self, platform) -> Module:
        """One SRAM, or two."""
        m = Module()
        m.d.comb += self.word.eq(self._table(m, "working_sets", self.enter, self.entering, self.operand))
        if self._cfg.liveness:
            m.d.comb += self.live_word.eq(self._table(m, "livenesses", self.save, self.saving, self.live))
        return m

    def _table(self, m: Module, name: str, write, row, word):
        """Returns what is read."""
        table = stamp(m, name, "register_table", lambda: TableRam(self._cfg.warps, self._cfg.register_names))
        m.d.comb += [
            table.read.eq(self.read),
            table.read_row.eq(self.reader),
            table.write.eq(write),
            table.write_row.eq(row),
            table.write_data.eq(word),
        ]
        return table.read_data
