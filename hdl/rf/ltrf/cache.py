"""Banks of the cache, with what reads and writes them (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, highest_one, select
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf.bank import ReadArbiter
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.matching import is_matched
from warpfile.hdl.rf.read_side import connect_reads, read_lanes, read_members
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.structure import CACHE_RAM


class CacheBank(wiring.Component):
    """One bank of the cache: a read port and a write port. A fill goes before results, a write-back behind units unless
    it goes first.

    Members
    -------
    writes : In(write_ports), accept : Out(write_ports)   Results for this bank, and the one that it takes.
    rows_written : In(ArrayLayout), masks : In(ArrayLayout)   Per port.
    write_data : In(data_bits)   Of the one that is accepted, or of the store.
    load, load_first : In(1), load_row : In, loaded : Out(1)   A write-back asks to read a row, goes before all others,
                                 is served.
    store : In(1), store_row : In   A fill writes a row, all lanes.
    requests, passed_over, older, grant, chosen   As in :class:`hdl.rf.bank.ReadArbiter`.
    free : Out(1)                As in :class:`hdl.rf.bank.Bank`.
    rows : In(ArrayLayout)       Row of each slot that may ask.
    fill : Out(units * slots)    Slot whose data are on ``read_data``, in the cycle after its grant.
    read_data : Out(data_bits)   The row that was read.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cache = cfg.cache
        units, slots, ports = cache.asks.units, cache.asks.units * cache.asks.slots, cache.write_ports
        super().__init__(
            {
                "writes": In(ports),
                "accept": Out(ports),
                "rows_written": In(data.ArrayLayout(cache.row_bits, ports)),
                "masks": In(data.ArrayLayout(cache.lanes, ports)),
                "write_data": In(cache.data_bits),
                **{name: In(1) for name in ("load", "load_first", "store")},
                **{name: In(cache.row_bits) for name in ("load_row", "store_row")},
                "loaded": Out(1),
                "requests": In(slots),
                "passed_over": In(units),
                "older": In(units**2),
                "rows": In(data.ArrayLayout(cache.row_bits, slots)),
                "grant": Out(slots),
                "chosen": Out(units),
                **({"free": Out(1)} if is_matched(cache) else {}),
                "fill": Out(slots),
                "read_data": Out(cache.data_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Who has each port, and the SRAM."""
        m = Module()
        m.submodules.ram = ram = BankRam(self._cfg, CACHE_RAM)
        self._write(m, ram)
        self._read(m, ram)
        m.d.comb += [self.read_data.eq(ram.read_data), ram.write_data.eq(self.write_data)]
        return m

    def _write(self, m: Module, ram: BankRam) -> None:
        cfg = self._cfg
        m.d.comb += [
            self.accept.eq(highest_one(self.writes) & ~self.store.replicate(cfg.write_ports)),
            ram.write.eq(self.writes.any() | self.store),
            ram.write_row.eq(select((*self.accept, self.store), [*self.rows_written, self.store_row])),
            ram.mask.eq(select(self.accept, list(self.masks)) | self.store.replicate(cfg.lanes)),
        ]

    def _read(self, m: Module, ram: BankRam) -> None:
        cfg = self._cfg
        m.submodules.arbiter = arbiter = ReadArbiter(cfg)
        if is_matched(cfg):
            m.d.comb += self.free.eq(arbiter.free)
        m.d.comb += [
            *(getattr(arbiter, name).eq(getattr(self, name)) for name in ("requests", "passed_over", "older")),
            arbiter.free.eq(~(self.load & self.load_first)),
            self.grant.eq(arbiter.grant),
            self.chosen.eq(arbiter.chosen),
            self.loaded.eq(self.load & ~self.chosen.any()),
            ram.read.eq(self.load | self.chosen.any()),
            ram.read_row.eq(
                select(self.grant, list(self.rows)) | (self.load_row & self.loaded.replicate(cfg.row_bits))
            ),
        ]
        m.d.sync += self.fill.eq(self.grant)


class CacheLane(wiring.Component):
    """One lane of the way from write-back ports and staging registers to the banks of the cache.

    Members
    -------
    results : In(32 * ports), accept : In(banks * ports)   Bit ``bank * ports + port``.
    staged : In(32 * banks), store : In(banks)   Staging registers, and those that are written.
    banks : Out(32 * banks)      What each bank is to write in this lane.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        ports, banks = cfg.write_ports, cfg.interval_registers
        super().__init__(
            {
                "results": In(32 * ports),
                "accept": In(banks * ports),
                "staged": In(32 * banks),
                "store": In(banks),
                "banks": Out(32 * banks),
            }
        )

    def elaborate(self, platform) -> Module:
        """AND-OR per bank."""
        m = Module()
        ports = self._cfg.write_ports
        results = [self.results.word_select(port, 32) for port in range(ports)]
        for bank, store in enumerate(self.store):
            choice = (*self.accept.word_select(bank, ports), store)
            value = select(choice, [*results, self.staged.word_select(bank, 32)])
            m.d.comb += self.banks.word_select(bank, 32).eq(value)
        return m


class CacheBanks(wiring.Component):
    """All banks of the cache with their crossbars.

    Members
    -------
    result_valid : In(ports), result_places, result_masks, result_data : In(ArrayLayout), accept : Out(ports)
                                 As in :class:`hdl.rf.banks.Banks`.
    load, load_first, store : In(banks), load_rows, store_rows : In(ArrayLayout), loaded : Out(banks)   As in
                                 :class:`CacheBank`.
    staged : In(ArrayLayout)     Lane-major: lane, then bank: the staging registers.
    read_data : Out(ArrayLayout) Likewise, what the banks have read.
    See also :func:`read_members`.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._cache = cache = cfg.cache
        ports, banks = cache.write_ports, cache.banks
        words = data.ArrayLayout(32 * banks, cache.lanes)
        super().__init__(
            {
                "result_valid": In(ports),
                "result_places": In(places_layout(cache, ports)),
                "result_masks": In(data.ArrayLayout(cache.lanes, ports)),
                "result_data": In(data.ArrayLayout(cache.data_bits, ports)),
                "accept": Out(ports),
                **{name: In(banks) for name in ("load", "load_first", "store")},
                **{name: In(data.ArrayLayout(cache.row_bits, banks)) for name in ("load_rows", "store_rows")},
                "loaded": Out(banks),
                "staged": In(words),
                "read_data": Out(words),
                **read_members(cache),
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of both crossbars."""
        m = Module()
        banks = [self._bank(m, number) for number in range(self._cache.banks)]
        m.d.comb += self.accept.eq(any_of(bank.accept for bank in banks))
        connect_reads(m, self._cache, self, banks)
        read_lanes(m, self._cache, self, banks)
        self._write_lanes(m, banks)
        return m

    def _bank(self, m: Module, number: int) -> wiring.PureInterface:
        bank = stamp(m, f"bank{number}", "cache_bank", lambda: CacheBank(self._cfg))
        m.d.comb += [
            bank.writes.eq(self.result_valid & Cat(place.bank == number for place in self.result_places)),
            bank.rows_written.eq(Cat(place.row for place in self.result_places)),
            bank.masks.eq(self.result_masks),
            *(getattr(bank, name).eq(getattr(self, name)[number]) for name in ("load", "load_first", "store")),
            bank.load_row.eq(self.load_rows[number]),
            bank.store_row.eq(self.store_rows[number]),
            self.loaded[number].eq(bank.loaded),
        ]
        return bank

    def _write_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        ports, accept = range(self._cache.write_ports), Cat(bank.accept for bank in banks)
        lanes = []
        for number in range(self._cache.lanes):
            lane = stamp(m, f"cache_lane{number}", "interval_cache_lane", lambda: CacheLane(self._cfg), clocked=False)
            m.d.comb += [
                lane.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in ports)),
                lane.accept.eq(accept),
                lane.staged.eq(self.staged[number]),
                lane.store.eq(self.store),
                self.read_data[number].eq(Cat(bank.read_data.word_select(number, 32) for bank in banks)),
            ]
            lanes.append(lane)
        for index, bank in enumerate(banks):
            m.d.comb += bank.write_data.eq(Cat(lane.banks.word_select(index, 32) for lane in lanes))
