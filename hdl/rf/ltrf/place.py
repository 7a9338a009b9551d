"""One place of the cache: what its warp has there, and how that changes (docs/schemes/ltrf.md, section 4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, select
from warpfile.hdl.count import unary_count
from warpfile.hdl.naming import named
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.rf.location import look_up
from warpfile.hdl.rf.ltrf.address_table import of_part
from warpfile.hdl.rf.ltrf.registers import lowest_register, number_of
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PARTS, PREFETCH, RECALL, RELEASING, LtrfConfig


class CachePlace(wiring.Component):
    """State of one place, its working set, and the steps of its registers, one of each part of the address table.

    Sets of registers are in the order of :func:`hdl.rf.ltrf.address_table.by_part`. The table is outside.

    Members
    -------
    holds, entered : In(1)       A warp holds the place, and has executed a PREFETCH.
    may_start : Out(1), start : In(1)   It could take up the warp, and does. Start and save are those of one place.
    may_save : Out(1), save : In(1)     It could save its registers to be released, and does.
    enters, ends : In(1)         The warp's PREFETCH, or its EXIT, issues.
    release : In(1), released : Out(1)   Its warp is asked to give the place up, and has.
    operand, word, live_word : In(names)   The operand of a PREFETCH, and what is kept of the warp. Whatever has to do
                                 with live registers is there only with ``liveness``.
    issued : In(1), written, arrives, dies : In(names)   Registers that a beat of the warp writes, that its full load
                                 writes, that it reads for the last time.
    stored : In(write_ports), results : In(ArrayLayout)   Results that are written to the cache, and their registers.
    leaves, takes : Out(names)   Registers that lose their banks, and that get one.
    drop : Out(1)                No register has a bank any more.
    cached : In(names)           Registers that have one.
    base : In(place_bits), warp : In(bank_bits)   Place of the warp's register 0, and its number modulo main banks.
    working : In(1)              Something is under way for the place outside of it.
    state : Out(3), open : Out(1), set, live : Out(names)   What it is; registers of the interval; live ones.
    occupied : Out(banks)        Its banks of the cache that are not free.
    starved : Out(1)             A register takes a bank, and none is free.
    vacant : In(ArrayLayout)     The first free bank in the order of the place, the second, ...; each one-hot or none.
    step_in, step_out, step_moves : Out(parts), step_registers : Out(ArrayLayout)   A register of the part takes a bank,
                                 loses it, has to be moved; which, zero if none.
    entered_step, moves : Out(parts), out : Out(1), registers, banks, homes : Out(ArrayLayout)   The steps of the cycle
                                 before: there is one, its register has to be moved; all of them are steps out;
                                 register, bank of a step in, place in the main banks.
    freed : In(banks)            Banks of the steps out of the cycle before.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        names, ports, banks = cfg.register_names, cfg.write_ports, cfg.interval_registers
        live = {"live_word": In(names), "dies": In(names), "live": Out(names)} if cfg.liveness else {}
        inputs = ("holds", "entered", "start", "save", "enters", "ends", "release", "issued", "working")
        outputs = ("may_start", "may_save", "released", "drop", "open", "starved")
        registers = data.ArrayLayout(cfg.register_bits, PARTS)
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                **{name: In(names) for name in ("operand", "word", "written", "arrives", "cached")},
                **{name: Out(names) for name in ("takes", "leaves", "set")},
                **live,
                "stored": In(ports),
                "results": In(data.ArrayLayout(names, ports)),
                "base": In(place_digits(cfg)),
                "warp": In(cfg.bank_bits),
                "state": Out(3),
                "occupied": Out(banks),
                "vacant": In(data.ArrayLayout(banks, PARTS)),
                **{name: Out(PARTS) for name in ("step_in", "step_out", "step_moves", "entered_step", "moves")},
                "out": Out(1),
                "step_registers": Out(registers),
                "registers": Out(registers),
                "banks": Out(data.ArrayLayout(cfg.cache_bank_bits, PARTS)),
                "homes": Out(data.ArrayLayout(location_layout(cfg.common()), PARTS)),
                "freed": In(banks),
            }
        )

    def elaborate(self, platform) -> Module:
        """The steps of a cycle, those of the cycle before, and the next state."""
        m = Module()
        self._states(m)
        kept = self._kept(m)
        left, came = self._step(m, kept, self._saved(m, kept))
        self._take(m)
        self._enter(m)
        still = named(m, "still", ~self.entered_step.any() & ~self.working)
        self._move(m, ~self.cached.any() & still, self._is[MOVING] & left & came & still)
        return m

    def _step(self, m: Module, kept: Value, saves: Value) -> tuple[Value, Value]:
        """Registers leave their banks or take one. Returns whether none has to leave, and whether none has to come."""
        releasing = self._is[RELEASING]
        stay = self.set & ~self._all(releasing)
        surplus, lacking = named(m, "surplus", self.cached & ~stay), named(m, "lacking", self.set & ~self.cached)
        leaving = named(m, "leaving", surplus.any())
        out = named(m, "steps_out", (self._is[MOVING] | releasing) & leaving)
        come = named(m, "steps_in", self._is[MOVING] & ~leaving & ~(self.out & self.entered_step.any()))
        fetched = self.live if self._cfg.liveness else self._every
        saved = named(m, "saved", Mux(releasing, saves, kept))
        leaves, takes = [], []
        for part in range(PARTS):
            lowest = [
                lowest_register(m, f"lowest_{name}{part}", of_part(registers, part))
                for name, registers in (("out", surplus), ("in", lacking))
            ]
            leaves.append(named(m, f"leaves{part}", lowest[0] & out.replicate(len(lowest[0]))))
            takes.append(named(m, f"takes{part}", lowest[1] & come.replicate(len(lowest[1]))))
            moved = (leaves[part] & of_part(saved, part)) | (takes[part] & of_part(fetched, part))
            steps = named(m, f"steps{part}", self.step_in[part] | self.step_out[part])
            number = number_of(named(m, f"stepped{part}", leaves[part] | takes[part]), self._cfg.register_bits - 2)
            m.d.comb += [
                self.step_out[part].eq(leaves[part].any()),
                self.step_in[part].eq(takes[part].any()),
                self.step_moves[part].eq(moved.any()),
                self.step_registers[part].eq(Cat(Const(part, 2) & steps.replicate(2), number)),
            ]
        m.d.comb += [self.leaves.eq(Cat(leaves)), self.takes.eq(Cat(takes))]
        return ~leaving, ~lacking.any()

    def _take(self, m: Module) -> None:
        """Banks of the steps in: the parts that step take the free ones in their order."""
        taken, starved = [], []
        for part in range(PARTS):
            before = unary_count(m, f"before{part}", list(self.step_in[:part]))
            bank = select(before, list(self.vacant)[: part + 1])
            taken.append(named(m, f"taken{part}", bank & self.step_in[part].replicate(len(bank))))
            starved.append(self.step_in[part] & ~taken[part].any())
            m.d.sync += self.banks[part].eq(encode(taken[part], self._cfg.cache_bank_bits))
        kept = (self.occupied | any_of(taken)) & ~self.freed & ~self.drop.replicate(len(self.occupied))
        m.d.sync += self.occupied.eq(kept)
        m.d.comb += self.starved.eq(any_of(starved))

    def _enter(self, m: Module) -> None:
        """What stands in the entries."""
        m.d.sync += [
            self.entered_step.eq(self.step_in | self.step_out),
            self.out.eq(self.step_out.any()),
            self.moves.eq(self.step_moves),
            self.registers.eq(self.step_registers),
        ]
        for register, home in zip(self.registers, self.homes, strict=True):
            place = Signal(location_layout(self._cfg.common()), name="home")
            look_up(m, self._cfg.common(), self.base, self.warp, register, place)
            m.d.comb += home.eq(place)

    def _states(self, m: Module) -> None:
        names = ("empty", "recalling", "prefetching", "moving", "opened", "releasing")
        self._is = {state: named(m, name, self.state == state) for state, name in enumerate(names)}

    def _all(self, bit: Value) -> Value:
        return bit.replicate(self._cfg.register_names)

    @property
    def _every(self) -> Value:
        return self._all(Const(1, 1))

    def _kept(self, m: Module) -> Value:
        """Registers whose value has to be saved if they leave the cache: live, and changed."""
        cfg, kept = self._cfg, self._every
        self._results = named(
            m,
            "result_registers",
            any_of(register & self._all(stored) for register, stored in zip(self.results, self.stored, strict=True)),
        )
        if cfg.liveness:
            issued = self._all(self.issued)
            with m.If(self.start | self._is[RECALL]):
                m.d.sync += self.live.eq(self.live_word & ~self._all(self.start))
            with m.Else():
                m.d.sync += self.live.eq((self.live & ~(self.dies & issued)) | (self.written & issued))
            kept = kept & self.live
        if cfg.moved_back == "dirty":
            dirty = Signal(cfg.register_names)
            m.d.sync += dirty.eq((dirty | self._results) & ~self.takes)
            kept = kept & dirty
        return named(m, "kept", kept)

    def _saved(self, m: Module, kept: Value) -> Value:
        """What a place that is released has to write back: nothing that a load overwrites."""
        incoming = Signal(self._cfg.register_names)
        arriving = self.arrives & self._all(self.issued)
        m.d.sync += incoming.eq((incoming | arriving) & ~self._results & ~self._all(self.drop))
        return named(m, "saves", self.set & kept & ~incoming)

    def _move(self, m: Module, gone: Value, done: Value) -> None:
        """States, and the working set. ``gone``, ``done``: all has left, all is there."""
        m.d.comb += [
            self.may_start.eq(self._is[EMPTY] & self.holds),
            self.may_save.eq(self._is[OPEN] & self.release),
            self.released.eq(self._is[RELEASING] & gone),
            self.drop.eq(self.released | self.ends),
            self.open.eq(self._is[OPEN]),
        ]
        with m.If(self.start):
            m.d.sync += self.set.eq(0)
        with m.Elif(self._is[RECALL]):
            m.d.sync += self.set.eq(self.word)
        with m.Elif(self._is[PREFETCH]):
            m.d.sync += self.set.eq(self.operand)
        with m.Switch(self.state):
            with m.Case(EMPTY), m.If(self.start):
                m.d.sync += self.state.eq(Mux(self.entered, RECALL, OPEN))
            with m.Case(RECALL, PREFETCH):
                m.d.sync += self.state.eq(MOVING)
            with m.Case(MOVING), m.If(done):
                m.d.sync += self.state.eq(OPEN)
            with m.Case(OPEN):
                self._leave(m)
            with m.Default(), m.If(self.released):
                m.d.sync += self.state.eq(EMPTY)

    def _leave(self, m: Module) -> None:
        with m.If(self.ends):
            m.d.sync += self.state.eq(EMPTY)
        with m.Elif(self.enters):
            m.d.sync += self.state.eq(PREFETCH)
        with m.Elif(self.save):
            m.d.sync += self.state.eq(RELEASING)
