"""Collector units over a renamed register file (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

from typing import cast

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.collectors.coalescing.joins import join
from warpfile.golden.collectors.coalescing.kills import Kills
from warpfile.golden.collectors.coalescing.lookups import LookUps
from warpfile.golden.collectors.coalescing.probes import Probes
from warpfile.golden.collectors.contract import Collectors, Heads, Offer
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import Death, RegisterFile, RenamedFile
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.coalescing import CoalescingConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class Coalescing(Collectors):
    """Collectors (:class:`golden.collectors.contract.Collectors`) that prefer and refuse no warp."""

    def __init__(self, cfg: CoalescingConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self.file = cast(RenamedFile, file)
        self.units = CollectorUnits(cfg, file)
        self.lookups = LookUps(cfg, self.units, self.file)
        self.kills = Kills(cfg, self.units) if cfg.gives.deaths else None
        self.probes = Probes(layout)
        self.draining = 0
        self._rule, self._slots = cfg.coalescing, cfg.source_slots
        self._at_pins = cfg.ports - cfg.gives.absorbs  # behind the others the file sends what leaves
        self._cycle = 0
        self._dying = -1  # the slot whose register is shown as dead
        self._free = 0
        self._offered: list[int] = []
        self._retakes = cfg.retake == "same"

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self.probes.counters

    def collecting(self, warp: int) -> bool:
        """See the contract."""
        return self.units.collecting(warp)

    def unread(self, warp: int) -> int:
        """See the contract; dead registers that still have their slices are among them."""
        unread = self.units.unread(warp)
        return unread if self.kills is None or not self.kills.mask else unread | self.kills.blocked(warp)

    def room(self, heads: Heads, ready: int) -> int:
        """Any free unit does for all warps; one that dispatches, and has no dead register, if there is no other."""
        self._free = self.units.free
        if self._retakes and not self._free:
            leaving = self.units.leaving(ready)
            self._free = sum(1 << number for number in indices(leaving) if not self._dies_in(number))
        return heads.buffered if self._free else heads.buffered & heads.unitless

    def offer(self) -> list[Offer]:
        """See the contract. A dead register is shown to the file."""
        self._observe()
        units = self.units
        if self.kills is not None and self.kills.mask:
            self._show_dead(self.kills)
        self._offered = units.offer() if units.complete else []
        offers: list[Offer] = []
        for port, number in enumerate(self._offered):
            if number >= 0:
                unit = units.units[number]
                assert unit.entry is not None, f"unit {number} has no beat to present"
                offers.append((port, unit.warp, unit.entry))
                if port < self._at_pins:
                    self.probes.presented(port, number)
        return offers

    def _observe(self) -> None:
        """Probes of registered state."""
        units, probes = self.units, self.probes
        probes.occupied.show(units.occupied)
        probes.lacking.show(units.lacking)
        probes.request.show(units.requests.asking)
        probes.zero.show(self.lookups.unmapped)
        if self.kills is not None:
            probes.kills.show(self.kills.mask)
            probes.unit_drains.show(self.draining)

    def _show_dead(self, kills: Kills) -> None:
        self._dying = index = kills.offered(self._cycle)
        if index >= 0:
            warp = self.units.units[index // self._slots].warp
            self.file.dies(Death(warp, kills.registers[index], self.lookups.mapped[index]))

    def read(self, cycle: int) -> None:
        """Answers of the table, new questions, reads of banks."""
        if self._dying >= 0:
            self._die(self._dying)
            self._dying = -1
        for index in indices(self.lookups.unmapped) if self.lookups.unmapped else ():
            self._fetched(index, -1, cycle)
            self.end_kill(index)
        self.lookups.step()
        requests = self.units.requests
        if requests.asking:
            for index, _, arrival in self.file.read(cycle, requests.of_bank, requests.rows, self.units.order):
                self._granted(index, arrival)

    def _die(self, index: int) -> None:
        """The file may have taken the register that was shown to it."""
        if not self.file.died:
            return
        self.end_kill(index)
        number = index // self._slots
        if self.draining >> number & 1 and not self._dies_in(number):
            self.draining ^= 1 << number
            self.units.leave(number)

    def end_kill(self, index: int) -> None:
        """The register of a slot has no slices any more, or never had."""
        if self.kills is not None:
            self.kills.over(index)
            self.changed |= 1 << self.units.units[index // self._slots].warp

    def _dies_in(self, number: int) -> int:
        """Slots of a unit whose register is dead and has its slices."""
        return 0 if self.kills is None else self.kills.of_unit(number)

    def _granted(self, index: int, arrival: int) -> None:
        """A bank serves a slot, and the one that is joined to it."""
        units, mapped, base = self.units, self.lookups.mapped, index - index % self._slots
        unit = units.units[index // self._slots]
        self.probes.grant.show(1 << index)
        other = -1 if self._rule == "none" else join(self._rule, mapped, base, unit.ungranted)
        if other >= 0:
            unit.ungranted ^= 1 << other - base
        units.granted(index, self._unpacked(index), arrival)
        self._filled(index, arrival)
        if other >= 0:
            self.probes.joined.show(1 << other)
            self._fetched(other, self._unpacked(other), arrival)

    def _unpacked(self, index: int) -> int:
        """The copy that a slot reads."""
        unit = self.units.units[index // self._slots]
        assert unit.entry is not None, f"slot {index} reads for no beat"
        register = unit.entry.beat.sources[index % self._slots]
        return self.file.unpacked(self.lookups.mapped[index], unit.warp, register)

    def _fetched(self, index: int, copy: int, arrival: int) -> None:
        """A slot that has not been granted by itself is filled at the end of a cycle."""
        self.units.fetched(index // self._slots, index % self._slots, copy, arrival)
        self._filled(index, arrival)

    def _filled(self, index: int, arrival: int) -> None:
        self.changed |= 1 << self.units.units[index // self._slots].warp
        if self.kills is not None:
            self.kills.filled(index, arrival + 1)

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """Nothing is kept of results."""

    def dispatch(self, port: int) -> list[int]:
        """See the contract. A unit with a dead register is not free yet."""
        number = self._offered[port]
        values, drains = self.units.operands(number), self._dies_in(number) != 0
        self.draining |= drains << number
        self.changed |= 1 << self.units.units[number].warp
        self.units.dispatch(number, drains)
        return values

    def accept(self, warp: int, entry: Entry) -> bool:
        """The lowest free unit takes the beat, whose sources ask the table behind all others."""
        if entry.needs_unit:
            number = lowest(self._free)
            self.units.allocate(number, warp, entry)
            self.probes.allocate.show(1 << number)
            self.lookups.first(number, len(entry.beat.sources))
            if self.kills is not None:
                self.probes.kill_refused.show(self.kills.expect(number, entry))
        return True

    def another(self, warp: int, entry: Entry) -> bool:
        """See :class:`golden.dual_issue.RoomForTwo`."""
        self._free = self.units.behind(self._free, self._retakes)
        return self._free != 0 or not entry.needs_unit

    def launched(self, launch: Launch) -> None:
        """A unit has nothing of a warp that has ended."""

    def edge(self, cycle: int) -> int:
        """Data of earlier grants arrive, and answers of the table."""
        lookups = self.lookups
        self.probes.look_up.show(lookups.served)
        self.probes.look_up_wait.show(lookups.refused)
        lookups.edge()
        if self.units.arrivals:
            self.units.arrive(cycle)
        self._cycle = cycle + 1
        return self.probes.edge()
