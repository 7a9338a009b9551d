"""One register bank: which access it serves, and what is leaving."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, highest_one, lowest_one, oldest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rams.word import WordRam
from warpfile.hdl.rf.arrivals import coming, meets, overtakes
from warpfile.hdl.rf.engines import Engines, Group, Ports, bank_members, groups
from warpfile.hdl.rf.layouts import lengths_layout
from warpfile.hdl.rf.matching import is_matched
from warpfile.spec.config import Config, index_bits
from warpfile.spec.contract import PRIORITIES, client_count


class ReadArbiter(wiring.Component):
    """Chooses the source slot that one bank serves.

    Members
    -------
    requests : In(units * slots)   Slots that ask this bank; units and slots as ``cfg.asks`` says.
    passed_over : In(units)        Units that are not this bank's to serve in this cycle (``collect`` = ``one``). Where
                                   :func:`is_matched`, all but the one that it serves; that it asks, and that the port
                                   is free, is in that already.
    free : In(1)                   The bank's port can read.
    older : In(units ** 2)         Order of allocation (``bank_arbitration`` = ``oldest``).
    grant : Out(units * slots)     One-hot in the same cycle.
    chosen : Out(units)            Unit of the grant, one-hot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        units, slots = cfg.asks.units, cfg.asks.units * cfg.asks.slots
        super().__init__(
            {
                "requests": In(slots),
                "passed_over": In(units),
                "free": In(1),
                "older": In(units**2),
                "grant": Out(slots),
                "chosen": Out(units),
            }
        )

    def elaborate(self, platform) -> Module:
        """First the unit, then its lowest slot."""
        m = Module()
        count, width = self._cfg.asks.units, self._cfg.asks.slots
        slots = [self.requests.word_select(unit, width) for unit in range(count)]
        if is_matched(self._cfg):
            m.d.comb += self.chosen.eq(~self.passed_over)
        else:
            units = Signal(count)
            m.d.comb += units.eq(Cat(slot.any() for slot in slots) & ~self.passed_over)
            winner = self._winner(m, units)
            m.d.comb += self.chosen.eq(winner & self.free.replicate(count))
        lowest = slots if self._cfg.collect == "lowest" else [lowest_one(slot) for slot in slots]
        granted = [slot & bit.replicate(width) for slot, bit in zip(lowest, self.chosen, strict=True)]
        m.d.comb += self.grant.eq(Cat(*granted))
        return m

    def _winner(self, m: Module, units: Value) -> Value:
        if self._cfg.bank_arbitration == "oldest":
            return oldest_one(units, self.older)
        m.submodules.round_robin = arbiter = RoundRobin(len(units))
        m.d.comb += [arbiter.requests.eq(units), arbiter.taken.eq(self.chosen.any())]
        return arbiter.grant


