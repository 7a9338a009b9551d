"""Proofs of how long beats wait for a caching collector unit: the unit that is taken, the threshold of the waits."""

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties, config
from tests.formal.properties import Miswired, Proof, at_most_one, constant, passed_over, past, some_order
from warpfile.hdl.collectors.malekeh.allocator import CHOICES, UnitAllocator
from warpfile.hdl.collectors.malekeh.threshold import WaitThreshold


class AllocatorProperties(ConfiguredProperties):
    """The unit that takes a beat, and for how long near registers are spared."""

    def check(self, m, part):
        some_order(m, part.older, self._cfg.collectors)
        m.d.comb += [
            Assume(at_most_one(part.own)),
            Assume((part.own & part.busy) == 0),
            Assume((part.empty & part.near) == 0),
        ]
        self._waits(m, part)
        self._reasons(m, part)
        self._choice(m, part)
        m.d.comb += [
            Cover(part.take_near & (self.waits == 3) & part.allocate[-1], "a unit is taken after three waits"),
            Cover(part.take_far & part.allocate[-1] & (part.busy == 0), "the last unit is the first without near ones"),
        ]

    def _waits(self, m, part):
        """Waits since a beat took another unit, counted apart; the threshold stays below some number."""
        self.waits, limit = Signal(8), constant(m, "limit", 64)
        m.d.comb += Assume(part.threshold <= limit)
        with m.If(part.take_empty | part.take_far | part.take_near):
            m.d.sync += self.waits.eq(0)
        with m.Elif(part.refuse_wait):
            m.d.sync += self.waits.eq(self.waits + 1)
        m.d.comb += [
            Assert(self.waits <= limit + 1, "at most threshold + 1 waits before a unit is taken"),
            Assert(~part.take_near | (self.waits > part.threshold), "near registers leave only after the wait"),
        ]

    def _reasons(self, m, part):
        choices, free = Cat(getattr(part, name) for name in CHOICES), ~part.busy
        without_near = (free & ~part.near).any()
        m.d.comb += [
            Assert(at_most_one(choices) & (choices.any() == part.wanted), "one reason for each wanted beat"),
            Assert(part.take_own == (part.wanted & part.own.any()), "the own unit goes first"),
            Assert(~part.refuse_busy | ~free.any(), "busy only if all units are"),
            Assert(~part.refuse_wait | free.any(), "a wait only if a unit is free"),
            Assert(~part.take_far | ~(free & part.empty).any(), "empty units go before others"),
            Assert(~(part.take_near | part.refuse_wait) | ~without_near, "near registers are spared if possible"),
        ]

    def _choice(self, m, part):
        free, taken = ~part.busy, part.allocate
        refused = part.refuse_wait | part.refuse_busy
        m.d.comb += [
            Assert(
                at_most_one(taken) & (taken.any() == (part.wanted & ~refused)), "one unit takes it or it is refused"
            ),
            Assert((taken & part.busy) == 0, "a busy unit takes no beat"),
            Assert(~part.take_own | (taken == part.own), "the own unit takes it"),
            Assert(~part.take_empty | (taken & part.empty).any(), "an empty unit is empty"),
            Assert(~part.take_far | ~(taken & part.near).any(), "a far unit has nothing near"),
            Assert(~part.take_near | ~passed_over(free, taken, part.older), "of near ones the longest unused"),
        ]
        for unit in range(self._cfg.collectors):
            empty, far = (free & part.empty)[:unit].any(), (free & ~part.near)[:unit].any()
            m.d.comb += Assert(~(part.take_empty & taken[unit] & empty), "the lowest empty one")
            m.d.comb += Assert(~(part.take_far & taken[unit] & far), "the lowest far one")

    def help(self, m, part, state):
        m.d.comb += Assert(part.wait_count == self.waits, "all waits are counted")


