"""One bank: who is served, and what is leaving (docs/schemes/corf.md, section 5, "Banks")."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rams.slices import SlicedRam
from warpfile.hdl.rf.bank import ReadArbiter
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.renamed import RenamedConfig


class ResultBank(wiring.Component):
    """A single-port bank: results first, stores before merges, of these higher ports before lower ones.

    ``others``: so many clients beside the ports, which write whole values and read; they come last, also the later ones
    of them first, and of one the store before the read. ``reads_idle``: behind all of them one more, which only reads,
    and is served when no client asks.

    Members (C: ``others``, then ``cfg.write_ports``)
    -------
    stores : In(C), store_rows, store_masks, store_lanes : In(ArrayLayout)   Values for this bank: row, slices, lanes.
    store_data : In(data_bits)       Of the one that is accepted (selected outside).
    accept : Out(C)                  One-hot in the same cycle.
    merges : In(C), merge_rows : In(ArrayLayout), merged : Out(C)   Results that want a row of it; who is served.
    requests, passed_over, older : In, grant, chosen : Out   See :class:`hdl.rf.bank.ReadArbiter`.
    rows : In(ArrayLayout)           Row of every slot that asks.
    joined_rows, joined_masks : In(ArrayLayout)   By unit: row of the slices that come from another row; only with
                                     ``asks.joins`` = ``planes``.
    idle_reads : In(1), idle_row : In(row_bits), idle_read : Out(1)   That one: it wants this row; it is served. Its
                                     row is shown to the memory whether or not it wants it.
    engine_fill : Out                Clients whose row is there, the ``others`` and then that one.
    fill : Out(units * slots), read_data : Out(data_bits)   What a read brings, in the cycle after.
    """

    def __init__(self, cfg: RenamedConfig, others: int = 0, *, reads_idle: bool = False) -> None:
        self._cfg, self._planes, self._reads_idle = cfg, cfg.joins_planes, reads_idle
        ports, units, slots = others + cfg.write_ports, cfg.asks.units, cfg.asks.units * cfg.asks.slots
        self._others = others
        members: dict[str, wiring.Member] = {
            **{name: In(ports) for name in ("stores", "merges")},
            **{name: Out(ports) for name in ("accept", "merged")},
            **{name: In(data.ArrayLayout(cfg.row_bits, ports)) for name in ("store_rows", "merge_rows")},
            "store_masks": In(data.ArrayLayout(SLICES, ports)),
            "store_lanes": In(data.ArrayLayout(cfg.lanes, ports)),
            "store_data": In(cfg.data_bits),
            "requests": In(slots),
            "passed_over": In(units),
            "older": In(units**2),
            "rows": In(data.ArrayLayout(cfg.row_bits, slots)),
            **{name: Out(slots) for name in ("grant", "fill")},
            "chosen": Out(units),
            "read_data": Out(cfg.data_bits),
        }
        if others + reads_idle:
            members["engine_fill"] = Out(others + reads_idle)
        if reads_idle:
            members |= {"idle_reads": In(1), "idle_row": In(cfg.row_bits), "idle_read": Out(1)}
        if self._planes:
            members["joined_rows"] = In(data.ArrayLayout(cfg.row_bits, units))
            members["joined_masks"] = In(data.ArrayLayout(SLICES, units))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Who has the port, then the SRAM."""
        m = Module()
        ports = range(len(self.stores))
        order = [(bits, port) for bits in (self.stores, self.merges) for port in reversed(ports[self._others :])]
        order += [(bits, port) for port in reversed(ports[: self._others]) for bits in (self.stores, self.merges)]
        first = named(m, "first", lowest_one(Cat(bits[port] for bits, port in order)))
        for (bits, port), served in zip(order, first, strict=True):
            m.d.comb += (self.accept if bits is self.stores else self.merged)[port].eq(served)
        m.submodules.arbiter = arbiter = ReadArbiter(self._cfg)
        inputs, outputs = ("requests", "passed_over", "older"), ("grant", "chosen")
        m.d.comb += [getattr(arbiter, name).eq(getattr(self, name)) for name in inputs]
        m.d.comb += [getattr(self, name).eq(getattr(arbiter, name)) for name in outputs]
        m.d.comb += arbiter.free.eq(~(self.stores | self.merges).any())
        m.d.sync += self.fill.eq(self.grant)
        idle: Value = Const(0, 1)
        if self._reads_idle:
            idle = named(m, "idle", arbiter.free & ~self.requests.any())
            m.d.comb += self.idle_read.eq(self.idle_reads & idle)
        if self._others + self._reads_idle:
            also = self.idle_read if self._reads_idle else Const(0, 0)
            m.d.sync += self.engine_fill.eq(Cat(self.merged[: self._others], also))
        self._memory(m, idle)
        return m

    def _memory(self, m: Module, idle: Value) -> None:
        stores = named(m, "store", self.accept.any())
        own = named(
            m, "own_row", select(self.accept, list(self.store_rows)) | select(self.merged, list(self.merge_rows))
        )
        row, reads = own | select(self.grant, list(self.rows)), self.chosen.any() | self.merged.any()
        if self._reads_idle:
            row, reads = row | (self.idle_row & idle.replicate(len(row))), reads | self.idle_read
        row, reads = named(m, "row", row), named(m, "reads", reads)
        lanes = named(m, "lanes", select(self.accept, list(self.store_lanes)))
        if not self._cfg.gives.slices:
            m.submodules.ram = ram = BankRam(self._cfg)
            m.d.comb += [ram.read.eq(reads), ram.write.eq(stores), ram.mask.eq(lanes)]
            m.d.comb += [ram.read_row.eq(row), ram.write_row.eq(row)]
        else:
            m.submodules.ram = ram = SlicedRam(self._cfg, self._planes)
            slices = named(m, "slices", select(self.accept, list(self.store_masks)))
            m.d.comb += [ram.enable.eq(reads | stores), ram.write.eq(stores)]
            m.d.comb += ram.mask.eq(Cat(slices & lane.replicate(SLICES) for lane in lanes))
            m.d.comb += [address.eq(one) for address, one in zip(ram.rows, self._rows(m, row), strict=True)]
        m.d.comb += [ram.write_data.eq(self.store_data), self.read_data.eq(ram.read_data)]

    def _rows(self, m: Module, row: Value) -> list[Value]:
        """Row of each slice, or of all."""
        if not self._planes:
            return [row]
        mask, other = (
            named(m, name, select(self.chosen, list(values)))
            for name, values in (("joined_mask", self.joined_masks), ("joined_row", self.joined_rows))
        )
        return [Mux(bit, other, row) for bit in mask]