class Bank(wiring.Component):
    """One bank: its write choice, its read arbiter, its SRAM.

    A write beats reads on a single-port bank. An access keeps the port busy as long as it takes, ``bank_cycles``
    cycles, or for one cycle, with pipeline registers for rows behind the SRAM (``bank_occupancy``). In addition
    to the write-back ports and the units there may be ``engines``, each with a place in the order of the ports'
    clients. ``varying``: the client gives the length of its access. ``shares``: results may go elsewhere, too. The bank
    chooses among all that ask it, and writes if the chosen one may.

    Members
    -------
    writes : In(ports)                 Results for this bank; the highest port wins.
    may : In(ports)                    Results that all else takes to which they go; only with ``shares``.
    write_rows : In(ArrayLayout), masks : In(ArrayLayout)   Per port.
    write_data : In(data_bits)         Of the accepted writer (selected outside, by ``accept`` and ``taken``).
    accept : Out(ports)                One-hot in the same cycle.
    requests, passed_over, older : In  See :class:`ReadArbiter`.
    free : Out(1)                      The port can read in this cycle; only where :func:`is_matched`.
    rows : In(ArrayLayout)             Row of each slot that may ask.
    grant, chosen : Out                See :class:`ReadArbiter`.
    fill : Out(units * slots)          Slot whose data are on ``read_data``: ``bank_cycles`` cycles after its grant.
    read_data : Out(data_bits)         The row that was read.
    leaving : Out(cycles - 1)          Bit k: a row leaves k + 1 cycles from now, so that no slot may ask whose row
                                       would leave then; only where :func:`overtakes`.
    lengths, write_lengths, offer_lengths : In(ArrayLayout)   Cycles from 1, of each slot, port, client; if ``varying``.
    See also :func:`hdl.rf.engines.bank_members`.
    """

    masked = True  #: results have masks of lanes; if not, a row is one word

    def __init__(self, cfg: Config, engines: Engines = (), varying: bool = False, *, shares: bool = False) -> None:
        self._cfg = cfg
        self._engines = engines
        self._varying = varying
        self._shares = shares
        self._longest = cfg.gives.cycles if varying else cfg.bank_cycles
        self._pipelined = cfg.bank_occupancy == "one"
        self._overtakes = varying and overtakes(cfg)
        units, slots = cfg.asks.units, cfg.asks.units * cfg.asks.slots
        super().__init__(
            {
                "writes": In(cfg.write_ports),
                "write_rows": In(data.ArrayLayout(cfg.row_bits, cfg.write_ports)),
                **({"masks": In(data.ArrayLayout(cfg.lanes, cfg.write_ports))} if self.masked else {}),
                "write_data": In(cfg.data_bits),
                "accept": Out(cfg.write_ports),
                "requests": In(slots),
                "passed_over": In(units),
                "older": In(units**2),
                "rows": In(data.ArrayLayout(cfg.row_bits, slots)),
                "grant": Out(slots),
                "chosen": Out(units),
                "fill": Out(slots),
                "read_data": Out(cfg.data_bits),
                **bank_members(cfg, engines),
                **({"may": In(cfg.write_ports)} if shares else {}),
                **({"free": Out(1)} if is_matched(cfg) else {}),
                **(self._lengths(slots) if varying else {}),
                **({"leaving": Out(self._longest - 1)} if self._overtakes else {}),
            }
        )

    def _lengths(self, slots: int) -> dict[str, wiring.Member]:
        clients = client_count(self._engines)
        counts = {"lengths": slots, "write_lengths": self._cfg.write_ports, "offer_lengths": clients}
        return {name: In(lengths_layout(self._cfg, count)) for name, count in counts.items() if count}

    def elaborate(self, platform) -> Module:
        """The clients of the ports, in order; then the SRAM, and the record of what is leaving."""
        m = Module()
        m.submodules.ram = ram = BankRam(self._cfg) if self.masked else WordRam(self._cfg)
        free = self._free(m, ram.read, ram.write)
        ports = Ports(self._cfg, *free)
        reading: dict[int, Value] = {}
        for before, serve in zip(PRIORITIES, (self._results, self._reads, None), strict=True):
            for group in groups(self._engines):
                if group.engine.before == before:
                    self._engine(m, group, ports, reading)
            if serve:
                serve(m, ports)
        names = ("read", "read_row", "write", "write_row", "mask")
        m.d.comb += [getattr(ram, name).eq(getattr(ports, name)) for name in names if hasattr(ram, name)]
        starts = self._starts(m, ports.read_length) if self._overtakes else []
        m.d.comb += [ram.write_data.eq(self.write_data), self.read_data.eq(self._output(m, ram.read_data, starts))]
        arriving = Cat(self.grant, *(reading[first] for first in sorted(reading)))
        if self._overtakes:
            self._fills(m, self._overtaken(m, arriving, starts))
        elif self._varying:
            m.d.comb += [self._read_length.eq(ports.read_length), self._write_length.eq(ports.write_length)]
            self._fills(m, self._held(m, arriving, free[1]))
        else:
            self._fills(m, self._delayed(m, arriving))
        return m

    def _results(self, m: Module, ports: Ports) -> None:
        row = select(self.accept, list(self.write_rows))
        mask = select(self.accept, list(self.masks)) if self.masked else Const(0, 1)
        writer, writes = highest_one(self.writes), self.writes.any()
        if self._shares:
            writer = named(m, "writer", writer & self.may)
            writes = writer.any()
        m.d.comb += self.accept.eq(writer & ports.write_free.replicate(self._cfg.write_ports))
        ports.writes(writes, row, mask, *self._length_of(self.accept, "write_lengths"))

    def _reads(self, m: Module, ports: Ports) -> None:
        m.submodules.arbiter = arbiter = ReadArbiter(self._cfg)
        m.d.comb += [
            arbiter.requests.eq(self.requests),
            arbiter.passed_over.eq(self.passed_over),
            arbiter.older.eq(self.older),
            arbiter.free.eq(ports.read_free),
            self.grant.eq(arbiter.grant),
            self.chosen.eq(arbiter.chosen),
        ]
        if is_matched(self._cfg):
            m.d.comb += self.free.eq(ports.read_free)
        row = select(self.grant, list(self.rows))
        ports.reads(self.chosen.any(), row, *self._length_of(self.grant, "lengths"))

    def _length_of(self, taken: Value, name: str, which: slice = slice(None)) -> list[Value]:
        """Length of the access that is taken, zero for none; nothing where all are equally long."""
        return [select(taken, list(getattr(self, name))[which])] if self._varying else []

    def _engine(self, m: Module, group: Group, ports: Ports, reading: dict[int, Value]) -> None:
        """One of an engine's clients in turn. If all use one port, a turn does not wait for the client before it."""
        engine, offers, taken = group.engine, self.offers[group.clients], self.taken[group.clients]
        m.submodules[engine.name] = turns = RoundRobin(engine.count)
        left: Value = ports.write_free.replicate(engine.count)
        writers, readers = taken, None
        if engine.reads:
            writes = self.offer_writes[group.reading]
            if self._overtakes:
                offers = offers & (writes | self._apart(m, group))
            writers, readers = taken & writes, taken & ~writes
            if not ports.shared:
                offers = offers & ((writes & left) | (~writes & ports.read_free.replicate(engine.count)))
                left = offers
        m.d.comb += [turns.requests.eq(offers), turns.taken.eq(taken.any()), taken.eq(turns.grant & left)]
        rows = list(self.offer_rows)[group.clients]
        mask = writers.any().replicate(self._cfg.lanes)
        if engine.masked:
            mask = select(writers, list(self.offer_masks)[group.masked])
        length = self._length_of(writers, "offer_lengths", group.clients)
        ports.writes(offers.any() if readers is None else writers.any(), select(writers, rows), mask, *length)
        if readers is not None:
            reading[group.reading.start] = readers
            length = self._length_of(readers, "offer_lengths", group.clients)
            ports.reads(readers.any(), select(readers, rows), *length)

    def _apart(self, m: Module, group: Group) -> Value:
        """Of an engine's clients, those whose row would not leave in the cycle of another one."""
        lengths = list(self.offer_lengths)[group.clients]
        return named(m, f"{group.engine.name}_apart", ~Cat(meets(self.leaving, length) for length in lengths))

    def _free(self, m: Module, read: Value, write: Value) -> tuple[Value, Value]:
        """Whether no earlier access keeps the port for writes, and that for reads."""
        if self._longest == 1 or self._pipelined:
            return Const(1, 1), Const(1, 1)
        length = [self._cfg.bank_cycles, self._cfg.bank_cycles]
        if self._varying:
            bits = self._longest.bit_length()
            self._read_length, self._write_length = Signal(bits, name="read_length"), Signal(bits, name="write_length")
            length = [self._read_length, self._write_length]
        if self._cfg.bank_ports == "1RW":
            free = self._busy_counter(m, "port", read | write, length[0] | length[1])
            return free, free
        write_free = self._busy_counter(m, "write_port", write, length[1])
        return write_free, self._busy_counter(m, "read_port", read, length[0])

    def _busy_counter(self, m: Module, name: str, start: Value, length: Value | int) -> Value:
        left = Signal(index_bits(self._longest), name=f"{name}_busy_cycles")
        with m.If(start):
            m.d.sync += left.eq(length - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        return ~left.any()

    def _delayed(self, m: Module, arriving: Value) -> Value:
        for cycle in range(self._cfg.bank_cycles):
            stage = Signal(len(arriving), name=f"reading{cycle}")
            m.d.sync += stage.eq(arriving)
            arriving = stage
        return arriving

    def _held(self, m: Module, arriving: Value, free: Value) -> Value:
        """Whose data arrive where reads differ in length: a bank has one read under way, which ends with its port."""
        reading = Signal(len(arriving), name="reading")
        with m.If(free):
            m.d.sync += reading.eq(arriving)
        return reading & free.replicate(len(reading))

    def _starts(self, m: Module, length: Value) -> list[Value]:
        """Whether a read of 1, 2, ... cycles is granted; ``leaving`` follows."""
        starts = [named(m, f"read_of_{cycles}", length == cycles) for cycles in range(1, self._longest + 1)]
        m.d.comb += self.leaving.eq(coming(m, "leaves", Cat(starts[1:])))
        return starts

    def _output(self, m: Module, row: Value, starts: list[Value]) -> Value:
        """The row at the output port: ``row`` of the SRAM, or that of the last pipeline register behind it.

        A row moves on by one register per cycle. It enters the register that is as many cycles from the output port as
        its read has left. The longest reads enter the first register, which nothing else feeds.
        """
        if not self._pipelined:
            return row
        ways = {}
        for left, start in enumerate(starts[:-1]):
            came = Signal(name=f"came{left}")
            m.d.sync += came.eq(start)
            ways[left] = came
        moved = row
        for left in reversed(range(self._longest - 1)):
            word = Signal(len(row), name=f"under_way{left}", reset_less=True)
            enters = ways.get(left + 1)
            m.d.sync += word.eq(moved if enters is None else Mux(enters, row, moved))
            moved = word
        return Mux(ways[0], row, moved) if ways else moved

    def _overtaken(self, m: Module, arriving: Value, starts: list[Value]) -> Value:
        """Whose data arrive, where reads of different lengths are under way: moved on with their rows."""
        moved: Value = Const(0, len(arriving))
        for left, start in reversed([*enumerate(starts)]):
            stage = Signal(len(arriving), name=f"reading{left}")
            m.d.sync += stage.eq(moved | (arriving & start.replicate(len(arriving))))
            moved = stage
        return moved

    def _fills(self, m: Module, arriving: Value) -> None:
        m.d.comb += self.fill.eq(arriving[: len(self.fill)])
        if len(arriving) > len(self.fill):
            m.d.comb += self.engine_fill.eq(arriving[len(self.fill) :])
