"""Collector units between the issued beat and the execution ports, over any register file."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.collectors.allocation import allocate_units, owned_units, watch_units
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.dispatch import allocation_order, dispatch_units
from warpfile.hdl.collectors.dispatch_lane import join_lanes
from warpfile.hdl.collectors.requests import ask_banks
from warpfile.hdl.collectors.units.checked_unit import CheckedUnit
from warpfile.hdl.collectors.units.checks import look_up_later
from warpfile.hdl.collectors.units.lane import CheckedLane, CollectorLane
from warpfile.hdl.collectors.units.near import know_near, read_near
from warpfile.hdl.collectors.units.unit import CollectorUnit
from warpfile.hdl.collectors.write_back import store_all
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config
from warpfile.spec.schemes.units import stage_probes


class Units(wiring.Component):
    """Allocates collector units, asks the register file for their operands, dispatches ready beats.

    Ports: :func:`collector_members` and the probes of the units. They prefer no warp and refuse nothing that had
    ``room``; the register file stores every result. Over a file that looks sources up later the units also have them
    checked, one unit per cycle; over a file that has something near they read that, one unit per cycle. The one
    allocated first goes first.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), stage_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Units, order of allocation, dispatch, the way to the register file and back."""
        m = Module()
        units = [self._unit(m, number) for number in range(self._cfg.collectors)]
        older = allocation_order(m, self._cfg, self.allocate)
        leaving = dispatch_units(m, self._cfg, self, units, older)
        owned = owned_units(m, self._cfg, units)
        places = None if self._cfg.gives.later else self.source_places
        allocate_units(m, self._cfg, self, units, owned, leaving, [unit.occupied for unit in units], places)
        ask_banks(m, self._cfg, self, units, older)
        take = None
        if self._cfg.gives.later:
            look_up_later(m, self._cfg, self, units, older)
        elif self._cfg.gives.near_bits:
            know_near(m, self._cfg, self, units, older)
        if self._cfg.gives.near_bits:
            take = read_near(m, self._cfg, self, units, older)
        store_all(m, self._cfg, self)
        self._lanes(m, take)
        watch_units(m, self._cfg, self, units, owned)
        return m

    def _unit(self, m: Module, number: int) -> wiring.PureInterface:
        if self._cfg.gives.later:
            return stamp(m, f"unit{number}", "checked_unit", lambda: CheckedUnit(self._cfg))
        return stamp(m, f"unit{number}", "collector_unit", lambda: CollectorUnit(self._cfg))

    def _lanes(self, m: Module, take: Value | None) -> None:
        """``take``: slots that take their near word, if there are any."""
        chosen, leaving = named(m, "chosen_units", Cat(self.chosen)), []
        for number in range(self._cfg.lanes):
            if self._cfg.gives.near_bits:
                lane = stamp(m, f"lane{number}", "checked_lane", lambda: CheckedLane(self._cfg))
                m.d.comb += [lane.near_words.eq(self.near_data[number]), lane.take.eq(take)]
            else:
                lane = stamp(m, f"lane{number}", "collector_lane", lambda: CollectorLane(self._cfg))
            m.d.comb += [
                lane.inputs.eq(self.fill_data[number]),
                lane.fill.eq(self.fill),
                lane.chosen.eq(chosen),
            ]
            leaving.append(lane.operands)
        join_lanes(m, self._cfg, self, leaving)
