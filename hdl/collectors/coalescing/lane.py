"""One lane of the operands of coalescing units."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.collectors.operand_lane import hold_operands, lane_input, lane_members
from warpfile.hdl.slices import WAY_OUT, unpacked
from warpfile.spec.schemes.coalescing import CoalescingConfig


class CoalescingLane(wiring.Component):
    """One lane: of every unit the input, unpacked twice, and the operands; then the way to the execution ports.

    Members
    -------
    See :func:`hdl.collectors.operand_lane.lane_members`; ``fill`` are slots that take what the first unpacker gives.
    clear : In(collectors * slots)       Slots that take 0.
    join : In(collectors * slots)        Slots that take what the second unpacker gives; only where sources join.
    unpack, join_unpack : In(WAY_OUT * collectors)   Slices that the unpackers of every unit take; only with
                                         ``gives.slices``, the second one only where sources join.
    """

    def __init__(self, cfg: CoalescingConfig) -> None:
        self._cfg = cfg
        self._joins = cfg.coalescing != "none"
        slots, masks = cfg.collectors * cfg.source_slots, WAY_OUT * cfg.collectors
        members = {**lane_members(cfg), "clear": In(slots)}
        members |= {"join": In(slots), "join_unpack": In(masks)} if self._joins else {}
        members |= {"unpack": In(masks)} if cfg.gives.slices else {}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Unpackers by unit, then the registers."""
        m = Module()
        self._first, self._second = [], []
        for unit in range(self._cfg.collectors):
            word = lane_input(self._cfg, self.inputs, unit * self._cfg.source_slots)
            self._first.append(self._word(m, f"first{unit}", word, "unpack", unit) if self._cfg.gives.slices else word)
            if self._joins:
                self._second.append(self._word(m, f"second{unit}", word, "join_unpack", unit))
        hold_operands(m, self._cfg, self, self._next)
        return m

    def _word(self, m: Module, name: str, word: Value, masks: str, unit: int) -> Signal:
        value = Signal(32, name=name)
        m.d.comb += value.eq(unpacked(m, word, getattr(self, masks).word_select(unit, WAY_OUT)))
        return value

    def _next(self, index: int) -> tuple[Value, Value]:
        """When a slot takes something, and what; in other cycles zero would do as well."""
        unit = index // self._cfg.source_slots
        enable, word = self.fill[index], self._first[unit]
        if self._joins:
            word = Mux(self.join[index], self._second[unit], word)
            enable = enable | self.join[index]
        return enable | self.clear[index], word & (~self.clear[index]).replicate(32)
