"""Collector units over a register file with a renaming table (docs/schemes/corf.md, section 9)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.collectors.allocation import allocate_units, owned_units, watch_units
from warpfile.hdl.collectors.coalescing.deaths import give_back
from warpfile.hdl.collectors.coalescing.lane import CoalescingLane
from warpfile.hdl.collectors.coalescing.unit import CoalescingUnit
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.dispatch import allocation_order, dispatch_units
from warpfile.hdl.collectors.dispatch_lane import join_lanes
from warpfile.hdl.collectors.requests import ask_banks
from warpfile.hdl.collectors.write_back import store_all
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.coalescing import CoalescingConfig, coalescing_probes


class Coalescing(wiring.Component):
    """Units that have every source looked up, ask for two at once, and say which registers are dead.

    Ports: :func:`collector_members` and the probes of :func:`coalescing_probes`. They prefer no warp and refuse nothing
    that had ``room``; the register file stores every result.
    """

    def __init__(self, cfg: CoalescingConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), coalescing_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Units, order of allocation, dispatch, the table, the banks, the lanes."""
        m = Module()
        cfg = self._cfg
        units = [
            stamp(m, f"unit{number}", "coalescing_unit", lambda: CoalescingUnit(cfg))
            for number in range(cfg.collectors)
        ]
        older = allocation_order(m, cfg, self.allocate)
        leaving = dispatch_units(m, cfg, self, units, older)
        owned = owned_units(m, cfg, units)
        allocate_units(m, cfg, self, units, owned, leaving, [unit.holding for unit in units])
        self._look_up(m, units)
        ask_banks(m, cfg, self, units, older)
        if cfg.coalescing == "planes":
            m.d.comb += self.joined_rows.eq(Cat(unit.joined_row for unit in units))
            m.d.comb += self.joined_masks.eq(Cat(unit.joined_mask for unit in units))
        if cfg.gives.deaths:
            give_back(m, cfg, self, units)
        store_all(m, cfg, self)
        self._lanes(m, units)
        watch_units(m, cfg, self, units, owned)
        self._observe(m, units)
        return m

    def _look_up(self, m: Module, units: list) -> None:
        """Every slot asks the table until it is served; the offered beat asks in the cycle of its allocation."""
        width = self._cfg.source_slots
        m.d.comb += [
            self.locate.eq(Cat(unit.locate for unit in units)),
            self.locate_warps.eq(Cat(unit.out.warp for unit in units)),
            self.locate_registers.eq(Cat(unit.registers.as_value() for unit in units)),
        ]
        for number, unit in enumerate(units):
            slots = range(number * width, number * width + width)
            m.d.comb += [
                unit.looked_up.eq(self.looked_up.word_select(number, width)),
                unit.places.eq(Cat(self.located_places[slot] for slot in slots)),
                unit.masks.eq(Cat(self.located_masks[slot] for slot in slots)),
                unit.mapped.eq(self.located_mapped.word_select(number, width)),
            ]

    def _lanes(self, m: Module, units: list) -> None:
        names = {"fill": "filled", "clear": "cleared"}
        names |= {"unpack": "unpack"} if self._cfg.gives.slices else {}
        names |= {"join": "join_filled", "join_unpack": "join_unpack"} if self._cfg.coalescing != "none" else {}
        inputs: dict[str, Value] = {
            name: named(m, f"to_{name}", Cat(getattr(unit, own) for unit in units)) for name, own in names.items()
        }
        inputs["chosen"] = named(m, "chosen_units", Cat(self.chosen))
        leaving = []
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"lane{number}", "coalescing_lane", lambda: CoalescingLane(self._cfg))
            m.d.comb += lane.inputs.eq(self.fill_data[number])
            m.d.comb += [getattr(lane, name).eq(value) for name, value in inputs.items()]
            leaving.append(lane.operands)
        join_lanes(m, self._cfg, self, leaving)

    def _observe(self, m: Module, units: list) -> None:
        """Probes of the look-ups and of what is joined."""
        slots = self._cfg.source_slots
        new = Cat(self.offer.source_valid & bit.replicate(slots) for bit in self.allocate)
        m.d.comb += [
            self.look_up.eq(self.looked_up),
            self.look_up_wait.eq((self.locate | new) & ~self.looked_up),
            self.zero.eq(Cat(unit.zero for unit in units)),
        ]
        if self._cfg.coalescing != "none":
            granted = Cat(self.grant.word_select(number, slots).any().replicate(slots) for number in range(len(units)))
            m.d.comb += self.joined.eq(Cat(unit.joined for unit in units) & granted)
