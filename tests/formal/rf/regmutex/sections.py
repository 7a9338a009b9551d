"""Proofs of the pool: a section has one owner, and no warp waits in vain."""

from collections.abc import Mapping
from types import MappingProxyType

from amaranth import Cat, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant
from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.rf.regmutex.first_zero import FirstZero
from warpfile.hdl.rf.regmutex.sections import Pool, sharing
from warpfile.hdl.rf.regmutex.waiters import Waiters
from warpfile.spec.schemes.regmutex import RegMutexConfig

_NOTHING: Mapping[str, type] = MappingProxyType({})


def config(**changes) -> RegMutexConfig:
    """A small machine with eight register names."""
    small = {"warps": 3, "lanes": 1, "ports": 3, "banks": 2, "rows": 8, "register_names": 8, "payload_bits": 16}
    small |= {"collectors": 2, "source_slots": 2}
    return RegMutexConfig(**RegMutexConfig.adapted(small | changes))


def ones(bits: Value) -> Value:
    """How many bits are set."""
    return sum(bits)


class FirstZeroProperties(Properties):
    """Any mask."""

    def check(self, m, part):
        count = len(part.bits)
        zeros = ~part.bits
        m.d.comb += [
            Assert(at_most_one(part.lowest) & ((part.lowest & part.bits) == 0), "a zero is found"),
            Assert(part.lowest.any() == zeros.any(), "one is found if there is one"),
            Assert((zeros & (part.lowest - 1)[:count] & part.lowest.any().replicate(count)) == 0, "it is the lowest"),
            Assert(decode(part.number, count) & zeros == part.lowest, "it is numbered"),
            Cover(part.lowest[-1], "only the last bit is zero"),
        ]


class WaiterProperties(ConfiguredProperties):
    """Warps come once and leave from the front; the place of any one of them is followed."""

    def check(self, m, part):
        warps = self._cfg.warps
        self.there, self.place = Signal(warps), Signal(range(warps))
        self.who = who = constant(m, "who", warps)
        comes, leaves = (
            decode(warp, warps) & bit.replicate(warps) for warp, bit in ((part.warp, part.push), (part.first, part.pop))
        )
        m.d.sync += self.there.eq((self.there | comes) & ~leaves)
        with m.If(part.pop):
            m.d.sync += self.place.eq(self.place - 1)
        with m.Elif(part.push & (part.warp == who)):
            m.d.sync += self.place.eq(ones(self.there))
        mine = self.there.bit_select(who, 1)
        m.d.comb += [
            Assume(~part.push | ((part.warp < warps) & ~self.there.bit_select(part.warp, 1))),
            Assume(~(part.push & part.pop) & (~part.pop | part.valid)),
            Assert(part.valid == self.there.any(), "it knows whether a warp waits"),
            Assert(
                ~part.valid | ((part.first == who) == (mine & (self.place == 0))), "the warp that came first is first"
            ),
            Assert((part.count == ones(self.there)) & (part.count <= warps), "it never overflows"),
            Cover(self.there.all() & (part.first == warps - 1), "all wait, the last one first"),
        ]

    def help(self, m, part, state):
        entries = [state(f"entry{number}") for number in range(self._cfg.warps)]
        for number, entry in enumerate(entries):
            valid = part.count > number
            m.d.comb += [
                Assert(~valid | self.there.bit_select(entry, 1), "who is in it waits"),
                Assert(~valid | (entry < self._cfg.warps), "it is a warp"),
                Assert(
                    ~valid | ((entry == self.who) == (self.there.bit_select(self.who, 1) & (self.place == number))),
                    "places are followed",
                ),
                *(Assert(~valid | (entry != other), "a warp waits once") for other in entries[:number]),
            ]


class SectionProperties(ConfiguredProperties):
    """Head beats, one of which is chosen in a cycle, as the frame does; a kernel starts when no warp is resident."""

    def check(self, m, part):
        self._frame(m, part)
        self._sound(m, part)

    def _frame(self, m, part) -> None:
        chosen = part.offered | part.refused
        mine = part.offered & part.ends.replicate(self._cfg.warps)
        m.d.comb += [
            Assume((part.acquiring & part.releasing) == 0),
            Assume(at_most_one(chosen) & ((part.offered & part.refused) == 0)),
            Assume((part.refused & ~part.refuses) == 0),
            Assume((part.offered & part.refuses) == 0),
            Assume(~part.issues | part.offered.any()),
            Assume(~part.ends | part.issues),
            Assume((mine & (part.acquiring | part.releasing)) == 0),
            Assume((chosen & part.waiting & part.closed) == 0),
            Assume((part.waiting & ~part.acquiring) == 0),
        ]

    def _sound(self, m, part) -> None:
        raise NotImplementedError


