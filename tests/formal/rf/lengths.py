"""Proofs of what a register file does where accesses differ in length: ports, fills, inputs of the units."""

from amaranth import Cat, Const, Module
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, past
from tests.formal.rf.banks import CFG as SHORT
from tests.formal.rf.banks import BankProperties
from tests.striped.scheme import StripedConfig
from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.rf.arrivals import apart
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.layouts import lengths_layout

CFG = StripedConfig(**SHORT.to_json(), stripe=2)
LONGEST = CFG.gives.cycles


def some_lengths(m, lengths):
    """Assume that every access takes 1 to LONGEST cycles."""
    m.d.comb += [Assume((length >= 1) & (length <= LONGEST)) for length in lengths]


def ago(m, value, name, cycles):
    """What a value was so many cycles ago, and in every cycle since."""
    values = [value]
    for cycle in range(cycles):
        values.append(past(m, values[-1], f"{name}_{cycle}"))
    return values


class VaryingProperties(BankProperties):
    """What a bank promises anyway; ports are busy, and data arrive after a grant, as long as its access takes."""

    def _starts(self, part):
        some = [*part.lengths, *part.write_lengths]
        read, write = select(part.grant, list(part.lengths)), select(part.accept, list(part.write_lengths))
        return some, read, write

    def _access(self, m, part):
        lengths, self.read_length, self.write_length = self._starts(part)
        some_lengths(m, lengths)
        super()._access(m, part)

    def _busy(self, port):
        """Cycles after the first one for which an access that starts now keeps a port."""
        lengths = {"read": self.read_length, "write": self.write_length}
        shared = self._cfg.bank_ports == "1RW"
        return ((self.read_length | self.write_length) if shared else lengths[port]) - 1

    def _arrives(self, m, part):
        self.under_way = []  # (what was granted, how many cycles are left until its data arrive)
        arriving = []
        for length in range(1, LONGEST + 1):
            granted = part.grant & (self.read_length == length).replicate(len(part.grant))
            history = ago(m, granted, f"grant_of_{length}", length)
            self.under_way += [(history[cycle], length - cycle) for cycle in range(1, length + 1)]
            arriving.append(history[-1])
        m.d.comb += Assert(part.fill == any_of(arriving), "data arrive after the length of the access")

    def help(self, m, part, state):
        left = self.read_left
        for counter in (self.write_left, left):
            m.d.comb += Assert(counter < LONGEST, "no access is longer than the longest")
        m.d.comb += Assert(state("reading") == any_of(slots for slots, _ in self.under_way), "one read is under way")
        m.d.comb += Assert(at_most_one(Cat(slots for slots, _ in self.under_way)), "no two reads are under way")
        for slots, cycles in self.under_way:
            m.d.comb += Assert(~slots.any() | (left == cycles), "the port is busy until its data arrive")
        names = ("port", "port") if self._cfg.bank_ports == "1RW" else ("write_port", "read_port")
        for name, counter in zip(names, (self.write_left, left), strict=True):
            m.d.comb += Assert(state(f"{name}_busy_cycles") == counter, "the port is busy as long as it must")


class PipelinedProperties(VaryingProperties):
    """The same of a bank that begins an access per cycle: of the rows under way no two leave it in one cycle."""

    def check(self, m, part):
        super().check(m, part)
        (_, shortest), *_ = self._arriving()
        longest, _ = self.under_way[-2]  # a cycle is left
        m.d.comb += Cover(shortest.any() & longest.any(), "a read leaves before a longer one that is ahead of it")

    def _busy(self, port):
        return 0

    def _arrives(self, m, part):
        super()._arrives(m, part)
        self.rows = ago(m, self.pins.read_data, "row", LONGEST - 1)
        self.leaving = [self._left(left).any() for left in range(1, LONGEST)]
        meets = [
            any_of(leaves & (length == left) for left, leaves in enumerate(self.leaving, 1)) for length in part.lengths
        ]
        m.d.comb += [
            Assume((part.requests & Cat(meets)) == 0),
            Assert(part.leaving == Cat(self.leaving), "results that leave in the next cycles are known"),
            Assert(at_most_one(self._left(0)), "one row leaves in a cycle"),
            *(
                Assert(~slots.any() | (part.read_data == self.rows[length - 1]), "it is what the SRAM had")
                for length, slots in self._arriving()
            ),
        ]

    def _left(self, cycles):
        """Slots of all reads that have so many cycles left."""
        return Cat(slots for slots, left in self.under_way if left == cycles)

    def _arriving(self):
        """Reads whose row leaves now, with their length."""
        return enumerate((slots for slots, left in self.under_way if left == 0), 1)

    def help(self, m, part, state):
        m.d.comb += [Assert(counter == 0, "no port is busy") for counter in (self.write_left, self.read_left)]
        after = [(length, cycle) for length in range(1, LONGEST + 1) for cycle in range(1, length + 1)]
        came = {length: slots for (length, cycle), (slots, _) in zip(after, self.under_way, strict=True) if cycle == 1}
        for left in range(LONGEST):
            going = any_of(slots for slots, cycles in self.under_way if cycles == left)
            m.d.comb += [
                Assert(state(f"reading{left}") == going, "reads under way are those granted"),
                Assert(at_most_one(self._left(left)), "no two come at the same time"),
            ]
        for length in range(1, LONGEST):
            m.d.comb += Assert(state(f"came{length - 1}") == came[length].any(), "what the SRAM has now is known")
        for (_, cycle), (slots, left) in zip(after, self.under_way, strict=True):
            if cycle > 1:
                row = state(f"under_way{left}") == self.rows[cycle - 1]
                m.d.comb += Assert(~slots.any() | row, "rows under way are those that the SRAM had")


