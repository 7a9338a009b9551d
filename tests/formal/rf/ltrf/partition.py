"""Proofs of a place with its address table: what its warp needs is cached, each register in a bank of its own."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one
from tests.formal.rf.ltrf.parts import config, ones
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.ltrf.address_table import AddressTable
from warpfile.hdl.rf.ltrf.place import CachePlace
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RECALL, RELEASING, LtrfConfig

_TABLE = ("cached", "bank", "chosen_bank")  #: what a place gets from its table


class Partition(wiring.Component):
    """A place and its table. Ports: those of the place, and what is cached and where.

    Members
    -------
    cached : Out(names), banks : Out(ArrayLayout)   By register.
    """

    def __init__(self, cfg: LtrfConfig, place: type[CachePlace] = CachePlace) -> None:
        self._cfg = cfg
        self._place = place(cfg)
        self._table = AddressTable(cfg, 0, cfg.register_names + 2)
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
        names = range(self._cfg.register_names)
        m.d.comb += [
            table.enters.eq(place.takes),
            table.bank.eq(place.first),
            table.leaves.eq(place.leaves),
            table.drop.eq(place.drop),
            table.wanted.eq(Cat(*(Const(1 << name, len(names)) for name in names), place.leaves, place.chosen)),
            place.bank.eq(table.banks[len(names)]),
            place.chosen_bank.eq(table.banks[len(names) + 1]),
            Cat(place.cached, self.cached).eq(table.cached.replicate(2)),
            *(getattr(self, f"bank_of{name}").eq(table.banks[name]) for name in names),
        ]
        return m


class PartitionProperties(ConfiguredProperties):
    """A place as scheduler and compiler use it: operands of at most N registers, nothing issues unless it is open."""

    def check(self, m, part):
        banks, is_open = self._cfg.interval_registers, part.state == OPEN
        one_thing = Cat(part.start, part.save, part.enters, part.ends)
        m.d.comb += [
            Assume(at_most_one(one_thing)),
            Assume((~part.start | part.may_start) & (~part.save | part.may_save)),
            Assume(~(part.enters | part.ends) | (is_open & ~part.release)),
            *(Assume(ones(word) <= banks) for word in (part.operand, part.word)),
            Assume(~part.granted | part.valid),
        ]
        names = range(self._cfg.register_names)
        where = [getattr(part, f"bank_of{name}") for name in names]
        twice = any_of(
            part.cached[one] & part.cached[other] & (where[one] == where[other])
            for one in names
            for other in range(one)
        )
        m.d.comb += [
            Assert(~twice, "cached registers have different banks"),
            Assert(~is_open | (part.cached == part.set), "what the interval names is cached while the place is open"),
            Assert((part.state != EMPTY) | ~part.cached.any(), "nothing is cached in an empty place"),
            Assert(~part.starved, "there is a free bank for every register"),
            Assert(at_most_one(part.takes | part.leaves) & at_most_one(part.chosen), "one register takes a step"),
            Cover(is_open & (ones(part.cached) == banks), "all banks are taken"),
            Cover(part.step_out & part.step_moves & part.occupied.all(), "a register of a full place leaves"),
            Cover(part.released, "a place is released"),
        ]
        self._transfers(m, part)

    def _transfers(self, m, part) -> None:
        """What has to be moved."""
        self.seen = Signal()
        m.d.sync += self.seen.eq(part.released)
        back = part.candidate.back
        register = part.candidate.register
        m.d.comb += [
            Assert(~part.valid | (part.state == MOVING) | (part.state == RELEASING), "only who moves has a candidate"),
            Assert(~part.valid | back | part.set.bit_select(register, 1), "a fill is of a register of the interval"),
            Assert(
                ~(part.valid & back & (part.state == MOVING)) | ~part.set.bit_select(register, 1),
                "a write-back of a moving place is of another one",
            ),
            Assert(~(part.valid & ~back) | ((part.cached & ~part.set) == 0), "fills come behind the steps out"),
            Cover(self.seen & (part.state == EMPTY), "nothing is left"),
            Cover(part.valid & ~back & part.granted & (part.occupied.all()), "a fill starts"),
        ]

    def help(self, m, part, state):
        waiting = state("place", "pending", "waiting")
        names = range(self._cfg.register_names)
        where = [getattr(part, f"bank_of{name}") for name in names]
        moving, releasing = part.state == MOVING, part.state == RELEASING
        taken = [part.cached[name] & ~part.occupied.bit_select(where[name], 1) for name in names]
        occupied, cached = ones(part.occupied), ones(part.cached)
        backs, fills = waiting & ~part.set, waiting & part.set
        fill, surplus = (part.valid & ~part.candidate.back) | fills.any(), (part.cached & ~part.set).any()
        counted = (part.state == MOVING) | (part.state == OPEN) | (part.state == PREFETCH)
        m.d.comb += [
            Assert(part.state <= RELEASING, "there are six states"),
            Assert(ones(part.set) <= self._cfg.interval_registers, "an interval has no more registers than banks"),
            Assert(~counted | ~any_of(taken), "a cached register has its bank"),
            Assert(~counted | (occupied == cached), "and no bank is occupied without one"),
            Assert(
                (part.state != RECALL) | ((occupied == 0) & (cached == 0) & ~part.set.any()), "a place starts empty"
            ),
            Assert((part.state != EMPTY) | ~part.cached.any(), "an empty place has nothing"),
            Assert((part.state != PREFETCH) | (part.cached == part.set), "a PREFETCH finds the interval before"),
            Assert(moving | releasing | (~waiting.any() & ~part.valid), "nothing is pending in other states"),
            Assert(~moving | ~fill | ~surplus, "fills come behind the steps out"),
            Assert(~moving | ((fills & ~part.cached) == 0), "who is filled has a bank"),
            Assert(~releasing | ~backs.any(), "a released place saves registers of its interval"),
            Assert(~releasing | ~part.valid | part.candidate.back, "and fills none"),
            Assert(~moving | ((backs & part.cached) == 0), "who is written back has none"),
        ]
        self._queue(m, part)

    def _queue(self, m, part) -> None:
        """As proven of the free banks."""
        banks = range(self._cfg.interval_registers)
        free = Signal(range(len(banks) + 1), name="free_count")
        m.d.comb += free.eq(len(banks) - ones(part.occupied))
        for bank in banks:
            held = any_of((number < free) & (entry == bank) for number, entry in enumerate(part.free))
            m.d.comb += Assert(held == ~part.occupied[bank], "a bank is free or occupied")


class Hasty(CachePlace):
    """A place that is open before its last step."""

    def _step(self, m, kept, none):
        return super()._step(m, kept, none) | self._is[MOVING]


def _proof(size: str, wrong: dict, others: dict, **changes) -> Proof:
    cfg = config(**changes)
    return Proof(
        "hdl.rf.ltrf.place",
        size,
        lambda: PartitionProperties(Partition(cfg), cfg),
        {
            text: lambda changes=changes: PartitionProperties(Miswired(Partition(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        }
        | {
            text: lambda place=place: PartitionProperties(Partition(cfg, place), cfg, helped=False)
            for text, place in others.items()
        },
        reach=12,
        regress=True,
    )


_WRONG = {
    "nothing is cached in an empty place": {"cached": lambda value: value | 1},
    "fills come behind the steps out": {"set": lambda value: value & ~1},
    "one register takes a step": {"takes": lambda value: value | value << 1},
    "there is a free bank for every register": {"operand": lambda value: value | 0b11111},
}
_OTHERS = {
    "what the interval names is cached while the place is open": Hasty,
}
PROOFS = (_proof("4 banks, 8 registers", _WRONG, _OTHERS),)
