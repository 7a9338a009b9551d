"""Allocate: does the beat fit into the window, and where does each of its operands come from? (section 7.4)"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.collectors.read_window.beats import (
    allocating_layout,
    banks_of,
    has_source,
    passed,
    reading_layout,
    window_places,
)
from warpfile.hdl.collectors.read_window.schedule import ReadPlan
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import POSITIONS, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


class AllocateStage(wiring.Component):
    """Holds a beat of fixed latency until its reads fit. While they do not, no tick passes.

    Members
    -------
    comes : In(1), beat : In(allocating_layout(cfg))   A beat leaves Control in this tick.
    hit : In(positions)              Operands that are in the reuse cache, of the positions with a source.
    free : In(ArrayLayout)           See :class:`ReadPlan`.
    tick : Out(1)                    Time goes on.
    leaves : Out(1)                  The beat goes into the window.
    valid : Out(1), out : Out(allocating_layout(cfg))   The beat.
    registers : Out(ArrayLayout), sources : Out(positions)   Register at each position; positions with a source.
    banks : Out(slots)               Bank of each slot.
    reads : Out(reading_layout(cfg)) The beat as it enters the window.
    need : Out(ArrayLayout)          Registers that it must read from each bank.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        layout = allocating_layout(cfg)
        super().__init__(
            {
                "comes": In(1),
                "beat": In(layout),
                "hit": In(POSITIONS),
                "free": In(data.ArrayLayout(window_places(cfg), BANKS)),
                **{name: Out(1) for name in ("tick", "leaves", "valid")},
                "out": Out(layout),
                "registers": Out(data.ArrayLayout(cfg.register_bits, POSITIONS)),
                "sources": Out(POSITIONS),
                "banks": Out(cfg.source_slots),
                "reads": Out(reading_layout(cfg)),
                "need": Out(data.ArrayLayout(2, BANKS)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The beat, then the plan of its reads."""
        m = Module()
        held = Signal(allocating_layout(self._cfg), reset_less=True)
        m.submodules.plan = plan = ReadPlan(self._cfg)
        m.d.comb += [
            self.out.eq(held),
            self.banks.eq(Cat(banks_of(held.registers))),
            plan.wanted.eq(self._wanted(m, held)),
            plan.banks.eq(self.banks),
            plan.free.eq(self.free),
            self.need.eq(plan.need),
            self.tick.eq(~self.valid | plan.fits),
            self.leaves.eq(self.valid & plan.fits),
            *passed(self.reads, held),
            self.reads.places.eq(plan.places),
        ]
        with m.If(self.tick):
            m.d.sync += self.valid.eq(self.comes)
            with m.If(self.comes):
                m.d.sync += held.eq(self.beat)
        return m

    def _wanted(self, m: Module, held: data.View) -> Value:
        """Slots with a position that misses."""
        slots = range(self._cfg.source_slots)
        wanted = []
        for place, position in enumerate(held.positions):
            at = [(position == slot) for slot in slots]
            m.d.comb += self.sources[place].eq(self.valid & has_source(position))
            m.d.comb += self.registers[place].eq(select(at, list(held.registers)))
            wanted.append(Cat(at) & (self.valid & ~self.hit[place]).replicate(len(at)))
        return named(m, "wanted", any_of(wanted))
