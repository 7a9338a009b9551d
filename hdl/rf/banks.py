"""Banked register file: which access each bank serves, and the way of the data to collector units and from ports."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdl.arbiter import RoundRobin, any_of, highest_one, lowest_one, oldest_one, select
from hdl.rf.location import location_layout
from hdl.rf.ram import BankRam
from hdl.stamp import stamp
from spec.config import Config, index_bits


class ReadArbiter(wiring.Component):
    """Chooses the source slot that one bank serves.

    Members
    -------
    requests : In(collectors * slots)   Slots that ask this bank.
    passed_over : In(collectors)        Units that a lower bank serves in this cycle (``collect`` = ``one``).
    free : In(1)                        The bank's port can read.
    older : In(collectors ** 2)         Order of allocation (``bank_arbitration`` = ``oldest``).
    grant : Out(collectors * slots)     One-hot in the same cycle.
    chosen : Out(collectors)            Unit of the grant, one-hot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        super().__init__(
            {
                "requests": In(slots),
                "passed_over": In(cfg.collectors),
                "free": In(1),
                "older": In(cfg.collectors**2),
                "grant": Out(slots),
                "chosen": Out(cfg.collectors),
            }
        )

    def elaborate(self, platform) -> Module:
        """First the unit, then its lowest slot."""
        m = Module()
        width = self._cfg.source_slots
        slots = [self.requests.word_select(unit, width) for unit in range(self._cfg.collectors)]
        units = Signal(self._cfg.collectors)
        m.d.comb += units.eq(Cat(slot.any() for slot in slots) & ~self.passed_over)
        winner = self._winner(m, units)
        m.d.comb += self.chosen.eq(winner & self.free.replicate(self._cfg.collectors))
        lowest = slots if self._cfg.collect == "lowest" else [lowest_one(slot) for slot in slots]
        granted = [slot & bit.replicate(width) for slot, bit in zip(lowest, self.chosen, strict=True)]
        m.d.comb += self.grant.eq(Cat(*granted))
        return m

    def _winner(self, m: Module, units: Value) -> Value:
        if self._cfg.bank_arbitration == "oldest":
            return oldest_one(units, self.older)
        m.submodules.round_robin = arbiter = RoundRobin(self._cfg.collectors)
        m.d.comb += [arbiter.requests.eq(units), arbiter.taken.eq(self.chosen.any())]
        return arbiter.grant


