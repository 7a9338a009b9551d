"""Proofs of what moves registers: every pair of every warp once, and no other register."""

from functools import partial

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import at_most_one, constant, past
from tests.formal.rf.pilot import kernels
from warpfile.hdl.arbiter import decode
from warpfile.hdl.rf.pilot.awaited import AwaitedResults
from warpfile.hdl.rf.pilot.kernel_state import KernelState
from warpfile.hdl.rf.pilot.mover import Mover
from warpfile.spec.schemes.pilot import State


class MoverProperties(ConfiguredProperties):
    """Any pair of any warp while warps and pairs stay as they are, until the mover ends."""

    def check(self, m, part):
        cfg = self._cfg
        who, which = constant(m, "who", cfg.warps), constant(m, "which", cfg.fast_registers)
        done, busy, slow = Signal(range(6)), Signal(range(cfg.gives.cycles)), part.access[0] ^ part.access[1]
        mine = part.grant & (part.warp == who) & (part.pair == which)
        over = part.ends | ~part.moving
        m.d.sync += [
            done.eq(Mux(over, 0, done + mine)),
            busy.eq(Mux(part.grant, Mux(slow, cfg.slow_cycles, part.fast_cycles) - 1, busy - busy.any())),
        ]
        due = part.resident.bit_select(who, 1) & part.pairs.bit_select(which, 1)
        began, stays = past(m, part.moving & ~part.ends, "moving"), Cat(part.resident, part.pairs)
        m.d.comb += [
            Assume(~part.grant | part.asks),
            Assume((part.pairs & (part.pairs + 1)) == 0),
            Assume((part.fast_cycles > 0) & (part.fast_cycles <= cfg.gives.cycles)),
            Assume(~began | (part.moving & ~part.clear & (stays == past(m, stays, "stays")))),
            Assume(began | ~part.moving | ~part.clear),
            Assert(~part.asks | part.moving, "nothing moves at other times"),
            Assert(~part.asks | part.resident.bit_select(part.warp, 1), "registers of warps that are there"),
            Assert(~part.asks | part.pairs.bit_select(part.pair, 1), "pairs that are there"),
            Assert(~part.asks | ~busy.any(), "one access after the other"),
            Assert(~mine | (done == part.access), "the four accesses in their order"),
            Assert(~part.ends | (done == Mux(due, 4, 0)), "every pair has moved in the end, once"),
            Cover(part.ends & due & (who == cfg.warps - 1), "the last warp has moved"),
            Cover(part.ends & (part.resident == 0), "no warp is resident"),
        ]
        self._who, self._which, self._done, self._busy, self._due = who, which, done, busy, due
        self._began = began

    def help(self, m, part, state):
        who, which, done = self._who, self._which, self._done
        before = (part.warp > who) | ((part.warp == who) & (part.pair > which))
        here = (part.warp == who) & (part.pair == which)
        wanted = Mux(before, 4, Mux(here, part.access, 0))
        first = (part.warp == 0) & (part.pair == 0) & (part.access == 0)
        pairs = self._cfg.fast_registers
        m.d.comb += [
            Assert(part.warp < self._cfg.warps, "a slot"),
            Assert(part.pair <= pairs, "a pair or none"),
            Assert(~self._began | (state("wait") == self._busy), "the wait is that of the access"),
            Assert(self._began | first, "it begins at the first"),
            Assert(self._began | (done == 0), "nothing is done before"),
            Assert(~self._began | (done == Mux(self._due, wanted, 0)), "what is done says where it is"),
            Assert(~self._began | ~part.access.any() | part.pairs.bit_select(part.pair, 1), "in a pair"),
            Assert(~self._began | ~part.access.any() | part.resident.bit_select(part.warp, 1), "of a warp"),
            Assert(
                ~self._began | (part.pair == 0) | Cat(Const(1, 1), part.pairs).bit_select(part.pair, 1), "or behind one"
            ),
            Assert(~self._began | (part.pair == 0) | part.resident.bit_select(part.warp, 1), "of a warp that is there"),
        ]


class AwaitedProperties(ConfiguredProperties):
    """Registers one by one: what is issued and not accepted."""

    def check(self, m, part):
        most = (1 << len(part.count)) - 1 - 7
        open_, taken = Signal(len(part.count)), sum(part.accepted, Const(0))
        comes = Mux(part.issue & part.beat.executes, part.beat.dest_count, 0)
        m.d.sync += open_.eq(open_ + comes - taken)
        m.d.comb += [
            Assume(taken <= open_),
            Assume(open_ <= most),
            Assert(part.count == open_, "a result that is issued and not accepted is awaited"),
            Cover(past(m, open_ != 0, "some") & (part.count == 0), "nothing is awaited any more"),
        ]


