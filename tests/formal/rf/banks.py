"""Proofs of a register bank: which reader it serves, and what reaches the pins of its SRAM."""

from unittest import mock

from amaranth import Cat, Const, Module, Signal
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import (
    Fairness,
    Miswired,
    Proof,
    Properties,
    at_most_one,
    choice,
    passed_over,
    past,
    some_order,
)
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf import bank
from warpfile.hdl.rf.bank import Bank, ReadArbiter
from warpfile.hdl.rf.matching import is_matched
from warpfile.spec.config import Config
from warpfile.spec.contract import Engine

CFG = Config(warps=2, lanes=2, collectors=3, source_slots=2, ports=3, rows=4, register_names=8, payload_bits=16)

WRITERS = (Engine("writers", 3),)  #: beside the write-back ports


class Pins(BankRam):
    """The ports of the SRAM without an SRAM behind them: it answers with any row."""

    def elaborate(self, platform) -> Module:
        """No memory."""
        m = Module()
        m.d.comb += self.read_data.eq(AnySeq(len(self.read_data)))
        return m


def one_that_asks(part, asking, free):
    """What a bank is promised that :class:`hdl.rf.matching.Matching` chooses for: no other request is left."""
    left = ~part.passed_over
    return [Assume(at_most_one(left)), Assume((left & ~asking) == 0), Assume(free | ~left.any())]


