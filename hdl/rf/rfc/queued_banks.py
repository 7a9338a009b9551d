"""All banks of a register file whose banks are written through a queue each."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.read_side import connect_reads, read_lanes, read_members
from warpfile.hdl.rf.rfc.write_queue import QueueLane, WriteQueue, queue_sources
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig

WRITERS = ("short", "long", "flush")  #: who sends to the queues; each another one in the same cycle


class QueuedBanks(wiring.Component):
    """All banks with their queues and crossbars. A bank is written by its queue alone, and by that before it is read.

    Members
    -------
    push : In(writers)                 What each writer sends goes to the queue of its bank, which must not be full.
    claims : In(writers - 1)           The writer would push if the queue were not full; all but the last. No later one
                                       pushes to that bank. Earlier known than ``push``, it gives what the entry holds.
    push_places : In(ArrayLayout), push_sources : In(ArrayLayout)   Per writer; where the data are, one-hot.
    results, masks : In(ArrayLayout)   Of the write-back ports.
    reads : In(ArrayLayout)            What the cache reads, lane-major; only with a cache.
    saves : In(ArrayLayout)            Likewise, whether it has the lane; only where lines know their lanes.
    full : Out(banks)                  At the start of the cycle.
    counts : Out(ArrayLayout), write : Out(banks)   Entries that wait; banks that take the oldest one.
    queued : Out(units * slots)        Slots whose row is in its bank's queue.
    See also :func:`read_members`.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        writers = len(WRITERS)
        members = {
            "push": In(writers),
            "claims": In(writers - 1),
            "push_places": In(places_layout(cfg, writers)),
            "push_sources": In(data.ArrayLayout(queue_sources(cfg), writers)),
            "results": In(data.ArrayLayout(cfg.data_bits, cfg.write_ports)),
            "masks": In(data.ArrayLayout(cfg.lanes, cfg.write_ports)),
            "full": Out(cfg.banks),
            "counts": Out(data.ArrayLayout(index_bits(cfg.write_queue + 1), cfg.banks)),
            "write": Out(cfg.banks),
            "queued": Out(cfg.asks.units * cfg.asks.slots),
            **read_members(cfg),
        }
        if cfg.cache_entries:
            members["reads"] = In(data.ArrayLayout(32 * READ_PORTS, cfg.lanes))
        if cfg.keeps_lanes:
            members["saves"] = In(data.ArrayLayout(READ_PORTS, cfg.lanes))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Queue and bank by bank in index order, then the lanes of both crossbars."""
        m = Module()
        queues, banks, sources = [], [], []
        for index in range(self._cfg.banks):
            queue = stamp(m, f"queue{index}", "write_queue", lambda: WriteQueue(self._cfg))
            bank = stamp(m, f"bank{index}", "register_bank", lambda: Bank(self._cfg.replace(ports=1)))
            sources.append(self._push(m, index, queue))
            m.d.comb += [
                bank.writes.eq(queue.filled),
                bank.write_rows[0].eq(queue.head_row),
                queue.pop.eq(bank.accept),
                self.write[index].eq(bank.accept),
            ]
            queues.append(queue)
            banks.append(bank)
        slots = connect_reads(m, self._cfg, self, banks)
        m.d.comb += self.queued.eq(any_of(queue.found & slot for queue, slot in zip(queues, slots, strict=True)))
        self._queue_lanes(m, queues, banks, sources)
        read_lanes(m, self._cfg, self, banks)
        return m

    def _push(self, m: Module, index: int, queue: wiring.PureInterface) -> Value:
        """What goes to one queue. Returns where its data come from."""
        places = [self.push_places[writer] for writer in range(len(WRITERS))]
        mine = named(m, f"mine{index}", Cat(place.bank == index for place in places))
        here = named(m, f"push{index}", self.push & mine)
        chosen = named(m, f"chosen{index}", lowest_one(Cat(self.claims & mine[:-1], Const(1, 1))))
        m.d.comb += [
            queue.push.eq(here.any()),
            queue.row.eq(select(chosen, [place.row for place in places])),
            queue.rows.eq(Cat(place.row for place in self.places)),
            self.full[index].eq(queue.full),
            self.counts[index].eq(queue.count),
        ]
        return named(m, f"sources{index}", select(chosen, list(self.push_sources)))

    def _queue_lanes(self, m: Module, queues: list, banks: list, sources: list[Value]) -> None:
        ports = range(self._cfg.write_ports)
        filled = Cat(queue.entry & queue.push.replicate(len(queue.entry)) for queue in queues)
        filled, heads = named(m, "filled", filled), named(m, "heads", Cat(queue.head for queue in queues))
        sources = named(m, "sources", Cat(*sources))
        lanes = []
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"queue_lane{number}", "queue_lane", lambda: QueueLane(self._cfg))
            m.d.comb += [
                lane.results.eq(Cat(self.results[port].word_select(number, 32) for port in ports)),
                lane.masks.eq(Cat(self.masks[port][number] for port in ports)),
                lane.sources.eq(sources),
                lane.entries.eq(filled),
                lane.heads.eq(heads),
            ]
            if self._cfg.cache_entries:
                m.d.comb += lane.reads.eq(self.reads[number])
            if self._cfg.keeps_lanes:
                m.d.comb += lane.saves.eq(self.saves[number])
            lanes.append(lane)
        for index, bank in enumerate(banks):
            m.d.comb += [
                bank.masks[0].eq(Cat(lane.enable[index] for lane in lanes)),
                bank.write_data.eq(Cat(lane.banks.word_select(index, 32) for lane in lanes)),
            ]