class MigratingProperties(ConfiguredProperties):
    """Warps that come and go as the frame lets them, and not while they are held."""

    def check(self, m, part):
        warps, state = self._cfg.warps, part.state
        resident, own = Signal(warps), Signal(warps)
        m.d.comb += own.eq(decode(part.launch.warp, warps) & part.launch_valid.replicate(warps))
        m.d.sync += resident.eq((resident | own) & ~part.exits)
        self._resident = resident
        empty, was = Signal(init=1), past(m, state, "state")
        self._kept = kept = Signal()
        m.d.sync += kept.eq((kept | part.keeps) & ~part.taken)
        with m.If(part.taken | part.undone):
            m.d.sync += empty.eq(1)
        with m.Elif(part.loading.any() | part.remapping.any()):
            m.d.sync += empty.eq(0)
        m.d.comb += [
            Assume(~part.launch_valid | (part.launch_ready & (part.launch.warp < warps))),
            Assume((own & resident) == 0),
            Assume(at_most_one(part.exits) & ((part.exits & ~resident) == 0)),
            Assume(~part.held | ~part.exits.any()),
            Assume(~(part.kernel_valid & part.launch_valid)),
            Assume(part.kernel.registers != 0),
            Assert(part.resident == resident, "resident warps are known"),
            Assert(~(part.held & part.launch_ready), "no warp is launched while registers move"),
            Assert(~part.moving | part.held, "no warp issues while registers move"),
            Assert(~part.remapping.any() | part.held, "nor while the table is written"),
            Assert(~(part.moving & (part.loading | part.remapping).any()), "nothing moves while the table is written"),
            Assert(
                ~((state == State.REMAP) & (was == State.MOVE)) | empty, "the old pairs are gone before new ones come"
            ),
            Assert(
                ~((state == State.RUN) & (was != State.RUN)) | (part.current ^ kept),
                "in the end the table is the pilot's, or the list is kept",
            ),
            Cover((state == State.RUN) & (was == State.MOVE) & resident.any(), "a warp has moved"),
            Cover(part.taken & (state == State.MOVE), "a kernel begins while no register moves"),
        ]

    def help(self, m, part, state):
        count, step, scans = state("residents"), state("step"), state("kernel_registers")
        busy = {State.LOAD: self._cfg.fast_registers, State.REMAP: self._cfg.fast_registers, State.SORT: scans}
        waits = (part.state == State.DRAIN) | ((part.state == State.MOVE) & ~part.current)
        early = Cat(part.state == name for name in (State.LOAD, State.PROFILE, State.SORT, State.DRAIN, State.REMAP))
        m.d.comb += [
            Assert(count == sum(self._resident, Const(0)), "residents are counted"),
            Assert((part.state > State.LOAD) | ~self._resident.any(), "no warp is resident before the first kernel"),
            Assert((part.state == State.IDLE) | ((scans != 0) & (scans <= self._cfg.marker)), "some counters are used"),
            Assert(~early.any() | ~part.current, "the pilot's map comes last"),
            Assert((part.state != State.RUN) | (part.current ^ self._kept), "and stays"),
            Assert((part.state == State.RUN) | ~self._kept, "a list that is kept is used"),
            *(Assert((part.state != name) | (step < end), "a state ends in time") for name, end in busy.items()),
            Assert(~waits | (step == 0), "the list begins at its first place"),
            Assert(part.pilot < self._cfg.warps, "the pilot is a warp"),
        ]


#: Of a part of a file that moves registers.
proof = partial(kernels.proof, changes={"remap": "migrate", "slow_cycles": 2})

PROOFS = (
    proof(
        "mover",
        "3 warps, 2 pairs",
        MoverProperties,
        Mover,
        {
            "registers of warps that are there": {"resident": lambda value: value | 1},
            "one access after the other": {"fast_cycles": lambda value: (value & 0) | 1},
            "the four accesses in their order": {"grant": lambda value: value & 0},
            "every pair has moved in the end, once": {"pairs": lambda value: value & 1},
        },
        reach=34,
    ),
    proof(
        "awaited",
        "8 registers of 3 warps",
        AwaitedProperties,
        AwaitedResults,
        {"a result that is issued and not accepted is awaited": {"accepted": lambda value: value & 0}},
    ),
    proof(
        "kernel_state",
        "3 warps, 2 fast registers, registers move",
        MigratingProperties,
        KernelState,
        {
            "no warp issues while registers move": {"held": lambda value: value & 0},
            "no warp is launched while registers move": {"launch_ready": lambda value: ~value},
            "the old pairs are gone before new ones come": {"undone": lambda value: value & 0},
        },
        reach=28,
    ),
)
