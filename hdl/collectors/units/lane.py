"""One lane of the operands of collector units."""

from amaranth import Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.collectors.operand_lane import hold_operands, lane_input, lane_members
from warpfile.spec.config import Config


class CollectorLane(wiring.Component):
    """One lane of the operands of all collector units, and of the way to the execution ports.

    Members
    -------
    inputs : In(32 * inputs)             From the crossbar: one word per unit, or one per slot (``collect`` = ``all``).
    fill : In(collectors * slots)        Slots that take their unit's word at the end of the cycle.
    chosen : In(ports * collectors)      Unit presented on each port, one-hot.
    operands : Out(32 * slots * ports)   Port-major, then slot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(lane_members(cfg))

    def elaborate(self, platform) -> Module:
        """Operand registers, then one AND-OR multiplexer per port and slot."""
        m = Module()
        hold_operands(m, self._cfg, self, lambda index: (self.fill[index], lane_input(self._cfg, self.inputs, index)))
        return m


class CheckedLane(wiring.Component):
    """One lane of the operands of all collector units, filled from the banks and with what is near.

    Members
    -------
    inputs, fill, chosen, operands    As in :class:`CollectorLane`.
    near_words : In(32 * source_slots)   What is near, one word per source slot.
    take : In(collectors * slots)     Slots that take their near word at the end of the cycle.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        near = {"near_words": In(32 * cfg.source_slots), "take": In(cfg.collectors * cfg.source_slots)}
        super().__init__({**lane_members(cfg), **near})

    def elaborate(self, platform) -> Module:
        """As in a collector lane, with one more source per register."""
        m = Module()
        hold_operands(m, self._cfg, self, self._next)
        return m

    def _next(self, index: int) -> tuple[Value, Value]:
        near = self.near_words.word_select(index % self._cfg.source_slots, 32)
        word = Mux(self.take[index], near, lane_input(self._cfg, self.inputs, index))
        return self.fill[index] | self.take[index], word
