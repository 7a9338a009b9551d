"""One register bank: which access it serves, and what is on its way out."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, highest_one, lowest_one, oldest_one, select
from warpfile.hdl.rf.ram import BankRam
from warpfile.spec.config import Config, index_bits


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

    A write beats reads on a single-port bank. An access keeps the port busy for ``bank_cycles`` cycles. Besides the
    write-back ports there may be ``clients`` that write whole rows, in turn, when no result does.

    Members
    -------
    writes : In(ports)                 Results for this bank; the highest port wins.
    write_rows : In(ArrayLayout), masks : In(ArrayLayout)   Per port.
    write_data : In(data_bits)         Of the accepted writer (selected outside, by ``accept`` and ``taken``).
    accept : Out(ports)                One-hot in the same cycle.
    offers : In(clients), offer_rows : In(ArrayLayout), taken : Out(clients)   One-hot; only with clients.
    requests, passed_over, older : In  See :class:`ReadArbiter`.
    rows : In(ArrayLayout)             Row of each slot that may ask.
    grant, chosen : Out                See :class:`ReadArbiter`.
    fill : Out(collectors * slots)     Slot whose data are on ``read_data``: ``bank_cycles`` cycles after its grant.
    read_data : Out(data_bits)
    """

    def __init__(self, cfg: Config, clients: int = 0) -> None:
        self._cfg = cfg
        self._clients = clients
        slots = cfg.collectors * cfg.source_slots
        members = {
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
        if clients:
            members |= {
                "offers": In(clients),
                "offer_rows": In(data.ArrayLayout(cfg.row_bits, clients)),
                "taken": Out(clients),
            }
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Write choice, read choice, SRAM, and the record of what is on its way out."""
        m = Module()
        m.submodules.arbiter = arbiter = ReadArbiter(self._cfg)
        m.submodules.ram = ram = BankRam(self._cfg)
        write_free, read_free = self._port_use(m, ram.read, ram.write)
        writing = self._write(m, ram, write_free)
        m.d.comb += [
            arbiter.requests.eq(self.requests),
            arbiter.passed_over.eq(self.passed_over),
            arbiter.older.eq(self.older),
            arbiter.free.eq(read_free if self._cfg.bank_ports == "1R1W" else read_free & ~writing),
            self.grant.eq(arbiter.grant),
            self.chosen.eq(arbiter.chosen),
            ram.read.eq(self.chosen.any()),
            ram.read_row.eq(select(self.grant, list(self.rows))),
            self.read_data.eq(ram.read_data),
        ]
        self._fills(m)
        return m

    def _write(self, m: Module, ram: BankRam, free: Value) -> Value:
        """Choose the writer. Returns whether anybody wants to write."""
        ports = range(self._cfg.ports)
        wanted, row = self.writes.any(), select(self.accept, [self.write_rows[port] for port in ports])
        mask = select(self.accept, [self.masks[port] for port in ports])
        m.d.comb += self.accept.eq(highest_one(self.writes) & free.replicate(self._cfg.ports))
        if self._clients:
            m.submodules.clients = turns = RoundRobin(self._clients)
            m.d.comb += [
                turns.requests.eq(self.offers),
                turns.taken.eq(self.taken.any()),
                self.taken.eq(turns.grant & (free & ~self.writes.any()).replicate(self._clients)),
            ]
            wanted = wanted | self.offers.any()
            row = row | select(self.taken, [self.offer_rows[client] for client in range(self._clients)])
            mask = mask | self.taken.any().replicate(self._cfg.lanes)
        m.d.comb += [ram.write.eq(wanted & free), ram.write_row.eq(row), ram.mask.eq(mask)]
        m.d.comb += ram.write_data.eq(self.write_data)
        return wanted

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