class ThresholdProperties(ConfiguredProperties):
    """The wait threshold by the table of the page; cycles and beats of the interval are counted apart."""

    #: State -> change of the threshold in steps (none: to 0) and next state, after a small and after a large change.
    TABLE = {
        1: ((1, 2), (1, 2)),
        2: ((1, 2), (1, 3)),
        3: ((1, 2), (-2, 4)),
        4: ((1, 5), (-1, 4)),
        5: ((0, 6), (-1, 4)),
        6: ((0, 6), (1, 3)),
    }

    @property
    def _share(self) -> int:
        """The page's L."""
        least = 25 * len(range(0, 63, self._cfg.wait_step))
        return 32 if self._cfg.wait_table == "reconstructed" else min(1 << n for n in range(12) if 1 << n >= least)

    def check(self, m, part):
        self._count(m, part)
        beats = Signal(self._cfg.issue_count_bits + 1)
        m.d.comb += beats.eq(self.beats + part.issue)
        change = Mux(beats > self.before, beats - self.before, self.before - beats)
        self.large, self.started = Signal(), Signal()
        m.d.comb += self.large.eq(self._share * change > self.before)
        m.d.sync += self.started.eq(1)
        ended, large = past(m, part.interval_end, "ended"), past(m, self.large, "large")
        state, threshold = past(m, part.state, "state", 1), past(m, part.threshold, "threshold", part.threshold.init)
        still = part.threshold == threshold
        top, bottom = threshold == 63, threshold == 0
        over = ((state == 2) & ~large & top) | ((state == 4) & large & bottom)
        rests = (part.state == 6) & still
        m.d.comb += [
            Assert((part.state >= 1) & (part.state <= 6), "the state is one of six"),
            Assert(part.interval_end == (self.cycle == self._cfg.interval - 1), "an interval lasts so many cycles"),
            Assert(ended | ((part.state == state) & still), "nothing moves within an interval"),
            Assert(~(ended & over) | rests, "at the end of its range the search is over"),
            Assert(~(ended & (state == 6) & ~large) | rests, "settled stays settled while the rate hardly changes"),
            Cover((state == 6) & large & ended, "settled, then a large change"),
            Cover((state == 5) & ended & (part.state == 6), "settled between two changes"),
        ]
        if self._cfg.interval > 32:
            m.d.comb += Cover(ended & ~large & self.uneven, "a small change that is one")
        for number, row in self.TABLE.items():
            for case, (steps, following) in zip((~large, large), row, strict=True):
                here = ended & (state == number) & case & ~over
                wanted = threshold + steps * self._cfg.wait_step
                clamped = Mux(wanted < 0, 0, Mux(wanted > 63, 63, wanted))
                m.d.comb += Assert(~here | (part.state == following), "the next state is the table's")
                m.d.comb += Assert(~here | (part.threshold == clamped), "the threshold moves by steps within its range")

    def _count(self, m, part):
        bits = self._cfg.issue_count_bits
        self.cycle, self.beats, self.before, self.uneven = Signal(bits), Signal(bits), Signal(bits), Signal()
        m.d.sync += [self.cycle.eq(self.cycle + 1), self.beats.eq(self.beats + part.issue)]
        with m.If(self.cycle == self._cfg.interval - 1):
            m.d.sync += [self.cycle.eq(0), self.beats.eq(0), self.before.eq(self.beats + part.issue)]
            m.d.sync += self.uneven.eq(self.before != self.beats + part.issue)

    def help(self, m, part, state):
        m.d.comb += [
            Assert(state("cycle") == self.cycle, "the same cycle"),
            Assert(state("issued") == self.beats, "the same number of beats"),
            Assert(state("before") == self.before, "the same number before"),
            Assert(self.cycle < self._cfg.interval, "a cycle of the interval"),
            Assert(self.beats <= self.cycle, "at most a beat per cycle"),
            Assert(self.before <= self._cfg.interval, "at most a beat per cycle before"),
        ]


def _allocator(units: int, *, regress: bool = False) -> Proof:
    cfg = config(collectors=units)

    def wrong(**changes):
        return lambda: AllocatorProperties(Miswired(UnitAllocator(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.malekeh.allocator.UnitAllocator",
        f"of {units} units",
        lambda: AllocatorProperties(UnitAllocator(cfg), cfg),
        {
            "at most threshold + 1 waits before a unit is taken": wrong(threshold=lambda threshold: threshold | 1),
            "near registers are spared if possible": wrong(near=lambda near: near | 1),
        },
        reach=8,
        regress=regress,
    )


def _threshold(interval: int, step: int, reach: int, *, table: str = "reconstructed", regress: bool = False) -> Proof:
    cfg = config(interval=interval, wait_step=step, wait_table=table, source_slots=2)

    def wrong(**changes):
        return lambda: ThresholdProperties(Miswired(WaitThreshold(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.malekeh.threshold.WaitThreshold",
        f"intervals of {interval} cycles, steps of {step}, {table}",
        lambda: ThresholdProperties(WaitThreshold(cfg), cfg),
        {"the next state is the table's": wrong(issue=lambda issue: Const(0))},
        reach=reach,
        regress=regress,
    )


PROOFS = (
    _allocator(3),
    _allocator(8, regress=True),
    _threshold(2, 31, 16),
    _threshold(2, 31, 16, table="bounded"),
    _threshold(40, 31, 250, regress=True),
)
