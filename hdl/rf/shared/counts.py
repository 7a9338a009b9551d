"""How many registers are mapped to every row of one bank (docs/schemes/larf.md, section 6)."""

import functools
import operator

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.lowest import LowestRow
from warpfile.hdl.renaming.rows import decode_row
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import SharedConfig

SOURCES = 2  #: rows that an access may be made of


class RowCounts(wiring.Component):
    """Count, ready and marked of the rows of a bank. What happens in a cycle is seen from the next.

    Per cycle one row is taken, one gets a register more, another one loses one; they are different rows.

    Members (P: ``cfg.write_ports``; owners: the results in W0 by port, then the destination of the access, then the
    release)
    -------
    owner_rows : In(ArrayLayout), single : Out(P + 2), marked : Out(P)   Rows of owners: no other register has them;
                                 entries may name them.
    source_rows : In(ArrayLayout)   Rows of which an access may be made, the only one of a perfect hit first.
    ready : Out(3)               Of the highest port's row, then of those: they are filled.
    most : Out(1)                No more registers can have the first one.
    take : In(1), take_row : In(row_bits)   Row that some register has alone from now on.
    enter : In(1)                It is named by an entry from now on, and not filled.
    gain : In(1)                 The first of the source rows has a register more.
    drop, unmark : In(1), drop_row : In(row_bits)   Row that loses a register; no entry names it any more.
    fill : In(2), fill_rows : In(ArrayLayout)   Rows that are filled.
    found : Out(1), lowest : Out(row_bits)   The lowest row that no register has.
    used, shared : Out           Rows that some register has, and that several have.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        ports, row = cfg.write_ports, cfg.row_bits
        rows = index_bits(cfg.rows + 1)
        super().__init__(
            {
                "owner_rows": In(data.ArrayLayout(row, ports + 2)),
                "single": Out(ports + 2),
                "marked": Out(ports),
                "source_rows": In(data.ArrayLayout(row, SOURCES)),
                "ready": Out(1 + SOURCES),
                "most": Out(1),
                **{name: In(1) for name in ("take", "enter", "gain", "drop", "unmark")},
                **{name: In(row) for name in ("take_row", "drop_row")},
                "fill": In(2),
                "fill_rows": In(data.ArrayLayout(row, 2)),
                "found": Out(1),
                "lowest": Out(row),
                **{name: Out(rows) for name in ("used", "shared")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Counts bit by bit, and what is asked of them, as columns of all rows."""
        m = Module()
        rows, bits = self._cfg.rows, self._cfg.count_bits
        counts = [Signal(rows, name=f"count{bit}") for bit in range(bits)]
        ready, marked = Signal(rows, name="ready_rows", init=(1 << rows) - 1), Signal(rows, name="marked_rows")
        several = any_of(counts[1:]) if bits > 1 else Const(0, rows)
        free, single, most = (
            named(m, name, column)
            for name, column in (
                ("free", ~(several | counts[0])),
                ("alone", ~several & counts[0]),
                ("full", functools.reduce(operator.and_, counts)),
            )
        )
        owners = [named(m, "owner", decode_row(m, row, rows)) for row in self.owner_rows]
        sources = [named(m, "source", decode_row(m, row, rows)) for row in self.source_rows]
        last = owners[self._cfg.write_ports - 1]
        lowest = stamp(m, "first_free", "lowest_row", lambda: LowestRow(rows), clocked=False)
        m.d.comb += [
            self.single.eq(Cat((single & row).any() for row in owners)),
            self.marked.eq(Cat((marked & row).any() for row in owners[: self._cfg.write_ports])),
            self.ready.eq(Cat((ready & row).any() for row in (last, *sources))),
            self.most.eq((most & sources[0]).any()),
            lowest.rows.eq(free),
            self.found.eq(lowest.found),
            self.lowest.eq(lowest.row),
            self.used.eq(count_ones(list(~free))),
            self.shared.eq(count_ones(list(~(free | single)))),
        ]
        self._change(m, counts, ready, marked, sources[0])
        return m

    def _change(self, m: Module, counts: list[Signal], ready: Signal, marked: Signal, first: Value) -> None:
        """What is taken, gained, dropped and filled. A row that is taken has no owner, or has its last one dropped."""
        rows = self._cfg.rows
        take, drop, fills = (
            decode_row(m, self.take_row, rows),
            decode_row(m, self.drop_row, rows),
            [decode_row(m, row, rows) for row in self.fill_rows],
        )
        takes = named(m, "takes", take & self.take.replicate(rows))
        enters = named(m, "enters", take & self.enter.replicate(rows))
        gains = named(m, "gains", first & self.gain.replicate(rows))
        drops = named(m, "drops", drop & self.drop.replicate(rows))
        filled = any_of(row & bit.replicate(rows) for row, bit in zip(fills, self.fill, strict=True))
        m.d.sync += [
            marked.eq((marked & ~(drop & self.unmark.replicate(rows))) | enters),
            ready.eq((ready | filled) & ~enters),
        ]
        up: Value = gains
        down: Value = drops
        for bit, count in enumerate(counts):
            alone = takes if bit == 0 else Const(0, rows)
            m.d.sync += count.eq((count ^ up ^ down) | alone)
            up, down = named(m, f"up{bit}", up & count), named(m, f"down{bit}", down & ~count)
