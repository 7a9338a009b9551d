"""The registers with the largest counts (docs/schemes/pilot.md, section 6)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.pilot.layouts import sorted_layout
from warpfile.spec.schemes.pilot import COUNT_BITS, PilotConfig


class TopSorter(wiring.Component):
    """Inserts a count per cycle into a short sorted list, in front of the first that is smaller.

    Members
    -------
    clear : In(1)       No slot is valid from the next cycle on.
    valid : In(1), register : In(register_bits), count : In(16)   Goes into the list at the end of the cycle.
    slots : Out(sorted_layout(cfg))   Largest count first, equal ones in the order in which they came.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "clear": In(1),
                "valid": In(1),
                "register": In(cfg.register_bits),
                "count": In(COUNT_BITS),
                "slots": Out(sorted_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Per slot a comparator; a slot takes the new count, that of the slot before, or keeps its own."""
        m = Module()
        shape = self.slots.shape().elem_shape
        held = [Signal(shape, name=f"slot{number}") for number in range(self._cfg.fast_registers)]
        smaller = named(m, "smaller", Cat(~slot.valid | (slot.count < self.count) for slot in held))
        new = named(m, "new", Cat(Const(1, 1), self.register, self.count))
        for number, slot in enumerate(held):
            before = held[number - 1].as_value() if number else new
            with m.If(self.valid & smaller[number]):
                m.d.sync += slot.as_value().eq(Mux(smaller[number - 1], before, new) if number else new)
            with m.If(self.clear):
                m.d.sync += slot.as_value().eq(0)
            m.d.comb += self.slots[number].eq(slot)
        return m