class Bank(wiring.Component):
    """One bank: its write choice, its read arbiter, its SRAM.

    A write beats reads on a single-port bank. An access keeps the port busy for ``bank_cycles`` cycles.

    Members
    -------
    writes : In(ports)                 Results for this bank; the highest port wins.
    write_rows : In(ArrayLayout), masks : In(ArrayLayout)   Per port.
    write_data : In(data_bits)         Of the accepted port (selected outside, by ``accept``).
    accept : Out(ports)                One-hot in the same cycle.
    requests, passed_over, older : In  See :class:`ReadArbiter`.
    rows : In(ArrayLayout)             Row of each slot that may ask.
    grant, chosen : Out                See :class:`ReadArbiter`.
    fill : Out(collectors * slots)     Slot whose data are on ``read_data``: ``bank_cycles`` cycles after its grant.
    read_data : Out(data_bits)
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        super().__init__(
            {
                "writes": In(cfg.ports),
                "write_rows": In(data.ArrayLayout(cfg.row_bits, cfg.ports)),
                "masks": In(data.ArrayLayout(cfg.lanes, cfg.ports)),
                "write_data": In(cfg.data_bits),
                "accept": Out(cfg.ports),
                "requests": In(slots),
                "passed_over": In(cfg.collectors),
                "older": In(cfg.collectors**2),
                "rows": In(data.ArrayLayout(cfg.row_bits, slots)),
                "grant": Out(slots),
                "chosen": Out(cfg.collectors),
                "fill": Out(slots),
                "read_data": Out(cfg.data_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Write choice, read choice, SRAM, and the record of what is on its way out."""
        m = Module()
        m.submodules.arbiter = arbiter = ReadArbiter(self._cfg)
        m.submodules.ram = ram = BankRam(self._cfg)
        write_free, read_free = self._port_use(m, ram.read, ram.write)
        ports = range(self._cfg.ports)
        m.d.comb += [
            self.accept.eq(highest_one(self.writes) & write_free.replicate(self._cfg.ports)),
            ram.write.eq(self.writes.any() & write_free),
            ram.write_row.eq(select(self.accept, [self.write_rows[port] for port in ports])),
            ram.mask.eq(select(self.accept, [self.masks[port] for port in ports])),
            ram.write_data.eq(self.write_data),
            arbiter.requests.eq(self.requests),
            arbiter.passed_over.eq(self.passed_over),
            arbiter.older.eq(self.older),
            arbiter.free.eq(read_free if self._cfg.bank_ports == "1R1W" else read_free & ~self.writes.any()),
            self.grant.eq(arbiter.grant),
            self.chosen.eq(arbiter.chosen),
            ram.read.eq(self.chosen.any()),
            ram.read_row.eq(select(self.grant, list(self.rows))),
            self.read_data.eq(ram.read_data),
        ]
        self._fills(m)
        return m

    def _port_use(self, m: Module, read: Value, write: Value) -> tuple[Value, Value]:
        if self._cfg.bank_cycles == 1:
            return Const(1, 1), Const(1, 1)
        if self._cfg.bank_ports == "1RW":
            free = self._busy_counter(m, "port", read | write)
            return free, free
        return self._busy_counter(m, "write_port", write), self._busy_counter(m, "read_port", read)

    def _busy_counter(self, m: Module, name: str, start: Value) -> Value:
        left = Signal(index_bits(self._cfg.bank_cycles), name=f"{name}_busy_cycles")
        with m.If(start):
            m.d.sync += left.eq(self._cfg.bank_cycles - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        return ~left.any()

    def _fills(self, m: Module) -> None:
        arriving = self.grant
        for cycle in range(self._cfg.bank_cycles):
            stage = Signal(len(self.grant), name=f"reading{cycle}")
            m.d.sync += stage.eq(arriving)
            arriving = stage
        m.d.comb += self.fill.eq(arriving)


class CrossbarLane(wiring.Component):
    """One lane of the way from the banks to the inputs of the collector units.

    Members
    -------
    banks : In(32 * banks)             Read data of each bank.
    sources : In(inputs * banks)       Per input, the bank it takes, one-hot; bit ``input * banks + bank``.
    inputs : Out(32 * inputs)          Zero where no bank is taken.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        count = unit_inputs(cfg)
        super().__init__({"banks": In(32 * cfg.banks), "sources": In(count * cfg.banks), "inputs": Out(32 * count)})

    def elaborate(self, platform) -> Module:
        """AND-OR per input."""
        m = Module()
        banks = [self.banks.word_select(bank, 32) for bank in range(self._cfg.banks)]
        for index in range(unit_inputs(self._cfg)):
            chosen = self.sources.word_select(index, self._cfg.banks)
            m.d.comb += self.inputs.word_select(index, 32).eq(select(chosen, banks))
        return m


class WriteLane(wiring.Component):
    """One lane of the way from the write-back ports to the banks.

    Members
    -------
    results : In(32 * ports), accept : In(banks * ports)   Bit ``bank * ports + port``.
    banks : Out(32 * banks)
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {"results": In(32 * cfg.ports), "accept": In(cfg.banks * cfg.ports), "banks": Out(32 * cfg.banks)}
        )

    def elaborate(self, platform) -> Module:
        """AND-OR per bank; a single port needs no choice."""
        m = Module()
        ports = [self.results.word_select(port, 32) for port in range(self._cfg.ports)]
        for bank in range(self._cfg.banks):
            accept = self.accept.word_select(bank, self._cfg.ports)
            value = select(accept, ports) if self._cfg.ports > 1 else ports[0]
            m.d.comb += self.banks.word_select(bank, 32).eq(value)
        return m


def unit_inputs(cfg: Config) -> int:
    """Crossbar outputs: one per collector unit, or one per source slot where all may be filled in one cycle."""
    return cfg.collectors * (cfg.source_slots if cfg.collect == "all" else 1)