class Inputs(wiring.Component):
    """The slots that may be granted, as a part of its own."""

    def __init__(self, cfg):
        self._cfg = cfg
        slots = cfg.asks.units * cfg.asks.slots
        members = {"requests": In(slots), "lengths": In(lengths_layout(cfg, slots)), "grant": In(slots)}
        super().__init__({**members, "apart": Out(slots)})

    def elaborate(self, platform) -> Module:
        """See :func:`hdl.rf.arrivals.apart`."""
        m = Module()
        m.d.comb += self.apart.eq(apart(m, self._cfg, self.requests, list(self.lengths), self.grant))
        return m


class InputProperties(Properties):
    """No input is filled twice, and no request is withheld for another reason."""

    def check(self, m, part):
        some_lengths(m, part.lengths)
        width = CFG.asks.slots
        m.d.comb += Assume((part.grant & ~part.apart) == 0)
        self.coming = []
        for unit in range(CFG.asks.units):
            slots = range(unit * width, (unit + 1) * width)
            granted = part.grant.word_select(unit, width)
            m.d.comb += Assume(at_most_one(granted))
            # By the cycles from now: grants whose data come then. What is granted in this cycle is not among them.
            coming = [[] for _ in range(LONGEST)]
            for length in range(1, LONGEST + 1):
                starts = Cat(granted[n] & (part.lengths[slot] == length) for n, slot in enumerate(slots)).any()
                history = ago(m, starts, f"unit{unit}_length{length}", length)
                for cycle in range(1, length + 1):
                    coming[length - cycle].append(history[cycle])
            self.coming.append(coming)
            m.d.comb += Assert(at_most_one(Cat(coming[0])), "no input is filled twice in a cycle")
            for slot in slots:
                meets = Cat(Cat(coming[left]).any() & (part.lengths[slot] == left) for left in range(1, LONGEST)).any()
                kept = part.apart[slot] == (part.requests[slot] & ~meets)
                m.d.comb += Assert(kept, "a read that would meet no other may be granted")
        m.d.comb += Cover(part.requests.all() & ~part.apart.any(), "no read may be granted")

    def help(self, m, part, state):
        for unit, coming in enumerate(self.coming):
            for left in range(LONGEST):
                m.d.comb += Assert(at_most_one(Cat(coming[left])), "no two come at the same time")
            for left in range(1, LONGEST):
                known = state(f"coming{unit}")[left - 1] == Cat(coming[left]).any()
                m.d.comb += Assert(known, "what comes is known")


def _bank(size: str, wrong: dict, properties: type[VaryingProperties] = VaryingProperties, **changes) -> Proof:
    cfg = CFG.replace(**changes)

    def broken(change):
        return lambda: properties(Miswired(Bank(cfg, varying=True), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.bank.Bank",
        size,
        lambda: properties(Bank(cfg, varying=True), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=LONGEST + 4,
    )


_LATE = {"data arrive after the length of the access": {"fill": lambda fill: fill ^ 1}}
_LONG = {"a free port takes a write": {"write_lengths": lambda lengths: lengths | 2}}
_BLIND = {"no input is filled twice in a cycle": {"grant": lambda grant: Const(0, len(grant))}}
_DEAF = {"a read that would meet no other may be granted": {"apart": lambda slots: slots & (slots - 1)[: len(slots)]}}

_PIPELINE = {
    "data arrive after the length of the access": {"fill": lambda fill: fill ^ 1},
    "results that leave in the next cycles are known": {"leaving": lambda leaving: leaving & 1},
    "it is what the SRAM had": {"read_data": lambda row: row ^ 1},
}

PROOFS = (
    _bank("1RW, 1 to 3 cycles", _LATE, collect="one"),
    _bank("1R1W, 1 to 3 cycles", _LONG, bank_ports="1R1W", collect="one", bank_arbitration="oldest"),
    _bank("1RW, pipelined, 1 to 3 cycles", _PIPELINE, PipelinedProperties, bank_occupancy="one", collect="all"),
    _bank(
        "1R1W, pipelined, 1 to 3 cycles",
        _LATE,
        PipelinedProperties,
        bank_occupancy="one",
        bank_ports="1R1W",
        collect="one",
        bank_arbitration="oldest",
    ),
    Proof(
        "hdl.rf.arrivals.apart",
        "1 to 3 cycles",
        lambda: InputProperties(Inputs(CFG)),
        {
            message: lambda change=change: InputProperties(Miswired(Inputs(CFG), **change), helped=False)
            for message, change in {**_BLIND, **_DEAF}.items()
        },
        reach=LONGEST + 4,
    ),
)