class PoolProperties(SectionProperties):
    """Any number of sections."""

    def _sound(self, m, part):
        cfg, warps = self._cfg, range(self._cfg.warps)
        self.sections = Signal(range(cfg.warps + 1))
        with m.If(part.start):
            m.d.sync += self.sections.eq(part.count)
        m.d.comb += [
            Assume(part.count <= cfg.warps),
            Assume(~part.start | ~(part.held | part.waiting | part.offered | part.refused).any()),
        ]
        pairs = [(a, b) for a in warps for b in range(a)]
        shared = any_of(part.held[a] & part.held[b] & (part.table[a] == part.table[b]) for a, b in pairs)
        there = Cat(self.sections > section for section in warps)
        free = ~part.taken.all()
        open_ = part.waiting & ~part.closed
        m.d.comb += [
            Assert(~shared, "a section has one owner"),
            Assert(ones(part.held) + cfg.warps - self.sections == ones(part.taken), "taken are those that warps have"),
            Assert((~there & ~part.taken) == 0, "sections that there are not are never free"),
            Assert(~free | (open_.any() == part.waiting.any()), "a waiting warp may go while a section is free"),
            Assert((part.waiting & part.held) == 0, "a warp with a section does not wait"),
            Assert(~free | (part.closed == 0) | cfg.fair, "while a section is free it is so for all"),
            Cover(free & (ones(part.waiting) == 2) & (self.sections == 1), "two wait, and the section comes back"),
            Cover(part.held.all(), "all warps have one"),
            Cover(part.takes[0] & part.waiting[0] & part.waiting[1], "one of two waiting warps takes it"),
        ]
        if cfg.fair:
            self._order(m, part, open_)

    def _order(self, m, part, open_) -> None:
        """Of any two who wait, which came first."""
        self.one, self.other = constant(m, "one", self._cfg.warps), constant(m, "other", self._cfg.warps)
        self.before = Signal()
        waits = [part.waiting.bit_select(who, 1) for who in (self.one, self.other)]
        with m.If(part.refused.bit_select(self.other, 1)):
            m.d.sync += self.before.eq(waits[0])
        with m.Elif(part.refused.bit_select(self.one, 1)):
            m.d.sync += self.before.eq(0)
        late = part.takes.bit_select(self.other, 1)
        newcomer = (part.takes & ~part.waiting).any() & part.waiting.any()
        m.d.comb += [
            Assume(self.one != self.other),
            Assert(~(waits[0] & waits[1] & self.before & late), "the warp that waits longer goes first"),
            Assert(~newcomer, "no warp that does not wait goes before those that do"),
            Assert(at_most_one(open_), "only one of them may go"),
        ]

    def help(self, m, part, state):
        warps = range(self._cfg.warps)
        m.d.comb += [
            Assert(~part.held[warp] | part.taken.bit_select(part.table[warp], 1), "what a warp has is taken")
            for warp in warps
        ]
        m.d.comb += [
            Assert(~part.held[warp] | (part.table[warp] < self.sections), "and is a section") for warp in warps
        ]
        m.d.comb += Assert(self.sections <= self._cfg.warps, "there are no more than warps")
        if self._cfg.fair:
            self._queue(m, part, state)

    def _queue(self, m, part, state) -> None:
        entries = [state("waiters", f"entry{number}") for number in range(self._cfg.warps)]
        count = state("waiters", "count")
        m.d.comb += Assert(count == ones(part.waiting), "all who wait are in the queue")
        for number, entry in enumerate(entries):
            valid = count > number
            m.d.comb += [
                Assert(~valid | ((entry < self._cfg.warps) & part.waiting.bit_select(entry, 1)), "who is in it waits"),
                *(Assert(~valid | (entry != other), "once") for other in entries[:number]),
                *(
                    Assert(~(valid & self.before & (other == self.other) & (entry == self.one)), "in order")
                    for other in entries[:number]
                ),
            ]


