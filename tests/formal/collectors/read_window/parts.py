"""Proofs of the read window: plans of reads, dependence counters, tags of the reuse cache."""

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant, past
from warpfile.hdl.collectors.read_window.beats import window_places
from warpfile.hdl.collectors.read_window.counter import DependenceCounter
from warpfile.hdl.collectors.read_window.schedule import ReadPlan
from warpfile.hdl.collectors.read_window.tags import ReuseTags
from warpfile.schemes import find
from warpfile.spec.schemes.modern import ENTRIES, MOST_COUNTED
from warpfile.spec.schemes.ported import BANKS


def config(**changes):
    return find("modern").configuration("tiny", lanes=1, warps=2, register_names=8, rows=8, **changes)


class PlanProperties(Properties):
    """Told of any one slot."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        slots = self._cfg.source_slots
        slot = constant(m, "slot", slots)
        wanted, bank, place = (Signal(length, name=name) for name, length in self._widths())
        m.d.comb += [
            wanted.eq(part.wanted.bit_select(slot, 1)),
            bank.eq(part.banks.bit_select(slot, 1)),
            place.eq(part.places[slot]),
        ]
        free = Mux(bank, part.free[1], part.free[0])
        others = [Mux((slot != other) & (part.banks[other] == bank), part.places[other], 0) for other in range(slots)]
        lower = [Mux(slot > other, value, 0) for other, value in enumerate(others)]
        enough = [self._count(part, number) <= sum(part.free[number]) for number in range(BANKS)]
        earlier = (place - 1)[: len(place)] & free & ~self._any(lower)
        m.d.comb += [
            Assert(part.fits == (enough[0] & enough[1]), "it fits iff both banks have enough free reads"),
            Assert(~(part.fits & wanted) | place.any(), "a slot that is wanted is read if all fit"),
            Assert(at_most_one(place) & (wanted | ~place.any()), "a slot is read once, and only if it is wanted"),
            Assert((place & ~free) == 0, "only free reads of its bank are taken"),
            Assert((place & self._any(others)) == 0, "no two slots take one read"),
            Assert(~place.any() | ~earlier.any(), "lower slots before it leave no earlier read free"),
            *(
                Assert(part.need[number] == self._count(part, number), "need counts a bank's slots")
                for number in (0, 1)
            ),
            Cover(part.fits & part.wanted.all() & part.banks.all() & ~part.free[0].any(), "three reads of one bank"),
            Cover(~part.fits & (part.need[0] == 1), "one read too many"),
        ]

    def _widths(self):
        return (("wanted_slot", 1), ("bank", 1), ("place", window_places(self._cfg)))

    def _count(self, part, bank):
        return sum(part.wanted & (part.banks if bank else ~part.banks))

    def _any(self, values):
        found = Const(0, window_places(self._cfg))
        for value in values:
            found = found | value
        return found


class CounterProperties(Properties):
    """A count of its own, with more bits."""

    def check(self, m, part):
        self.count = Signal(8, name="count_shadow")
        self.was_full = past(m, part.full, "full", 1)
        ups, downs = sum(part.up), sum(part.down)
        m.d.sync += self.count.eq(self.count + ups - downs)
        m.d.comb += [
            Assume(downs <= self.count),
            Assume(~part.up.any() | ~self.was_full),
            Assert(part.waits == self.count.any(), "it waits as long as more has come up than down"),
            Assert(part.full == (self.count >= MOST_COUNTED), "it is full from sixty on"),
            Assert(self.count < 64, "it never overflows"),
            Cover(part.up.all() & part.down.all() & (self.count == 6), "all ups and downs in one cycle"),
            Cover(past(m, part.waits, "waits") & ~part.waits, "back at zero"),
        ]

    def help(self, m, part, state):
        m.d.comb += [
            Assert(state("value") == self.count, "the same count"),
            Assert(self.was_full | (self.count <= MOST_COUNTED + 1), "at most two more since somebody issued"),
        ]


class TagProperties(Properties):
    """Told of any one entry: what was marked last, until something ends it."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        cfg = self._cfg
        entry = constant(m, "entry", ENTRIES)
        held, timer = Signal(name="held_shadow"), Signal(len(part.timers[0]), name="timer_shadow")
        name = Signal(cfg.warp_bits + cfg.register_bits, name="name_shadow")
        register = Signal(cfg.register_bits, name="asked")
        asked = Signal(len(name), name="asked_name")
        position, source = entry >> 1, Signal(name="source")
        m.d.comb += [
            register.eq(part.registers[position]),
            asked.eq(Cat(part.warp, register)),
            source.eq(part.sources.bit_select(position, 1) & (register[0] == entry[0])),
        ]
        same = [
            one & (Cat(owner, result) == name)
            for one, owner, result in zip(part.offered, part.owners, part.results, strict=True)
        ]
        ends = held & (timer == 0) & Cat(same).any()
        left = held & ~ends
        marked = part.marks.bit_select(position, 1)
        m.d.sync += [
            held.eq(left & ~(part.exits & (name[: cfg.warp_bits] == part.ended))),
            timer.eq(Mux(timer == 0, 0, timer - 1)),
        ]
        with m.If(part.leaves & source):
            m.d.sync += held.eq(marked)
            with m.If(marked):
                m.d.sync += [timer.eq(cfg.read_window), name.eq(asked)]
        m.d.comb += [
            Assert(part.valid.bit_select(entry, 1) == held, "an entry lives from its mark to what ends it"),
            Assert(~held | (part.tags[entry] == name), "its tag is warp and register of the mark"),
            Assert(~held | (part.timers[entry] == timer), "its timer runs from the length of the window to zero"),
            Assert(part.killed.bit_select(entry, 1) == ends, "a result ends it once its word is there"),
            Assert(
                ~source | (part.hit.bit_select(position, 1) == (left & (name == asked))),
                "a hit is for warp and register, and not in the cycle of its end",
            ),
            Cover(ends & part.leaves & source & marked & (name == asked), "kept again in the cycle of its end"),
            Cover(held & (timer == 1) & Cat(same).any(), "a result before its word is there"),
        ]