class ReadProperties(Properties):
    """One slot of one unit, in turn or by age, if the port is free."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        cfg, width = self._cfg, self._cfg.source_slots
        slots = [part.requests.word_select(unit, width) for unit in range(cfg.collectors)]
        if cfg.collect == "lowest":
            m.d.comb += [Assume(at_most_one(slot)) for slot in slots]
        asking = Cat(slot.any() & ~part.passed_over[unit] for unit, slot in enumerate(slots))
        open_requests = Cat(slot & ~part.passed_over[unit].replicate(width) for unit, slot in enumerate(slots))
        choice(m, open_requests & part.free.replicate(len(open_requests)), part.grant)
        for unit, slot in enumerate(slots):
            granted = part.grant.word_select(unit, width)
            below = (slot & (granted - 1)[:width]).any() & granted.any()
            m.d.comb += Assert(part.chosen[unit] == granted.any(), "the chosen unit is the one granted")
            m.d.comb += Assert(~below, "no lower slot of the unit waits")
        self._order(m, part, asking)
        asked = Cat(slot.any() for slot in slots)
        m.d.comb += Cover(part.chosen[-1] & asked.all(), "the last unit is served while all ask")

    def _order(self, m, part, asking):
        if is_matched(self._cfg):
            m.d.comb += one_that_asks(part, asking, part.free)
            return
        if self._cfg.bank_arbitration == "round_robin":
            self.fair = Fairness(m, asking, part.chosen, part.chosen.any())
            m.d.comb += Cover(self.fair.passed == len(asking) - 1, "every other unit is served first")
            return
        some_order(m, part.older, self._cfg.collectors)
        older = passed_over(asking, part.chosen, part.older)
        m.d.comb += Assert(~older, "no older unit is passed over")

    def help(self, m, part, state):
        if self._cfg.bank_arbitration == "round_robin":
            self.fair.help(m, state("round_robin", "above"))


class BankProperties(Properties):
    """At most one access per port and ``bank_cycles``; the highest write wins, and beats reads where they share."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg, self.pins = cfg, Pins(cfg)

    def elaborate(self, platform):
        """The bank is elaborated around the bare pins."""
        with mock.patch.object(bank, "BankRam", lambda cfg: self.pins):
            return super().elaborate(platform)

    def check(self, m, part):
        if self._cfg.collect == "lowest":
            width = self._cfg.source_slots
            units = range(self._cfg.collectors)
            m.d.comb += [Assume(at_most_one(part.requests.word_select(unit, width))) for unit in units]
        if "oldest" in self._cfg.bank_arbitration:
            some_order(m, part.older, self._cfg.collectors)
        self._access(m, part)
        self._writes(m, part)
        self._reads(m, part)
        m.d.comb += Cover(part.fill.any() & self.pins.write & part.writes.all(), "a write while data of a read arrive")

    def _access(self, m, part):
        """How long each port is still busy, counted apart from the bank's own counters."""
        read, write, shared = self.pins.read, self.pins.write, self._cfg.bank_ports == "1RW"
        self.write_left, self.read_left = Signal(4), Signal(4)
        starts = (write | read, write | read) if shared else (write, read)
        for port, left, start in zip(("write", "read"), (self.write_left, self.read_left), starts, strict=True):
            with m.If(start):
                m.d.sync += left.eq(self._busy(port))
            with m.Elif(left != 0):
                m.d.sync += left.eq(left - 1)
        m.d.comb += Assert(~write | (self.write_left == 0), "no write while the port is busy")
        m.d.comb += Assert(~read | (self.read_left == 0), "no read while the port is busy")
        if shared:
            m.d.comb += Assert(~(read & write), "a single-port bank has one access at a time")
            m.d.comb += Assert(~(self._wanted(part) & part.grant.any()), "a write beats reads")

    def _busy(self, port):
        """Cycles after the first one for which an access that starts now keeps a port."""
        return self._cfg.bank_cycles - 1 if self._cfg.bank_occupancy == "length" else 0

    def _wanted(self, part):
        """Somebody wants to write."""
        return part.writes.any()

    def _accepted(self, part):
        """Somebody does."""
        return part.accept.any()

    def _writes(self, m, part):
        m.d.comb += [
            Assert(at_most_one(part.accept), "one write is accepted"),
            Assert((part.accept & ~part.writes) == 0, "only a result is accepted"),
            Assert(part.accept.any() == (part.writes.any() & (self.write_left == 0)), "a free port takes a write"),
            Assert(self.pins.write == self._accepted(part), "the SRAM writes what is accepted"),
        ]
        for port in range(self._cfg.write_ports):
            row = (self.pins.write_row == part.write_rows[port]) & (self.pins.mask == part.masks[port])
            m.d.comb += Assert(~part.accept[port] | ~part.writes[port + 1 :].any(), "the highest port is accepted")
            m.d.comb += Assert(~part.accept[port] | row, "row and lanes are those of the accepted port")

    def _reads(self, m, part):
        width, units = self._cfg.source_slots, range(self._cfg.collectors)
        left = Cat(part.requests.word_select(unit, width).any() & ~part.passed_over[unit] for unit in units)
        free = self.read_left == 0
        if self._cfg.bank_ports == "1RW":
            free &= ~self._wanted(part)
        if is_matched(self._cfg):
            m.d.comb += one_that_asks(part, left, part.free)
            m.d.comb += Assert(part.free == free, "whether the port can read is known before any request")
        rows = [~part.grant[slot] | (self.pins.read_row == part.rows[slot]) for slot in range(len(part.grant))]
        m.d.comb += [
            Assert(part.grant.any() == (left.any() & free), "a free port serves a read"),
            Assert(self.pins.read == part.grant.any(), "the SRAM reads what is granted"),
            Assert(Cat(rows).all(), "the row is that of the granted slot"),
        ]
        self._arrives(m, part)

    def _arrives(self, m, part):
        self.history = [part.grant]
        for cycle in range(self._cfg.bank_cycles):
            self.history.append(past(m, self.history[-1], f"grant{cycle}"))
        m.d.comb += Assert(part.fill == self.history[-1], "data arrive bank_cycles after the grant")
        self.rows = [self.pins.read_data]
        behind = self._cfg.bank_cycles - 1 if self._cfg.bank_occupancy == "one" else 0
        for cycle in range(behind):
            self.rows.append(past(m, self.rows[-1], f"row{cycle}"))
        m.d.comb += Assert(part.read_data == self.rows[behind], "the row is what the SRAM has, or had")

    def help(self, m, part, state):
        longest = self._cfg.bank_cycles if self._cfg.bank_occupancy == "length" else 1
        for left in (self.write_left, self.read_left):
            m.d.comb += Assert(left < longest, "no access keeps a port for longer than bank_cycles")
        for cycle in range(self._cfg.bank_cycles):
            same = state(f"reading{cycle}") == self.history[cycle + 1]
            m.d.comb += Assert(same, "reads under way are those granted")
        for cycle, row in enumerate(self.rows[1:]):
            same = state(f"under_way{len(self.rows) - 2 - cycle}") == row
            m.d.comb += Assert(same, "rows under way are those that the SRAM had")
        if longest > 1:
            names = ("port", "port") if self._cfg.bank_ports == "1RW" else ("write_port", "read_port")
            for name, left in zip(names, (self.write_left, self.read_left), strict=True):
                m.d.comb += Assert(state(f"{name}_busy_cycles") == left, "the port is busy as long as it must")


