"""Collector units that forward results and keep operands in their slots (docs/schemes/sticky.md)."""

from amaranth import Cat, Module
from amaranth.lib import wiring

from warpfile.hdl.collectors.allocation import allocate_units, owned_units, watch_units
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.dispatch import allocation_order, dispatch_units
from warpfile.hdl.collectors.dispatch_lane import join_lanes
from warpfile.hdl.collectors.requests import ask_banks
from warpfile.hdl.collectors.sticky.forwarding import forward_results
from warpfile.hdl.collectors.sticky.keeping import keep_operands
from warpfile.hdl.collectors.sticky.lane import StickyLane
from warpfile.hdl.collectors.sticky.unit import StickyUnit
from warpfile.hdl.collectors.write_back import store_all
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.sticky import StickyConfig, sticky_probes


class StickyUnits(wiring.Component):
    """Collector units of the baseline whose near slots wait for results that are coming, and keep their operands.

    Ports: :func:`collector_members` and the scheme's own probes. They prefer no warp and refuse nothing that had
    ``room``; the register file stores every result. With both fields ``none`` they are the baseline's.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), sticky_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Units, order of allocation, dispatch, which unit takes a beat, the way to the register file and back."""
        m = Module()
        cfg = self._cfg
        numbers = range(cfg.collectors)
        units = [stamp(m, f"unit{number}", "sticky_unit", lambda: StickyUnit(cfg)) for number in numbers]
        older = allocation_order(m, cfg, self.allocate, also=cfg.keeps_operands)
        leaving = dispatch_units(m, cfg, self, units, older)
        owned = owned_units(m, cfg, units)
        if cfg.keeps_operands:
            keep_operands(m, cfg, self, units, owned, leaving, older)
        else:
            holding = [unit.occupied for unit in units]
            allocate_units(m, cfg, self, units, owned, leaving, holding, self.source_places)
        if cfg.forwards:
            forward_results(m, cfg, self, units)
        ask_banks(m, cfg, self, units, older)
        store_all(m, cfg, self)
        self._lanes(m, units)
        watch_units(m, cfg, self, units, owned)
        m.d.comb += self.taken.eq(self.offer.source_valid & self.allocate.any().replicate(cfg.source_slots))
        return m

    def _lanes(self, m: Module, units: list) -> None:
        chosen, leaving = named(m, "chosen_units", Cat(self.chosen)), []
        awaited = named(m, "awaited", Cat(unit.awaited for unit in units)) if self._cfg.forwards else None
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"lane{number}", "sticky_lane", lambda: StickyLane(self._cfg))
            m.d.comb += [lane.inputs.eq(self.fill_data[number]), lane.fill.eq(self.fill), lane.chosen.eq(chosen)]
            if self._cfg.forwards:
                m.d.comb += [lane.awaited.eq(awaited), lane.result.eq(self.result_data[0].word_select(number, 32))]
            leaving.append(lane.operands)
        join_lanes(m, self._cfg, self, leaving)
