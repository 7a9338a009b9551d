"""Caching collector units: gather operands, and keep them for the next beat (docs/schemes/malekeh.md, section 3)."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.arbiter import first_of, indices
from warpfile.golden.collectors.malekeh.entries import Entries
from warpfile.golden.collectors.requests import Requests
from warpfile.golden.copies import row_in_lanes
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.schemes.malekeh import MalekehConfig


class Unit:
    """One unit: its entries, its owner (-1 for none) and, while it is busy, a beat.

    ``places`` are the entries of the beat's source slots, ``valid`` and ``ready`` masks of slots.
    """

    __slots__ = ("entries", "entry", "owner", "places", "ready", "valid")

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self.entry: Entry | None = None
        self.owner = -1
        self.places: list[int] = []
        self.ready = self.valid = 0


class Taken(NamedTuple):
    """What a taken unit found: ``lost`` is a mask of entries, the rest are masks of source slots."""

    lost: int
    hit: int
    miss: int
    kinds: dict[str, int]  #: misses by what they replace: ``empty``, ``far``, ``near``


class CachingUnits:
    """All units and their requests.

    Masks are over units, or over slots numbered unit * source_slots + slot. ``of_warp`` is the unit that each warp owns
    (-1: none), ``order`` the busy units, the one allocated first in front; ``ready`` the ready units per port;
    ``touched`` marks units that changed since its reader cleared it.
    """

    def __init__(self, cfg: MalekehConfig, file: RegisterFile) -> None:
        self._place = file.place
        self._near_hints = cfg.hint_at("near_sources")
        self._slots = cfg.source_slots
        self._arrivals: dict[int, list[tuple[int, int, int]]] = {}
        self.requests = Requests(cfg)
        self.units = [Unit(Entries(cfg, number + 1)) for number in range(cfg.collectors)]
        self.of_warp = [-1] * cfg.warps
        self.order: list[int] = []
        self.ready = [0] * cfg.ports
        self.touched = 0

    def collecting(self, warp: int) -> bool:
        """Whether the unit that the warp owns is busy."""
        number = self.of_warp[warp]
        return number >= 0 and self.units[number].entry is not None

    def offer(self) -> list[tuple[int, int]]:
        """Port and unit of every beat that is presented, ports ascending."""
        return [(port, first_of(ready, self.order)) for port, ready in enumerate(self.ready) if ready]

    def leaving(self, ready: int) -> int:
        """Units that dispatch in this cycle if these ports are ready."""
        return sum(1 << number for port, number in self.offer() if ready >> port & 1)

    def dispatch(self, number: int) -> list[int]:
        """A unit's beat leaves: values of its operands. The unit keeps them."""
        unit = self.units[number]
        assert unit.entry is not None and unit.ready == unit.valid, f"unit {number} dispatches without its operands"
        lanes = unit.entry.beat.mask
        values = [row_in_lanes(unit.entries.values[place], lanes) for place in unit.places]
        self.ready[unit.entry.port] ^= 1 << number
        self.order.remove(number)
        unit.entry, unit.places, unit.ready, unit.valid = None, [], 0, 0
        unit.entries.locked = 0
        self.touched |= 1 << number
        return values

    def release(self, warp: int) -> None:
        """The warp exits: its unit belongs to no warp and is empty."""
        number = self.of_warp[warp]
        if number < 0:
            return
        unit = self.units[number]
        assert unit.entry is None, f"warp {warp} exits while its unit {number} is busy"
        unit.entries.clear()
        unit.owner = self.of_warp[warp] = -1
        self.touched |= 1 << number

    def take(self, number: int, warp: int, entry: Entry) -> Taken:
        """A unit takes the beat of a warp, on its entries as they are before the results of this cycle."""
        unit = self.units[number]
        assert unit.entry is None, f"unit {number} is taken while it is busy"
        lost = 0 if unit.owner == warp else self._change_owner(number, warp)
        hit, kinds = self._lookup(unit, entry.beat.sources)
        for slot, place in enumerate(unit.places):
            unit.entries.mark(place, entry.beat.hints >> self._near_hints + slot & 1)
        unit.entry, unit.ready = entry, hit
        unit.valid = (1 << len(entry.beat.sources)) - 1
        self.order.append(number)
        self.touched |= 1 << number
        miss = unit.valid ^ hit
        if miss:
            self._ask(number, warp, entry, miss)
        else:
            self.ready[entry.port] |= 1 << number
        return Taken(lost, hit, miss, kinds)

    def _change_owner(self, number: int, warp: int) -> int:
        """Give a unit to another warp; the near registers that it held are lost."""
        unit = self.units[number]
        assert self.of_warp[warp] < 0, f"warp {warp} owns two units"
        lost = unit.entries.near
        unit.entries.clear()
        if unit.owner >= 0:
            self.of_warp[unit.owner] = -1
        unit.owner, self.of_warp[warp] = warp, number
        return lost

    @staticmethod
    def _lookup(unit: Unit, sources: tuple[int, ...]) -> tuple[int, dict[str, int]]:
        """Find or make an entry for every source, all locked; the hits, and the misses by what they replace."""
        entries = unit.entries
        unit.places = places = [entries.where.get(register, -1) for register in sources]
        hit = 0
        for slot, place in enumerate(places):
            if place >= 0:
                hit |= 1 << slot
                entries.locked |= 1 << place
        kinds = {"empty": 0, "far": 0, "near": 0}
        if -1 not in places:
            return hit, kinds
        victims = iter(entries.replaceable())
        for slot, register in enumerate(sources):
            if not hit >> slot & 1:
                places[slot] = victim = next(victims)
                kinds[entries.kind(victim)] |= 1 << slot
                entries.replace(victim, register)
                entries.locked |= 1 << victim
        return hit, kinds

    def _ask(self, number: int, warp: int, entry: Entry, miss: int) -> None:
        base = number * self._slots
        for slot, register in enumerate(entry.beat.sources):
            if miss >> slot & 1:
                self.requests.add(base + slot, self._place(warp, register))

    def granted(self, index: int, copy: int, arrival: int) -> None:
        """A bank serves a slot: its copy is in the entry from the end of cycle ``arrival`` on."""
        self.requests.end(index)
        self._arrivals.setdefault(arrival, []).append((*divmod(index, self._slots), copy))

    def edge(self, cycle: int) -> None:
        """Data of this cycle arrive in their entries; LFSRs that were used step."""
        for number, slot, value in self._arrivals.pop(cycle, ()):
            unit = self.units[number]
            assert unit.entry is not None, f"data arrive for unit {number}, which is not busy"
            unit.entries.values[unit.places[slot]] = value
            unit.ready |= 1 << slot
            self.touched |= 1 << number
            if unit.ready == unit.valid:
                self.ready[unit.entry.port] |= 1 << number
        for number in indices(self.touched):
            self.units[number].entries.edge()