def _wrong(properties, make, *cfg):
    def wrong(**changes):
        return lambda: properties(Miswired(make(), **changes), *cfg, helped=False)

    return wrong


def _plan(**changes) -> Proof:
    cfg = config(**changes)
    wrong = _wrong(PlanProperties, lambda: ReadPlan(cfg), cfg)
    return Proof(
        "hdl.collectors.read_window.schedule.ReadPlan",
        f"{cfg.read_ports} ports, {cfg.read_window} cycles",
        lambda: PlanProperties(ReadPlan(cfg), cfg),
        {
            "it fits iff both banks have enough free reads": wrong(wanted=lambda slots: slots & 3),
            "only free reads of its bank are taken": wrong(free=lambda reads: reads | 1),
            "no two slots take one read": wrong(places=lambda reads: Cat(reads[: len(reads) // 3]).replicate(3)),
        },
        reach=2,
    )


def _counter() -> Proof:
    wrong = _wrong(CounterProperties, lambda: DependenceCounter(5))
    return Proof(
        "hdl.collectors.read_window.counter.DependenceCounter",
        "two ups, five downs",
        lambda: CounterProperties(DependenceCounter(5)),
        {"it waits as long as more has come up than down": wrong(down=lambda downs: downs & 15)},
        reach=8,
    )


def _tags() -> Proof:
    cfg = config()
    wrong = _wrong(TagProperties, lambda: ReuseTags(cfg), cfg)
    return Proof(
        "hdl.collectors.read_window.tags.ReuseTags",
        "of 2 warps, 8 registers",
        lambda: TagProperties(ReuseTags(cfg), cfg),
        {
            "an entry lives from its mark to what ends it": wrong(exits=lambda exits: Const(0)),
            "a result ends it once its word is there": wrong(offered=lambda offered: offered & 3),
            "a hit is for warp and register, and not in the cycle of its end": wrong(warp=lambda warp: ~warp),
        },
        reach=7,
    )


PROOFS = (_plan(), _plan(read_ports=2, read_window=2, variable_delay=4), _counter(), _tags())
