"""Writes that wait in front of the banks: order and rows per bank, lanes and data per lane."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig


def queue_sources(cfg: RfcConfig) -> int:
    """Where an entry's data may come from: the write-back ports, then the read ports of the cache, if there is one."""
    return cfg.write_ports + (READ_PORTS if cfg.cache_entries else 0)


class WriteQueue(wiring.Component):
    """Control of the queue in front of one bank: a ring of rows. Lanes and data are in :class:`QueueLane`.

    What is pushed in one cycle may be popped in the next. The user pushes only where the queue is not full and pops
    only what is there. Everything that is said holds for the start of the cycle.

    Members
    -------
    push : In(1), row : In(row_bits)    An entry comes, for this row.
    pop : In(1)                         The oldest entry leaves.
    full, filled : Out(1)               No room; something to pop.
    entry, head : Out(write_queue)      Entry that a push takes, entry that a pop leaves; one-hot.
    head_row : Out(row_bits)            Row of the oldest entry.
    count : Out                         Entries that wait.
    rows : In(ArrayLayout), found : Out(collectors * slots)   Rows looked up among all that wait.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        slots, depth = cfg.collectors * cfg.source_slots, cfg.write_queue
        super().__init__(
            {
                "push": In(1),
                "row": In(cfg.row_bits),
                "pop": In(1),
                "full": Out(1),
                "filled": Out(1),
                "entry": Out(depth, init=1),
                "head": Out(depth, init=1),
                "head_row": Out(cfg.row_bits),
                "count": Out(index_bits(depth + 1)),
                "rows": In(data.ArrayLayout(cfg.row_bits, slots)),
                "found": Out(slots),
            }
        )

    def elaborate(self, platform) -> Module:
        """Two pointers around the ring, and a comparator per entry and row that is looked up."""
        m = Module()
        depth = self._cfg.write_queue
        held = Signal(depth)
        rows = [Signal(self._cfg.row_bits, name=f"row{entry}", reset_less=True) for entry in range(depth)]
        for entry, row in enumerate(rows):
            take(m, self._cfg, row.name, [row], (self.push & self.entry[entry], [self.row]))
        comes, goes = self.push.replicate(depth), self.pop.replicate(depth)
        m.d.sync += held.eq((held & ~(self.head & goes)) | (self.entry & comes))
        for pointer, moves in ((self.entry, self.push), (self.head, self.pop)):
            with m.If(moves):
                m.d.sync += pointer.eq(pointer.rotate_left(1))
        same = [any_of(held[entry] & (row == wanted) for entry, row in enumerate(rows)) for wanted in self.rows]
        m.d.comb += [
            self.full.eq(held.all()),
            self.filled.eq(held.any()),
            self.head_row.eq(select(self.head, rows)),
            self.count.eq(sum(held)),
            self.found.eq(Cat(*same)),
        ]
        return m


class QueueLane(wiring.Component):
    """One lane of the queues of all banks: per entry the lane's write enable and its word.

    Members
    -------
    results : In(32 * ports), masks : In(ports)   This lane of the results, and whether they have it.
    reads : In(32 * READ_PORTS)                   This lane of what the cache reads; only with a cache.
    saves : In(READ_PORTS)                        Whether it is written; only where lines know their lanes, else always.
    sources : In(banks * queue_sources)           Per bank, where its new entry comes from, one-hot.
    entries, heads : In(banks * write_queue)      Per bank, the entry that is filled, zero for none, and the oldest.
    banks : Out(32 * banks), enable : Out(banks)  Of the oldest entries.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        depth = cfg.banks * cfg.write_queue
        members = {
            "results": In(32 * cfg.write_ports),
            "masks": In(cfg.write_ports),
            "sources": In(cfg.banks * queue_sources(cfg)),
            "entries": In(depth),
            "heads": In(depth),
            "banks": Out(32 * cfg.banks),
            "enable": Out(cfg.banks),
        }
        if cfg.cache_entries:
            members["reads"] = In(32 * READ_PORTS)
        if cfg.keeps_lanes:
            members["saves"] = In(READ_PORTS)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """AND-OR into the entries of each bank, AND-OR out of them."""
        m = Module()
        cfg, depth = self._cfg, self._cfg.write_queue
        words = [self.results.word_select(port, 32) for port in range(cfg.write_ports)]
        lanes = [self.masks[port] for port in range(cfg.write_ports)]
        if cfg.cache_entries:
            words += [self.reads.word_select(port, 32) for port in range(READ_PORTS)]
        for bank in range(cfg.banks):
            sources = self.sources.word_select(bank, queue_sources(cfg))
            word = named(m, f"word{bank}", select(sources, words))
            saved = sources[cfg.write_ports :]
            saved = (saved & self.saves if cfg.keeps_lanes else saved).any()
            lane = named(m, f"lane{bank}", select(sources[: cfg.write_ports], lanes) | saved)
            kept = []
            for entry in range(depth):
                held = Signal(33, name=f"bank{bank}_entry{entry}", reset_less=True)
                take(m, cfg, held.name, [held], (self.entries[bank * depth + entry], [Cat(word, lane)]))
                kept.append(held)
            out = named(m, f"oldest{bank}", select(self.heads.word_select(bank, depth), kept))
            m.d.comb += [self.banks.word_select(bank, 32).eq(out[:32]), self.enable[bank].eq(out[32])]
        return m
