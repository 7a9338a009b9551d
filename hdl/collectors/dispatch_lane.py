"""One lane of the way from collector units, or windows, to the execution ports."""

from collections.abc import Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.spec.config import Config


class DispatchLane(wiring.Component):
    """One lane of the way from the units to the execution ports.

    Members
    -------
    units : In(32 * units * source_slots)        Operands of every unit, unit-major.
    chosen : In(ports * units)                   Unit presented on each port, one-hot.
    operands : Out(32 * source_slots * ports)    Port-major, then slot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        width = 32 * cfg.source_slots
        super().__init__(
            {
                "units": In(width * cfg.asks.units),
                "chosen": In(cfg.ports * cfg.asks.units),
                "operands": Out(width * cfg.ports),
            }
        )

    def elaborate(self, platform) -> Module:
        """AND-OR per port."""
        m = Module()
        cfg, width = self._cfg, 32 * self._cfg.source_slots
        units = [self.units.word_select(unit, width) for unit in range(cfg.asks.units)]
        for port in range(cfg.ports):
            chosen = self.chosen.word_select(port, cfg.asks.units)
            m.d.comb += self.operands.word_select(port, width).eq(select(chosen, units))
        return m


def join_lanes(m: Module, cfg: Config, collectors: wiring.Component, lanes: Sequence[Value]) -> None:
    """Drive ``operands`` of collectors with the words of every lane, which are port-major, then slot."""
    for port in range(cfg.ports):
        for slot in range(cfg.source_slots):
            number = port * cfg.source_slots + slot
            words = Cat(lane.word_select(number, 32) for lane in lanes)
            m.d.comb += collectors.operands[port][slot].eq(words)
