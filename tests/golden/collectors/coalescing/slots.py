"""A second reading of the units: what every source slot asks, gets and gives up (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import Watcher, require
from tests.golden.rf.packed.reading import NOWHERE, Place
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.coalescing import CoalescingConfig
from warpfile.spec.stimulus import Stimulus

Entry = tuple[int, int]  #: warp and register


@dataclass
class Slot:
    """A source slot of an occupied unit; cycles in which it was looked up and granted, and from which it is filled."""

    warp: int
    register: int
    kill: bool
    looked: int | None = None
    place: Place = NOWHERE
    granted: int | None = None
    filled: int | None = None

    def waits(self, cycle: int) -> bool:
        """Whether it is ungranted when a cycle begins."""
        return self.granted is None or self.granted >= cycle


@dataclass
class SlotWatcher(Watcher):
    """Follows slots; who knows the file says where registers are (``where``) and which ports are left (``port``).

    ``slots`` by their number, ``ages`` the units with a beat, ``drains`` those whose beat has left.
    """

    where: dict[Entry, Place] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)
    ages: list[int] = field(default_factory=list)
    drains: set[int] = field(default_factory=set)
    blocked: set[Entry] = field(default_factory=set)

    def port(self, entry: Entry) -> bool:
        """Take a port of the memory of an entry, if there is one."""
        raise NotImplementedError

    @property
    def coalescing(self) -> CoalescingConfig:
        """The configuration of the units."""
        assert isinstance(self.cfg, CoalescingConfig)
        return self.cfg

    def _mine(self, unit: int) -> list[tuple[int, Slot]]:
        first = unit * self.cfg.source_slots
        return [(k, self.slots[k]) for k in range(first, first + self.cfg.source_slots) if k in self.slots]

    def _expected(self, unit: int) -> list[int]:
        """Slots that have to be read yet, if all are looked up."""
        mine = self._mine(unit)
        if not all(slot.looked is not None and slot.looked < self.cycle for _, slot in mine):
            return []
        return [k for k, slot in mine if slot.place[2] and slot.waits(self.cycle)]

    def _check_units(self, f: dict[str, int]) -> None:
        require(not f["allocate"] & f["occupied"], "an occupied unit is not allocated")
        taken = set(self.units) | self.drains
        require(f["occupied"] == sum(1 << unit for unit in taken), "units are occupied until their last kill is served")
        full = len(taken) == self.cfg.collectors
        stuck = sum(1 << w for w, b in self.buffers.items() if b and full and b[0].mask and b[0].port != 3)
        require(f["buffered"] & ~stuck == f["room"], "room is a free unit, or a head beat that needs none")
        unfilled = {
            k // self.cfg.source_slots for k, s in self.slots.items() if s.filled is None or s.filled > self.cycle
        }
        require(f["lacking"] == sum(1 << unit for unit in unfilled), "a unit lacks what is not filled")
        first = [self._expected(unit)[0] for unit in self.units if self._expected(unit)]
        require(f["request"] == sum(1 << k for k in first), "a unit asks for its lowest slot when all are looked up")
        zero = {k: s for k, s in self.slots.items() if s.looked == self.cycle - 1 and not s.place[2]}
        require(f["zero"] == sum(1 << k for k in zero), "a register that is nowhere is zero")
        if self.cfg.gives.deaths:
            self._check_kills(f)
        self.blocked = {(s.warp, s.register) for s in self.slots.values() if s.waits(self.cycle) or s.kill}
        for k, slot in zero.items():
            slot.granted, slot.filled, slot.kill = self.cycle, self.cycle + 1, False
            self.granted[k // self.cfg.source_slots].add(k % self.cfg.source_slots)
            self.hits += 1

    def _check_kills(self, f: dict[str, int]) -> None:
        kills = sum(1 << k for k, slot in self.slots.items() if slot.kill)
        require(f["kills"] == kills, "a dead register keeps its slices until it is served")
        require(
            f["unit_drains"] == sum(1 << unit for unit in self.drains), "a unit drains until its last kill is served"
        )

    def shown(self) -> int | None:
        """The slot whose register is shown to the file as dead."""
        waiting = {(s.warp, s.register) for s in self.slots.values() if s.waits(self.cycle)}
        for k, slot in sorted(self.slots.items()):
            filled = slot.filled is not None and slot.filled <= self.cycle
            if slot.kill and filled and (slot.warp, slot.register) not in waiting:
                return k
        return None

    def end_kill(self, number: int) -> None:
        """The register of a slot has lost its slices."""
        self.slots[number].kill = False
        unit = number // self.cfg.source_slots
        if unit in self.drains and not any(slot.kill for _, slot in self._mine(unit)):
            self.drains.discard(unit)
            self._forget(unit)

    def _forget(self, unit: int) -> None:
        for k, _ in self._mine(unit):
            del self.slots[k]

    def _check_grants(self, f: dict[str, int], taken: set[int]) -> None:
        banks: dict[int, set[int]] = {}
        for k in indices(f["request"]):
            banks.setdefault(self.slots[k].place[0], set()).add(k)
        joined = 0
        for bank, asking in banks.items():
            served = [k for k in asking if f["grant"] >> k & 1]
            require(len(served) == (bank not in taken), "a bank without a write serves one request")
            for k in served:
                joined |= self._serve(k)
        require(f.get("joined", 0) == joined, "two sources come at once that may")

    def _serve(self, number: int) -> int:
        """A slot is granted; returns the one that is joined to it, as a mask."""
        unit = number // self.cfg.source_slots
        others = [k for k in self._expected(unit)[1:] if self._goes_with(self.slots[number].place, self.slots[k].place)]
        for k in (number, *others[:1]):
            self.slots[k].granted, self.slots[k].filled = self.cycle, self.cycle + 2
            self.granted[unit].add(k % self.cfg.source_slots)
        self.reads += 1
        self.hits += len(others[:1])
        return sum(1 << k for k in others[:1])

    def _goes_with(self, one: Place, other: Place) -> bool:
        rule = self.coalescing.coalescing
        return (
            rule != "none" and one[0] == other[0] and (one[1] == other[1] if rule == "row" else not one[2] & other[2])
        )

    def _check_look_ups(self, f: dict[str, int]) -> None:
        served = waits = 0
        order = list(self.ages)
        if f["allocate"]:
            order.append(self._allocate(f))
        for unit in order:
            for k, slot in self._mine(unit):
                if slot.looked is None and self.port((slot.warp, slot.register)):
                    slot.looked, slot.place = self.cycle, self.where.get((slot.warp, slot.register), NOWHERE)
                    served |= 1 << k
                elif slot.looked is None:
                    waits |= 1 << k
        require((f["look_up"], f["look_up_wait"]) == (served, waits), "slots ask in the order of their beats")

    def _allocate(self, f: dict[str, int]) -> int:
        unit, warp = f["allocate"].bit_length() - 1, f["issue_warp"]
        beat = self.buffers[warp][0]
        hints = beat.hints >> self.cfg.hint_at("kill") if self.cfg.gives.deaths else 0
        hints &= (1 << len(beat.sources)) - 1
        refused = 0 if beat.converged else hints
        require(f.get("kill_refused", 0) == refused, "a kill counts if all live lanes are there")
        for number, register in enumerate(beat.sources):
            kill = bool((hints ^ refused) >> number & 1)
            self.slots[unit * self.cfg.source_slots + number] = Slot(warp, register, kill)
        return unit

    def _follow_dispatch(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        before = set(self.units)
        for port in indices(f["offer"]):
            mine = self._mine(f[f"dispatch_unit{port}"])
            require(all(s.filled is not None and s.filled <= self.cycle for _, s in mine), "operands are there")
        super()._follow_dispatch(stimulus, f)
        for unit in before - set(self.units):
            self.ages.remove(unit)
            if any(slot.kill for _, slot in self._mine(unit)):
                self.drains.add(unit)
            else:
                self._forget(unit)

    def _follow_issue(self, f: dict[str, int]) -> None:
        if f["issue"]:
            warp = f["issue_warp"]
            beat = self.buffers[warp][0]
            names = {(warp, beat.dest + k) for k in range(beat.dest_count)}
            require(not names & self.blocked, "no beat writes what an older beat has yet to read or to give up")
            gone = all(self.slots[k].warp != warp for unit in self.drains for k, _ in self._mine(unit))
            require(gone or not f["exit"], "EXIT waits for units that drain")
        super()._follow_issue(f)

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        super()._follow_allocation(f, warp, beat)
        self.ages.append(f["allocate"].bit_length() - 1)
