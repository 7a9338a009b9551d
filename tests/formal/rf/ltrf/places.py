"""Proofs of a place with its address table: what its warp needs is cached, each register in a bank of its own."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import at_most_one, past
from tests.formal.rf.ltrf.parts import config, ones, proof
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.ltrf.address_table import AddressTable, of_part
from warpfile.hdl.rf.ltrf.free_banks import first_free
from warpfile.hdl.rf.ltrf.place import CachePlace
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PARTS, PREFETCH, RECALL, RELEASING, LtrfConfig

_TABLE = ("cached", "vacant", "freed")  #: what a place gets from outside


class Partition(wiring.Component):
    """A place, its table and its free banks. Ports: those of the place, and what is cached and where.

    Members
    -------
    cached : Out(names), bank_of0, ... : Out(cache_bank_bits)   By register.
    """

    def __init__(self, cfg: LtrfConfig, place: type[CachePlace] = CachePlace) -> None:
        self._cfg = cfg
        self._place, self._table = place(cfg), AddressTable(cfg, cfg.register_names)
        members = {name: member for name, member in self._place.signature.members.items() if name not in _TABLE}
        names = cfg.register_names
        found = {f"bank_of{name}": Out(cfg.cache_bank_bits) for name in range(names)}
        super().__init__({**members, "cached": Out(names), **found})

    def elaborate(self, platform) -> Module:
        """The table looks every register up."""
        m = Module()
        m.submodules.place, m.submodules.table = place, table = self._place, self._table
        for name, member in self.signature.members.items():
            if name in place.signature.members and name not in _TABLE:
                outer, inner = Value.cast(getattr(self, name)), Value.cast(getattr(place, name))
                m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
        names, banks = range(self._cfg.register_names), self._cfg.interval_registers
        left = any_of(
            (Const(1, banks) << bank)[:banks] & (there & place.out).replicate(banks)
            for bank, there in zip(table.step_banks, place.entered_step, strict=True)
        )
        m.d.comb += [
            *(getattr(table, name).eq(getattr(place, name)) for name in ("takes", "leaves", "drop", "registers")),
            table.enters.eq(place.entered_step & ~place.out.replicate(len(place.entered_step))),
            table.entered_banks.eq(place.banks),
            table.wanted.eq(Cat(Const(1 << name, len(names)) for name in names)),
            place.vacant.eq(Cat(first_free(m, "free", place.occupied, range(banks)))),
            place.freed.eq(left),
            Cat(place.cached, self.cached).eq(table.cached.replicate(2)),
            *(getattr(self, f"bank_of{name}").eq(table.banks[name]) for name in names),
        ]
        return m


class PartitionProperties(ConfiguredProperties):
    """A place as scheduler and compiler use it: operands of at most N registers, nothing issues unless it is open."""

    def check(self, m, part):
        banks, is_open = self._cfg.interval_registers, part.state == OPEN
        m.d.comb += [
            Assume(at_most_one(Cat(part.start, part.save, part.enters, part.ends))),
            Assume((~part.start | part.may_start) & (~part.save | part.may_save)),
            Assume(~(part.enters | part.ends) | (is_open & ~part.release)),
            *(Assume(ones(word) <= banks) for word in (part.operand, part.word)),
        ]
        names = range(self._cfg.register_names)
        # Sets have the registers of the first part lowest.
        self.parts = [number // (len(names) // PARTS) for number in names]
        self.registers = [number % (len(names) // PARTS) * PARTS + part for number, part in enumerate(self.parts)]
        # A register that takes a bank has it in the table a cycle later.
        entering = part.entered_step & ~part.out.replicate(len(part.entered_step))
        self.where = []
        for name, at, register in zip(names, self.parts, self.registers, strict=True):
            there = Signal(name=f"enters{name}")
            m.d.comb += there.eq(entering[at] & (part.registers[at] == register))
            bank = Signal(self._cfg.cache_bank_bits, name=f"where{name}")
            with m.If(there):
                m.d.comb += bank.eq(part.banks[at])
            with m.Else():
                m.d.comb += bank.eq(getattr(part, f"bank_of{name}"))
            self.where.append(bank)
        twice = any_of(
            part.cached[one] & part.cached[other] & (self.where[one] == self.where[other])
            for one in names
            for other in range(one)
        )
        steps = part.takes | part.leaves
        self.left = left = past(m, part.leaves.any(), "left")
        m.d.comb += [
            Assert(~twice, "cached registers have different banks"),
            Assert(
                ~is_open | (part.cached == part.set), "registers of the interval are cached while the place is open"
            ),
            Assert(
                ~(is_open | (part.state == EMPTY)) | ~part.entered_step.any(), "an open or empty place takes no steps"
            ),
            Assert((part.state != EMPTY) | ~(part.cached.any() | part.occupied.any()), "an empty place has nothing"),
            Assert(~part.starved, "there is a free bank for every register"),
            *(Assert(at_most_one(of_part(steps, at)), "one of each part") for at in range(PARTS)),
            Assert(~part.takes.any() | ~part.leaves.any(), "steps of a cycle go one way"),
            Assert(~part.takes.any() | ~left, "no step in before the banks are free"),
            Assert((part.takes & ~part.set) == 0, "only registers of the interval come"),
            Assert(
                ((part.leaves & part.set) == 0) | (part.state == RELEASING), "they stay until the place is released"
            ),
            Cover(is_open & (ones(part.cached) == banks), "all banks are taken"),
            Cover(ones(part.step_in) == PARTS, "every part steps"),
            Cover(part.released & (part.occupied == 0), "a place is released"),
        ]

    def help(self, m, part, state):
        banks = self._cfg.interval_registers
        cached, occupied = part.cached, part.occupied
        leaving = Signal(banks)
        names = range(self._cfg.register_names)
        numbered = list(zip(names, self.parts, self.registers, strict=True))
        gone = [
            (Const(1, banks) << getattr(part, f"bank_of{name}"))[:banks]
            & (part.entered_step[at] & part.out & (part.registers[at] == register)).replicate(banks)
            for name, at, register in numbered
        ]
        m.d.comb += leaving.eq(any_of(gone))
        held = [(Const(1, banks) << self.where[name])[:banks] & cached[name].replicate(banks) for name in names]
        busy = (part.state == MOVING) | (part.state == RELEASING)
        m.d.comb += [
            Assert(part.state <= RELEASING, "there are six states"),
            Assert(ones(part.set) <= banks, "an interval has no more registers than banks"),
            Assert(occupied == (any_of(held) | leaving), "a bank is occupied by a cached register, or was until now"),
            Assert((any_of(held) & leaving) == 0, "by one of both"),
            Assert(ones(leaving) == ones(part.entered_step & part.out.replicate(PARTS)), "every step out has its bank"),
            Assert(busy | ~part.entered_step.any(), "steps have their states"),
            Assert(self.left == (part.out & part.entered_step.any()), "steps out stand in their entries"),
            Assert((part.state != RECALL) | ~(cached.any() | occupied.any()), "a place starts empty"),
            Assert((part.state != PREFETCH) | (cached == part.set), "a PREFETCH finds the interval before"),
            Assert((part.state != RELEASING) | (cached & ~part.set == 0), "a released place has its interval"),
            *(
                Assert(~part.entered_step[at] | (part.registers[at][:2] == at), "a register of its part steps")
                for at in range(PARTS)
            ),
            Assert(
                any_of(
                    part.entered_step[at] & (part.registers[at] == register) & (cached[name] == part.out)
                    for name, at, register in numbered
                )
                == 0,
                "who came is cached, who left is not",
            ),
        ]


class Hasty(CachePlace):
    """Steps in that do not wait for the banks of the steps out."""

    def _enter(self, m):
        super()._enter(m)
        m.d.sync += self.out.eq(0)


_PLACE = {
    "there is a free bank for every register": {"operand": lambda value: value | 0b11111},
    "only registers of the interval come": {"takes": lambda value: value | value << 1},
    "steps of a cycle go one way": {"leaves": lambda value: value | 1},
}
PROOFS = (
    proof(
        "place",
        "4 banks, 8 registers",
        Partition,
        PartitionProperties,
        config(),
        _PLACE,
        {"no step in before the banks are free": lambda cfg: Partition(cfg, Hasty)},
        reach=12,
        regress=True,
    ),
)