class WriterProperties(BankProperties):
    """The same with writers beside the write-back ports: in turn, whole rows, and only when no result writes."""

    def check(self, m, part):
        super().check(m, part)
        m.d.comb += Cover(part.taken[-1] & part.offers.all(), "the last writer has its turn while all want one")

    def _wanted(self, part):
        return part.writes.any() | part.offers.any()

    def _writes(self, m, part):
        super()._writes(m, part)
        free = ~part.writes.any() & (self.write_left == 0)
        choice(m, part.offers & free.replicate(len(part.offers)), part.taken)
        self.fair = Fairness(m, part.offers, part.taken, part.taken.any())
        for client, row in enumerate(part.offer_rows):
            whole = (self.pins.write_row == row) & self.pins.mask.all()
            m.d.comb += Assert(~part.taken[client] | whole, "a writer beside the ports writes its whole row")

    def _accepted(self, part):
        return part.accept.any() | part.taken.any()

    def help(self, m, part, state):
        super().help(m, part, state)
        self.fair.help(m, state("writers", "above"))


def _read(size: str, wrong: dict, **changes) -> Proof:
    cfg = CFG.replace(**changes)

    def broken(change):
        return lambda: ReadProperties(Miswired(ReadArbiter(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.bank.ReadArbiter",
        size,
        lambda: ReadProperties(ReadArbiter(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
    )


def _bank(size: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    cfg = CFG.replace(**changes)

    def broken(change):
        return lambda: BankProperties(Miswired(Bank(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.bank.Bank",
        size,
        lambda: BankProperties(Bank(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=cfg.bank_cycles + 4,
        regress=regress,
    )


def _writers(size: str, wrong: dict, **changes) -> Proof:
    cfg = CFG.replace(**changes)

    def broken(change):
        return lambda: WriterProperties(Miswired(Bank(cfg, WRITERS), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.bank.Bank",
        size,
        lambda: WriterProperties(Bank(cfg, WRITERS), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=cfg.bank_cycles + 8,
    )


_DEAF = {"only a requester is granted": {"passed_over": lambda units: Const(0)}}
_AGELESS = {"no older unit is passed over": {"older": lambda older: Const(0)}}
_UNSEEN = {
    "a write beats reads": {"writes": lambda writes: writes & 1},
    "the highest port is accepted": {"writes": lambda writes: writes & ~4},
}
_STALE = {"row and lanes are those of the accepted port": {"masks": lambda masks: masks ^ 1}}
_RUDE = {
    "a writer beside the ports writes its whole row": {"offer_rows": lambda rows: rows ^ 1},
    "a write beats reads": {"offers": lambda offers: offers & 3},
}
_TORN = {"the row is what the SRAM has, or had": {"read_data": lambda row: row ^ 1}}
_EARLY = {"data arrive bank_cycles after the grant": {"fill": lambda fill: fill ^ 1}}

PROOFS = (
    _read("in turn, lowest slot only", _DEAF),
    _read("by age, any slot", _AGELESS, collect="all", bank_arbitration="oldest"),
    _read("one unit left, any slot", _DEAF, collect="one", bank_arbitration="oldest"),
    _bank("1RW, 1 cycle", _UNSEEN),
    _bank("1RW, 3 cycles", _EARLY, bank_cycles=3, collect="one"),
    _bank("1R1W, 3 cycles", _STALE, bank_cycles=3, bank_ports="1R1W", collect="all", bank_arbitration="oldest"),
    _writers("1RW, 1 cycle, with writers", _RUDE),
    _writers("1R1W, 3 cycles, with writers", _STALE, bank_cycles=3, bank_ports="1R1W"),
    _bank("1RW, pipelined, 3 cycles", _TORN, bank_cycles=3, bank_occupancy="one"),
    _bank("1RW, 8 cycles", _UNSEEN, regress=True, bank_cycles=8, collectors=5, source_slots=3),
)
