"""Proofs of sorter, epochs and the states of a kernel."""

import itertools
from collections.abc import Mapping
from types import MappingProxyType

from amaranth import Cat, Const, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from tests.formal.rf.pilot.tables import config
from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.rf.pilot.epoch import EpochUnit
from warpfile.hdl.rf.pilot.kernel_state import KernelState
from warpfile.hdl.rf.pilot.sorter import TopSorter
from warpfile.spec.schemes.pilot import COUNT_BITS, State

NOTHING: Mapping[str, object] = MappingProxyType({})


class SorterProperties(ConfiguredProperties):
    """Registers come in ascending order, each once at most; any one of them, and where it is."""

    def check(self, m, part):
        cfg = self._cfg
        who, came = constant(m, "who", cfg.register_names), Signal()
        count, following = Signal(COUNT_BITS), Signal(range(cfg.register_names + 1))
        mine = part.valid & (part.register == who)
        with m.If(part.valid):
            m.d.sync += following.eq(part.register + 1)
        with m.If(mine):
            m.d.sync += [came.eq(1), count.eq(part.count)]
        with m.If(part.clear):
            m.d.sync += [came.eq(0), following.eq(0)]
        slots = list(part.slots)
        here = Cat(slot.valid & (slot.register == who) for slot in slots)
        before = [
            ~slot.valid | (slot.count < count) | ((slot.count == count) & (slot.register > who)) for slot in slots
        ]
        inner, self._following = list(itertools.pairwise(slots)), following
        m.d.comb += [
            Assume(~part.valid | (part.register >= following)),
            Assert(at_most_one(here), "a register is there once"),
            Assert(~here.any() | came, "only what came is there"),
            Assert(
                ~any_of(bit & (slot.count != count) for bit, slot in zip(here, slots, strict=True)), "with its count"
            ),
            Assert(~(came & ~here.any() & any_of(before)), "a register that is absent has no smaller one before it"),
            Assert(~any_of(later.valid & ~first.valid for first, later in inner), "slots fill from the first"),
            Assert(~any_of(later.valid & (later.count > first.count) for first, later in inner), "larger counts first"),
            Assert(
                ~any_of(
                    later.valid & (later.count == first.count) & (later.register < first.register)
                    for first, later in inner
                ),
                "equal ones by number",
            ),
            Cover(came & ~here.any() & (count != 0), "a register falls out or never comes in"),
            Cover(here[-1] & (slots[0].register > who), "a later one goes before it"),
        ]

    def help(self, m, part, state):
        for slot in part.slots:
            m.d.comb += Assert(~slot.valid | (slot.register < self._following), "all of them have come")


class EpochProperties(ConfiguredProperties):
    """Cycles and issues of an epoch, counted once more."""

    def check(self, m, part):
        length, limit = self._cfg.epoch, self._cfg.epoch_threshold
        cycles, issued, high = Signal(range(length + 1)), Signal(range(length + 2)), Signal(init=1)
        total = issued + part.issue
        last = (cycles == length - 1) & ~part.stand
        with m.If(part.start):
            m.d.sync += [cycles.eq(0), issued.eq(0), high.eq(1)]
        with m.Elif(last):
            m.d.sync += [cycles.eq(0), issued.eq(0), high.eq(total >= limit)]
        with m.Elif(~part.stand):
            m.d.sync += [cycles.eq(cycles + 1), issued.eq(total)]
        m.d.comb += [
            Assert(part.high == high, "the mode is what the epoch before says"),
            Assert(part.ends == (last & ~part.start), "an epoch ends after its cycles"),
            Assert((part.cycle == cycles) & (part.issued == issued), "counters count"),
            Assert(part.issued <= part.cycle, "one issue per cycle at most"),
            Assert(part.cycle < length, "an epoch has no more cycles"),
            Cover(part.ends & ~part.high & (total == limit), "a low epoch issues just enough"),
            Cover(part.stand & (cycles == length - 1), "an epoch stands in its last cycle"),
            Cover(part.ends & part.high & (total == limit - 1), "a high one issues one too few"),
        ]


