"""Collector units that keep the registers of one warp each (docs/schemes/malekeh.md)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.collectors.allocation import wants_unit
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.dispatch import allocation_order, dispatch_units
from warpfile.hdl.collectors.dispatch_lane import DispatchLane, join_lanes
from warpfile.hdl.collectors.malekeh.allocator import CHOICES, DepartureOrder, UnitAllocator
from warpfile.hdl.collectors.malekeh.lane import CachingLane
from warpfile.hdl.collectors.malekeh.lfsr import Lfsr
from warpfile.hdl.collectors.malekeh.recency import ranks
from warpfile.hdl.collectors.malekeh.results import RESULT_EVENTS
from warpfile.hdl.collectors.malekeh.sources import SOURCE_EVENTS
from warpfile.hdl.collectors.malekeh.threshold import WaitThreshold
from warpfile.hdl.collectors.malekeh.unit import CachingUnit
from warpfile.hdl.collectors.requests import ask_banks
from warpfile.hdl.collectors.write_back import store_all
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.malekeh import MalekehConfig, unit_probes
from warpfile.spec.trace import Kind


class CachingCollectors(wiring.Component):
    """Collector units that keep what they held, and belong to a warp.

    Ports: :func:`collector_members` and the scheme's own probes. They block no warp, prefer those that own a unit with
    a register in it, and refuse beats while no unit may be taken; the register file stores every result.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), unit_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Units, and the steps of a cycle."""
        m = Module()
        units = [self._unit(m, number) for number in range(self._cfg.collectors)]
        older = allocation_order(m, self._cfg, self.allocate)
        leaving = dispatch_units(m, self._cfg, self, units, older)
        store_all(m, self._cfg, self)
        self._results(m, units)
        stays = self._staying(m, units, older)
        self._own(m, units, stays)
        self._choose(m, units, stays)
        self._allocate(m, units, leaving)
        ask_banks(m, self._cfg, self, units, older)
        self._lanes(m, units)
        self._watch(m, units)
        return m

    def _unit(self, m: Module, number: int) -> wiring.PureInterface:
        """A unit with its register of arbitrary numbers, which differ between units from the start."""
        unit = stamp(m, f"unit{number}", "caching_unit", lambda: CachingUnit(self._cfg))
        m.submodules[f"lfsr{number}"] = lfsr = Lfsr(number + 1)
        m.d.comb += [unit.lfsr.eq(lfsr.state), lfsr.step.eq(unit.step)]
        return unit

    def _results(self, m: Module, units: list) -> None:
        """Accepted results, as every unit looks at them."""
        ports = range(self._cfg.write_ports)
        results = [self.result[port].payload for port in ports]
        banks, near = list(self.result_banks), self._cfg.hint_at("near_dests")
        written = Cat(self.result[port].valid & self.result[port].ready & results[port].writes for port in ports)
        written = named(m, "written", written)
        hinted = named(m, "hinted", Cat(result.hints[near:].bit_select(result.component, 1) for result in results))
        lower = named(m, "lower_bank", Cat(banks[first] < banks[second] for first in ports for second in ports))
        for unit in units:
            m.d.comb += [
                unit.written.eq(written),
                unit.hinted.eq(hinted),
                unit.full.eq(Cat(result.full for result in results)),
                unit.warps.eq(Cat(result.warp for result in results)),
                unit.registers.eq(Cat(result.register for result in results)),
                unit.lower.eq(lower),
            ]
        mine = any_of(unit.mine for unit in units)
        m.d.comb += self.unowned.eq(written & ~mine)
        m.d.comb += self.cache.eq(self.cache_hit | self.cache_empty | self.cache_far | self.cache_near)

    def _staying(self, m: Module, units: list, older: Value) -> list[Value]:
        """Whether each unit is not free.

        The scheduler waits for it. So which beats leave is found once more, unit by unit, on a shorter way than through
        the arbiters: all but ``ready`` is known at the beginning of the cycle.
        """
        if self._cfg.retake == "next":
            return [unit.busy for unit in units]
        staying = []
        for number, unit in enumerate(units):
            taken = any_of((unit.port == port) & out.ready for port, out in enumerate(self.dispatch))
            before = any_of(
                peer.ready & (peer.port == unit.port) & older[len(units) * other + number]
                for other, peer in enumerate(units)
                if other != number
            )
            staying.append(named(m, f"stays{number}", unit.busy & ~(unit.ready & taken & ~before)))
        return staying

    def _own(self, m: Module, units: list, stays: Sequence[Value]) -> None:
        """What every warp has: a unit, and what that is doing."""
        warps = self._cfg.warps
        collecting, kept_out, preferred = [], [], []
        for number, unit in enumerate(units):
            owner = named(m, f"owner{number}", decode(unit.owner, warps) & unit.owned.replicate(warps))
            self._next(m, unit, owner)
            collecting.append(owner & unit.busy.replicate(warps))
            kept_out.append(owner & stays[number].replicate(warps))
            preferred.append(owner & (~unit.empty).replicate(warps))
            m.d.comb += unit.own.eq((owner & self.offer_warp).any())
        m.d.comb += [
            self.collecting.eq(any_of(collecting)),
            self.prefer.eq(any_of(preferred)),
            self.room.eq(self.buffered & ~(self.collecting if self._cfg.retake == "next" else any_of(kept_out))),
        ]

    def _next(self, m: Module, unit: wiring.PureInterface, owner: Value) -> None:
        """Sources of the owner's head beat: which beat is offered is known too late to look them up from then on."""
        at = self._cfg.hint_at("near_sources")
        known = [
            Cat(head.source_valid, head.hints[at : at + self._cfg.source_slots], *head.sources) for head in self.heads
        ]
        m.d.comb += Cat(unit.next_valid, unit.next_hints, *unit.next_sources).eq(select(owner, known))

    def _choose(self, m: Module, units: list, stays: Sequence[Value]) -> None:
        """The unit that takes the offered beat; a beat that needs none is always taken."""
        m.submodules.departures = departures = DepartureOrder(self._cfg)
        m.submodules.wait_threshold = threshold = WaitThreshold(self._cfg)
        m.submodules.allocator = allocator = UnitAllocator(self._cfg)
        for port in range(self._cfg.ports):
            taken = self.dispatch[port].ready.replicate(len(units))
            m.d.comb += departures.leaves[port].eq(self.chosen[port] & taken)
        m.d.comb += [
            allocator.wanted.eq(wants_unit(m, self)),
            allocator.own.eq(Cat(unit.own for unit in units)),
            allocator.busy.eq(Cat(*stays)),
            allocator.empty.eq(Cat(unit.empty for unit in units)),
            allocator.near.eq(Cat(unit.holds_near for unit in units)),
            allocator.older.eq(departures.older),
            allocator.threshold.eq(threshold.threshold),
            self.allocate.eq(allocator.allocate),
            self.accept.eq(~allocator.refuse_wait & ~allocator.refuse_busy),
            threshold.issue.eq(self.offer_valid & self.accept),
            self.wait_count.eq(allocator.wait_count),
            self.threshold.eq(threshold.threshold),
            self.threshold_state.eq(threshold.state),
            self.interval_end.eq(threshold.interval_end),
        ]
        m.d.comb += [getattr(self, name).eq(getattr(allocator, name)) for name in CHOICES]

    def _allocate(self, m: Module, units: list, leaving: Value) -> None:
        exits = named(m, "exits", self.offer_valid & (self.offer.kind == Kind.EXIT.value))
        for number, unit in enumerate(units):
            m.d.comb += [
                unit.allocate.eq(self.allocate[number]),
                unit.vacate.eq(exits & unit.own),
                unit.beat.eq(self.offer),
                unit.places.eq(self.source_places),
                unit.dispatch.eq(leaving[number]),
            ]

    def _lanes(self, m: Module, units: list) -> None:
        ports = range(self._cfg.write_ports)
        chosen, leaving = named(m, "chosen_units", Cat(self.chosen)), []
        for number in range(self._cfg.lanes):
            results = named(m, f"results{number}", Cat(data.word_select(number, 32) for data in self.result_data))
            masks = [self.result[port].payload for port in ports]
            enable = named(m, f"enable{number}", Cat(result.full | result.mask[number] for result in masks))
            operands = []
            for index, unit in enumerate(units):
                lane = stamp(m, f"unit{index}_lane{number}", "caching_lane", lambda: CachingLane(self._cfg))
                m.d.comb += [
                    lane.fill.eq(unit.fill_entries),
                    lane.fill_data.eq(self.fill_data[number].word_select(index, 32)),
                    lane.place.eq(unit.place),
                    lane.winner.eq(unit.winner),
                    lane.enable.eq(enable),
                    lane.results.eq(results),
                    lane.reads.eq(unit.reads),
                ]
                operands.append(lane.operands)
            way = stamp(m, f"dispatch_lane{number}", "dispatch_lane", lambda: DispatchLane(self._cfg), clocked=False)
            m.d.comb += [way.units.eq(Cat(*operands)), way.chosen.eq(chosen)]
            leaving.append(way.operands)
        join_lanes(m, self._cfg, self, leaving)

    def _watch(self, m: Module, units: list) -> None:
        """Probes that are the units' own, side by side or, for what only one unit can do, together."""
        entries = self._cfg.unit_entries
        for name in ("busy", "owned", "locked", "invalidate", "lost"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(unit, name) for unit in units))
        for name in RESULT_EVENTS:
            m.d.comb += getattr(self, name).eq(any_of(getattr(unit, f"result_{name}") for unit in units))
        for name in SOURCE_EVENTS:
            m.d.comb += getattr(self, name).eq(any_of(getattr(unit, name) for unit in units))
        m.d.comb += [
            self.lacking.eq(Cat(unit.busy & ~unit.ready for unit in units)),
            self.near.eq(Cat(unit.near_entries for unit in units)),
            self.owner.eq(Cat(unit.owner & unit.owned.replicate(self._cfg.warp_bits) for unit in units)),
            self.tag.eq(Cat(unit.tags for unit in units)),
            self.rank.eq(Cat(rank[: self._cfg.rank_bits] for unit in units for rank in ranks(unit.older, entries))),
            self.filled.eq(Cat(unit.filled for unit in units)),
            self.lfsr.eq(Cat(unit.lfsr for unit in units)),
        ]
