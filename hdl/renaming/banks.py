"""All banks, with the ways from the results and to the units (docs/schemes/corf.md, section 5)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.bank import ResultBank
from warpfile.hdl.renaming.lane import ResultLane
from warpfile.hdl.rf.lanes import WriteLane
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.read_side import connect_reads, read_lanes, read_members
from warpfile.hdl.slices import size_of, way_in, way_out
from warpfile.hdl.stamp import stamp
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.renamed import RenamedConfig


class RenamedBanks(wiring.Component):
    """The data of results and banks: width detectors, T, W0 and W1, packers, merges, banks, the way to the units.

    Members (P: ``cfg.write_ports``)
    -------
    result_data, result_masks : In(ArrayLayout)   Results in X and their lanes.
    sizes : Out(ArrayLayout)         Bytes that they need, one-hot.
    evicts : In(1), evict_data : In(ArrayLayout)   Port 0 has this in X instead of its result; only with
                                     ``asks.evicts``.
    offered, room : In(P)            There is one to be stored; the stage behind X has room for it, whether it enters or
                                     not.
    advances : In(P)                 Results go from T to W0; only with ``gives.lead`` > 1, where that stage is T.
    moves : In(P), masks : In(ArrayLayout)   Results enter W1, packed into these slices.
    merges : In(P), merge_places, old_masks : In(ArrayLayout)   Results in W0 that want their old row, which it is, and
                                     the slices of the value there.
    merged : Out(P)                  They are served; the data come in the cycle after.
    stores : In(P), store_places, store_masks, store_lanes : In(ArrayLayout)   W1: where, which slices, which lanes.
    accept : Out(P)                  A bank takes it.
    joined_rows, joined_masks : In(ArrayLayout)   See :func:`hdl.rf.contract.between_members`.
    other_stores, other_merges : In(others), other_places, other_lanes : In(ArrayLayout)   Clients beside the ports that
                                     want to write lanes of a row, or to read it; this and what follows only with
                                     ``others``.
    other_data : In(ArrayLayout)     Lane-major: what they write.
    other_accept, other_merged : Out(others)   They are served.
    idle_reads : In(1), idle_place : In, idle_read : Out(1)   One more client, which reads where no client asks; it is
                                     served; only with ``reads_idle``.
    engine_fill : Out, engine_read : Out(ArrayLayout)   Rows of the other clients are there, that one's last, and these,
                                     lane-major.
    See also :func:`hdl.rf.read_side.read_members`.
    """

    def __init__(self, cfg: RenamedConfig, others: int = 0, *, reads_idle: bool = False) -> None:
        self._cfg, self._others, self._planes = cfg, others, cfg.joins_planes
        self._reads_idle, self._has_t = reads_idle, cfg.gives.lead > 1
        ports, units = cfg.write_ports, cfg.asks.units
        slices, lanes = data.ArrayLayout(SLICES, ports), data.ArrayLayout(cfg.lanes, ports)
        members: dict[str, wiring.Member] = {
            "result_data": In(data.ArrayLayout(cfg.data_bits, ports)),
            **{name: In(lanes) for name in ("result_masks", "store_lanes")},
            "sizes": Out(slices),
            **{name: In(ports) for name in ("offered", "room", "moves", "merges", "stores")},
            **{name: In(slices) for name in ("masks", "old_masks", "store_masks")},
            **{name: In(places_layout(cfg, ports)) for name in ("merge_places", "store_places")},
            **{name: Out(ports) for name in ("merged", "accept")},
            **read_members(cfg),
        }
        if self._has_t:
            members["advances"] = In(ports)
        if self._planes:
            members["joined_rows"] = In(data.ArrayLayout(cfg.row_bits, units))
            members["joined_masks"] = In(data.ArrayLayout(SLICES, units))
        if cfg.asks.evicts:
            members |= {"evicts": In(1), "evict_data": In(data.ArrayLayout(32, cfg.lanes))}
        if reads_idle:
            members |= {"idle_reads": In(1), "idle_place": In(location_layout(cfg)), "idle_read": Out(1)}
        if readers := others + reads_idle:
            members["engine_fill"] = Out(readers)
            members["engine_read"] = Out(data.ArrayLayout(32 * readers, cfg.lanes))
        super().__init__(members | (self._clients() if others else {}))

    def _clients(self) -> dict[str, wiring.Member]:
        cfg, count = self._cfg, self._others
        return {
            **{name: In(count) for name in ("other_stores", "other_merges")},
            "other_places": In(places_layout(cfg, count)),
            "other_lanes": In(data.ArrayLayout(cfg.lanes, count)),
            "other_data": In(data.ArrayLayout(32 * count, cfg.lanes)),
            **{name: Out(count) for name in ("other_accept", "other_merged")},
        }

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes."""
        m = Module()
        banks = []
        idle = self._reads_idle
        for index in range(self._cfg.banks):
            bank = stamp(
                m, f"bank{index}", "register_bank", lambda: ResultBank(self._cfg, self._others, reads_idle=idle)
            )
            self._connect(m, index, bank)
            banks.append(bank)
        accept, merged = self._accepted(m), any_of(bank.merged for bank in banks)
        if self._others:
            merged = named(m, "read", merged)
            m.d.comb += [self.other_accept.eq(accept), self.other_merged.eq(merged)]
        if idle:
            m.d.comb += self.idle_read.eq(any_of(bank.idle_read for bank in banks))
        if self._others + idle:
            m.d.comb += self.engine_fill.eq(any_of(bank.engine_fill for bank in banks))
        first = self._others
        m.d.comb += [self.accept.eq(accept[first:] if first else accept)]
        m.d.comb += [self.merged.eq(merged[first:] if first else merged)]
        connect_reads(m, self._cfg, self, banks)
        self._results(m, banks)
        read_lanes(m, self._cfg, self, banks)
        return m

    def _connect(self, m: Module, index: int, bank: wiring.PureInterface) -> None:
        same = ("joined_rows", "joined_masks") if self._planes else ()
        places, stores, merges, masks, lanes = self._claims()
        stored, merged = [*places, *self.store_places], [*places, *self.merge_places]
        m.d.comb += [
            bank.stores.eq(stores & Cat(place.bank == index for place in stored)),
            bank.merges.eq(merges & Cat(place.bank == index for place in merged)),
            bank.store_rows.eq(Cat(place.row for place in stored)),
            bank.merge_rows.eq(Cat(place.row for place in merged)),
            bank.store_masks.eq(masks),
            bank.store_lanes.eq(lanes),
            *(getattr(bank, name).eq(getattr(self, name)) for name in same),
        ]
        if self._reads_idle:
            m.d.comb += [
                bank.idle_reads.eq(self.idle_reads & (self.idle_place.bank == index)),
                bank.idle_row.eq(self.idle_place.row),
            ]

    def _accepted(self, m: Module) -> Value:
        """Values that their banks take: those of which nothing is in the same bank that comes before. What the banks
        choose says the same, but later, and much waits for it."""
        places, stores, merges, _, _ = self._claims()
        values = list(zip(named(m, "stored", stores), [*places, *self.store_places], strict=True))
        rows = list(zip(named(m, "read", merges), [*places, *self.merge_places], strict=True))
        accepted = []
        for own, (stored, place) in enumerate(values):
            before = [*values[own + 1 :], *(rows[own + 1 :] if own < self._others else ())]
            accepted.append(stored & ~any_of(bit & (other.bank == place.bank) for bit, other in before))
        return named(m, "accepted", Cat(accepted))

    def _claims(self) -> tuple[list[data.View], Value, Value, Value, Value]:
        """Places of the other clients; then of all, these first: who stores, who reads, slices and lanes of stores."""
        if not self._others:
            return [], self.stores, self.merges, self.store_masks, self.store_lanes
        whole = Const(-1, SLICES * self._others)
        return (
            list(self.other_places),
            Cat(self.other_stores, self.stores),
            Cat(self.other_merges, self.merges),
            Cat(whole, self.store_masks),
            Cat(self.other_lanes, self.store_lanes),
        )

    def _results(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        """The lanes of the results: to the banks, and back where a row is merged."""
        ports = range(self._cfg.write_ports)
        first = self._others
        merging = [Signal(len(banks), name=f"merging{port}") for port in ports]
        m.d.sync += [bits.eq(Cat(bank.merged[first + port] for bank in banks)) for port, bits in enumerate(merging)]
        ways_in = named(m, "ways_in", Cat(way_in(mask) for mask in self.masks))
        ways_out = named(m, "ways_out", Cat(way_out(mask) for mask in self.old_masks))
        takes = named(m, "takes", self.offered & self.room)
        accept, more, written = Cat(bank.accept[first:] for bank in banks), [], []
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"result_lane{number}", "result_lane", lambda: ResultLane(self._cfg))
            write = stamp(m, f"write_lane{number}", "write_lane", lambda: WriteLane(self._cfg, first), clocked=False)
            m.d.comb += [
                lane.results.eq(Cat(word.word_select(number, 32) for word in self.result_data)),
                lane.mask.eq(Cat(mask[number] for mask in self.result_masks)),
                lane.banks.eq(Cat(bank.read_data.word_select(number, 32) for bank in banks)),
                lane.merge_banks.eq(Cat(merging)),
                lane.moves.eq(self.moves),
                lane.ways_in.eq(ways_in),
                lane.ways_out.eq(ways_out),
                lane.takes.eq(takes),
                write.results.eq(lane.stores),
                write.accept.eq(accept),
            ]
            if self._has_t:
                m.d.comb += lane.advances.eq(self.advances)
            if first:
                taken = Cat(bank.accept[:first] for bank in banks)
                m.d.comb += [write.others.eq(self.other_data[number]), write.taken.eq(taken)]
            if self._cfg.asks.evicts:
                m.d.comb += [lane.evicts.eq(self.evicts), lane.evict_data.eq(self.evict_data[number])]
            more.append(lane.more)
            written.append(write.banks)
        self._sizes(m, any_of(more))
        for index, bank in enumerate(banks):
            m.d.comb += bank.store_data.eq(Cat(word.word_select(index, 32) for word in written))

    def _sizes(self, m: Module, more: Signal) -> None:
        """The size of a value is that of its largest lane; without packing all are four bytes."""
        for port, size in enumerate(self.sizes):
            lanes = more.word_select(port, SLICES - 1)
            m.d.comb += size.eq(size_of(lanes) if self._cfg.gives.slices else 1 << SLICES - 1)
