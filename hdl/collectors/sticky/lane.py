"""One lane of the operands of units that forward results."""

from amaranth import Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.collectors.operand_lane import hold_operands, lane_input, lane_members
from warpfile.spec.schemes.sticky import StickyConfig


class StickyLane(wiring.Component):
    """One lane of the operands of all units, and of the way to the execution ports (:func:`lane_members`).

    Members
    -------
    awaited : In(collectors * near_slots)   Near slots that wait for the result, which no bank fills then. They take it
                                 at the end of the cycle, accepted or not: acceptance is late, and the result stays
                                 until then. This and the next line only with ``forward_results``.
    result : In(32)              The result that is shown on the write-back port that forwards.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        taken = {"awaited": In(cfg.collectors * cfg.near_slots), "result": In(32)} if cfg.forwards else {}
        super().__init__({**lane_members(cfg), **taken})

    def elaborate(self, platform) -> Module:
        """Operand registers, of near slots with one more input, then one multiplexer per port and slot."""
        m = Module()
        hold_operands(m, self._cfg, self, self._next)
        return m

    def _next(self, index: int) -> tuple[Value, Value]:
        """When a slot takes a word, and which."""
        filled, word = self.fill[index], lane_input(self._cfg, self.inputs, index)
        unit, slot = divmod(index, self._cfg.source_slots)
        if not self._cfg.forwards or slot >= self._cfg.near_slots:
            return filled, word
        taken = self.awaited[unit * self._cfg.near_slots + slot]
        return filled | taken, Mux(taken, self.result, word)