class BankedRegisterFile(wiring.Component):
    """All banks with their crossbars.

    Members
    -------
    result_valid : In(ports)           A result with a register.
    result_places : In(ArrayLayout), result_masks : In(ArrayLayout), result_data : In(ArrayLayout)   Per port.
    accept : Out(ports)                In the same cycle.
    requests : In(collectors * slots), places : In(ArrayLayout)    Location of every asking slot.
    older : In(collectors ** 2)
    grant, fill : Out(collectors * slots)
    fill_data : Out(data_bits * unit_inputs(cfg))   Lane-major: lane, then input.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        place = location_layout(cfg)
        super().__init__(
            {
                "result_valid": In(cfg.ports),
                "result_places": In(data.ArrayLayout(place, cfg.ports)),
                "result_masks": In(data.ArrayLayout(cfg.lanes, cfg.ports)),
                "result_data": In(data.ArrayLayout(cfg.data_bits, cfg.ports)),
                "accept": Out(cfg.ports),
                "requests": In(slots),
                "places": In(data.ArrayLayout(place, slots)),
                "older": In(cfg.collectors**2),
                "grant": Out(slots),
                "fill": Out(slots),
                "fill_data": Out(data.ArrayLayout(32 * unit_inputs(cfg), cfg.lanes)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of both crossbars."""
        m = Module()
        banks = []
        passed_over = Const(0, self._cfg.collectors)
        for index in range(self._cfg.banks):
            bank = stamp(m, f"bank{index}", "register_bank", lambda: Bank(self._cfg))
            self._connect(m, index, bank, passed_over)
            if self._cfg.collect == "one":
                passed_over = passed_over | bank.chosen
            banks.append(bank)
        m.d.comb += [
            self.accept.eq(any_of(bank.accept for bank in banks)),
            self.grant.eq(any_of(bank.grant for bank in banks)),
            self.fill.eq(any_of(bank.fill for bank in banks)),
        ]
        self._write_lanes(m, banks)
        self._read_lanes(m, banks)
        return m

    def _connect(self, m: Module, index: int, bank: wiring.PureInterface, passed_over: Value) -> None:
        ports, slots = range(self._cfg.ports), range(len(self.requests))
        here = Cat(self.result_places[port].bank == index for port in ports)
        asked = Cat(self.places[slot].bank == index for slot in slots)
        m.d.comb += [
            bank.writes.eq(self.result_valid & here),
            bank.write_rows.eq(Cat(self.result_places[port].row for port in ports)),
            bank.masks.eq(self.result_masks.as_value()),
            bank.requests.eq(self.requests & asked),
            bank.passed_over.eq(passed_over),
            bank.older.eq(self.older),
            bank.rows.eq(Cat(self.places[slot].row for slot in slots)),
        ]

    def _write_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        accept = Cat(bank.accept for bank in banks)
        lanes = [stamp(m, f"write_lane{lane}", "write_lane", self._write_lane, clocked=False) for lane in self._lanes]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.accept.eq(accept),
                lane.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in range(self._cfg.ports))),
            ]
        for index, bank in enumerate(banks):
            m.d.comb += bank.write_data.eq(Cat(lane.banks.word_select(index, 32) for lane in lanes))

    def _read_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        width = len(self.fill) // unit_inputs(self._cfg)
        sources = Signal(unit_inputs(self._cfg) * self._cfg.banks)
        taken = [bank.fill.word_select(index, width).any() for index in range(unit_inputs(self._cfg)) for bank in banks]
        m.d.comb += sources.eq(Cat(*taken))
        for number in self._lanes:
            lane = stamp(m, f"crossbar_lane{number}", "crossbar_lane", lambda: CrossbarLane(self._cfg), clocked=False)
            m.d.comb += [
                lane.sources.eq(sources),
                lane.banks.eq(Cat(bank.read_data.word_select(number, 32) for bank in banks)),
                self.fill_data[number].eq(lane.inputs),
            ]

    @property
    def _lanes(self) -> range:
        return range(self._cfg.lanes)

    def _write_lane(self) -> WriteLane:
        return WriteLane(self._cfg)
