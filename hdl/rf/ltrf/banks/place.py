"""One place, four registers of which take a step in a cycle (docs/schemes/ltrf.md, section 14)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, select
from warpfile.hdl.count import unary_count
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import location_layout
from warpfile.hdl.rf.location import look_up
from warpfile.hdl.rf.ltrf.banks.parts import of_part
from warpfile.hdl.rf.ltrf.registers import lowest_register, number_of
from warpfile.hdl.rf.ltrf.state import PlaceState, place_members
from warpfile.spec.schemes.ltrf import MOVING, PARTS, RELEASING, LtrfConfig


class BankPlace(PlaceState):
    """State of one place, its working set, and the steps of its registers, one of each part of the address table.

    Sets of registers are in the order of :func:`hdl.rf.ltrf.banks.parts.by_part`.

    Members beside :func:`place_members`
    -------
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
        banks = cfg.interval_registers
        registers = data.ArrayLayout(cfg.register_bits, PARTS)
        super().__init__(
            {
                **place_members(cfg),
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
        self._save(m, kept)
        left, came = self._step(m, kept)
        self._take(m)
        self._enter(m)
        still = named(m, "still", ~self.entered_step.any() & ~self.working)
        self._move(m, Const(1, 1), ~self.cached.any() & still, self._is[MOVING] & left & came & still)
        return m

    def _step(self, m: Module, kept: Value) -> tuple[Value, Value]:
        """Registers leave their banks or take one. Returns whether none has to leave, and whether none has to come."""
        releasing = self._is[RELEASING]
        stay = self.set & ~self._all(releasing)
        surplus, lacking = named(m, "surplus", self.cached & ~stay), named(m, "lacking", self.set & ~self.cached)
        leaving = named(m, "leaving", surplus.any())
        out = named(m, "steps_out", (self._is[MOVING] | releasing) & leaving)
        come = named(m, "steps_in", self._is[MOVING] & ~leaving & ~(self.out & self.entered_step.any()))
        fetched = self.live if self._cfg.liveness else self._every
        saved = named(m, "saved", Mux(releasing, self.saves, kept))
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