class PairProperties(SectionProperties):
    """Warps of pairs, with an odd one that has no partner."""

    def _sound(self, m, part):
        count = self._cfg.warps
        partners = [(warp, warp ^ 1) for warp in range(count) if warp ^ 1 < count]
        owners = self._owners(m, part)
        m.d.comb += [
            Assert(~any_of(owners[a] & owners[b] for a, b in partners), "partners never have it both"),
            *(
                Assert((part.closed & part.acquiring & ~owners)[a] <= owners[b], "a refused warp has such a partner")
                for a, b in partners
            ),
            *(
                Assert(~part.waiting[a] | owners[b] | ~part.closed[a], "a waiting warp may go when the section is free")
                for a, b in partners
            ),
            Assert(~part.waiting[count - 1], "a warp without a partner never waits"),
            Cover(owners[0] & part.waiting[1] & owners[2], "one of two waits"),
            Cover(part.takes[1] & part.waiting[1], "and gets it"),
        ]

    def _owners(self, m, part) -> Value:
        return part.held


class ProvenPairProperties(PairProperties):
    """Code that neither takes what it has nor gives back what it has not, and has nothing at its EXIT."""

    def _owners(self, m, part):
        self.owners = owners = Signal(self._cfg.warps)
        m.d.sync += owners.eq((owners | part.takes) & ~part.gives)
        m.d.comb += [
            Assume((part.acquiring & owners) == 0),
            Assume((part.releasing & ~owners) == 0),
            Assume(~part.ends | ((part.offered & owners) == 0)),
        ]
        return owners

    def help(self, m, part, state):
        for number, pair in enumerate(part.pairs):
            m.d.comb += Assert(pair == self.owners[2 * number : 2 * number + 2].any(), "the bit says that one has it")


class Unfair(Pool):
    """A pool whose waiters stand in line for nothing."""

    def _others_first(self, m):
        return super()._others_first(m) & 0


def proof(size: str, properties: type, wrong: dict, others: Mapping[str, type] = _NOTHING, **changes) -> Proof:
    """Proof of a way of sharing; ``wrong`` says per assertion which wires are changed, ``others`` which part it is."""
    cfg = config(**changes)
    return Proof(
        "hdl.rf.regmutex.sections",
        size,
        lambda: properties(sharing(cfg), cfg),
        {
            text: lambda changes=changes: properties(Miswired(sharing(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        }
        | {text: lambda part=part: properties(part(cfg), cfg, helped=False) for text, part in others.items()},
        reach=12,
    )


_POOL = {
    "a section has one owner": {"table": lambda value: value & 0},
    "taken are those that warps have": {"held": lambda value: value & ~1},
    "sections that there are not are never free": {"count": lambda value: value + 1},
    "a waiting warp may go while a section is free": {"closed": lambda value: value | 0b111},
}
PROOFS = (
    Proof(
        "hdl.rf.regmutex.first_zero",
        "6 bits",
        lambda: FirstZeroProperties(FirstZero(6)),
        {"it is the lowest": lambda: FirstZeroProperties(Miswired(FirstZero(6), bits=lambda value: value | 1))},
    ),
    Proof(
        "hdl.rf.regmutex.waiters",
        "3 warps",
        lambda: WaiterProperties(Waiters(config()), config()),
        {
            "the warp that came first is first": lambda: WaiterProperties(
                Miswired(Waiters(config()), warp=lambda value: value ^ 1), config(), helped=False
            ),
            "it never overflows": lambda: WaiterProperties(
                Miswired(Waiters(config()), pop=lambda value: value & 0), config(), helped=False
            ),
        },
    ),
    proof("3 warps", PoolProperties, _POOL),
    proof(
        "3 warps, fair",
        PoolProperties,
        _POOL,
        {
            "the warp that waits longer goes first": Unfair,
            "no warp that does not wait goes before those that do": Unfair,
            "only one of them may go": Unfair,
        },
        fair=1,
    ),
    proof(
        "3 warps in pairs",
        PairProperties,
        {
            "partners never have it both": {"offered": lambda value: value | (value << 1)[:3]},
            "a waiting warp may go when the section is free": {"closed": lambda value: ~value},
        },
        sharing="pairs",
    ),
    proof(
        "3 warps in pairs, one bit",
        ProvenPairProperties,
        {"partners never have it both": {"closed": lambda value: value & 0, "refuses": lambda value: value & 0}},
        sharing="pairs",
        pair_state="pair",
    ),
)