class KernelProperties(ConfiguredProperties):
    """Warps that come and go as the frame lets them; no version of a table is written while a warp has it."""

    def check(self, m, part):
        warps = self._cfg.warps
        resident, versions = Signal(warps), Signal(warps)
        own = Signal(warps)
        m.d.comb += own.eq(decode(part.launch.warp, warps) & part.launch_valid.replicate(warps))
        m.d.sync += [
            resident.eq((resident | own) & ~part.exits),
            versions.eq((versions & ~own) | (own & part.current.replicate(warps))),
        ]
        self._resident, self._versions = resident, versions
        self._misses(m, part)
        state, new = part.state, resident & versions
        m.d.comb += [
            Assume(~part.launch_valid | (part.launch_ready & (part.launch.warp < warps))),
            Assume((own & resident) == 0),
            Assume(at_most_one(part.exits) & ((part.exits & ~resident) == 0)),
            Assume(~(part.kernel_valid & part.launch_valid)),
            Assume(part.kernel.registers != 0),
            Assert(~part.taken | ~resident.any(), "a kernel starts when no warp is there"),
            Assert(~part.loading.any() | ~resident.any(), "the first version is written before any warp comes"),
            Assert(~part.remapping.any() | ~new.any(), "the second one before any warp has it"),
            Assert(~part.current | (state == State.RUN), "it is there when all of it is written"),
            Assert(
                ~part.profiling | ~resident.any() | resident.bit_select(part.pilot, 1), "the pilot runs or has yet to"
            ),
            Assert(
                ~((state == State.SORT) & (part.scan >= self._cfg.marker)), "only counters that are there are sorted"
            ),
            Assert(at_most_one(Cat(part.loading, part.remapping)), "one turn at a time"),
            Cover(new.any(), "a warp has the second version"),
            Cover(part.taken & (state == State.REMAP), "a kernel breaks off the one before"),
            Cover((state == State.RUN) & (resident & ~versions).any() & new.any(), "both versions are in use"),
        ]

    def _misses(self, m, part):
        """Registers of the list that the pilot has not accessed, among those that are sorted."""
        listed = any_of(place.valid & (place.register == part.scan) for place in part.hot)
        now, self._missed = part.unused & listed & (part.state == State.SORT), Signal()
        with m.If(part.taken):
            m.d.sync += self._missed.eq(0)
        with m.Elif(now):
            m.d.sync += self._missed.eq(1)
        kept = past(m, part.keeps, "keeps")
        m.d.comb += [
            Assert(~part.keeps | self._missed | now, "a list is kept where the pilot has missed something"),
            Assert(~(self._missed & (part.current | part.remapping.any())), "and no other map is made then"),
            Assert(~kept | ((part.state == State.RUN) & ~part.current), "a list that is kept is used"),
            Cover(part.keeps & ~self._missed, "the last register is missed alone"),
        ]

    def help(self, m, part, state):
        m.d.comb += Assert(state("missed") == self._missed, "what is missed is known")
        count, step, scans = state("residents"), state("step"), state("kernel_registers")
        busy = {State.LOAD: self._cfg.fast_registers, State.REMAP: self._cfg.fast_registers, State.SORT: scans}
        m.d.comb += [
            Assert(~(self._resident & self._versions).any() | part.current, "who has the second version came late"),
            Assert(count == sum(self._resident, Const(0)), "residents are counted"),
            Assert(part.state <= State.RUN, "states are states"),
            Assert((part.state > State.LOAD) | ~self._resident.any(), "no warp is resident before the first kernel"),
            Assert((part.state == State.IDLE) | ((scans != 0) & (scans <= self._cfg.marker)), "some counters are used"),
            *(Assert((part.state != name) | (step < end), "a state ends in time") for name, end in busy.items()),
            Assert(part.pilot < self._cfg.warps, "the pilot is a warp"),
        ]


def proof(
    block: str, size: str, properties: type, part: type, wrong: dict, changes: Mapping[str, object] = NOTHING, **bounds
) -> Proof:
    """Proof of a part in a configuration; ``wrong`` says per assertion which wires of the part are changed."""
    cfg = config(**changes)
    return Proof(
        f"hdl.rf.pilot.{block}",
        size,
        lambda: properties(part(cfg), cfg),
        {
            text: lambda changes=changes: properties(Miswired(part(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        },
        **bounds,
    )


PROOFS = (
    proof(
        "sorter",
        "2 slots of 8 registers",
        SorterProperties,
        TopSorter,
        {
            "with its count": {"count": lambda value: value | 1},
            "a register that is absent has no smaller one before it": {"valid": lambda value: value & 0},
            "only what came is there": {"register": lambda value: value ^ 1},
        },
    ),
    proof(
        "epoch",
        "epochs of 5 cycles",
        EpochProperties,
        EpochUnit,
        {
            "the mode is what the epoch before says": {"issue": lambda value: ~value},
            "an epoch ends after its cycles": {"ends": lambda value: ~value},
        },
        reach=16,
    ),
    proof(
        "kernel_state",
        "3 warps, 2 fast registers",
        KernelProperties,
        KernelState,
        {
            "a kernel starts when no warp is there": {"launch_valid": lambda value: value & 0},
            "the second one before any warp has it": {"current": lambda value: ~value},
            "it is there when all of it is written": {"current": lambda value: ~value},
            "a list is kept where the pilot has missed something": {"keeps": lambda value: ~value},
            "and no other map is made then": {"unused": lambda value: value & 0},
        },
        reach=24,
    ),
)
