"""Allocate, and the reads that it plans (docs/schemes/modern.md, section 7.4)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.golden.collectors.read_window.reuse import ReuseCache
from warpfile.spec.schemes.modern import NOWHERE, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

#: A planned read: beat and source slot, one after the other by port.
Planned = list[tuple[HeldBeat, int]]


class Schedule:
    """Reads of this cycle (0) and the ``read_window`` next ones, per bank; of the last one there is none yet."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._ports, self._window = cfg.read_ports, cfg.read_window
        self._cycles: list[list[Planned]] = [self._empty() for _ in range(cfg.read_window + 1)]

    def _empty(self) -> list[Planned]:
        return [[] for _ in range(BANKS)]

    def now(self, bank: int) -> Planned:
        """Reads of this cycle."""
        return self._cycles[0][bank]

    def free(self, bank: int) -> int:
        """Reads of a bank that can still be planned."""
        return self._ports * self._window - sum(len(cycle[bank]) for cycle in self._cycles[1:])

    def plan(self, beat: HeldBeat, slot: int, bank: int) -> None:
        """The earliest cycle with a free port, and there the lowest port."""
        planned = next(cycle[bank] for cycle in self._cycles[1:] if len(cycle[bank]) < self._ports)
        planned.append((beat, slot))

    def counts(self) -> int:
        """Reads per bank and cycle, two bits each, bank by bank."""
        word = 0
        for bank in range(BANKS):
            for cycle in range(self._window):
                word |= len(self._cycles[cycle][bank]) << 2 * (bank * self._window + cycle)
        return word

    def edge(self) -> None:
        """The next cycle."""
        self._cycles.append(self._empty())
        del self._cycles[0]


class Plan:
    """What Allocate finds of its beat: masks over positions (``sources``, ``hit``) and source slots (``wanted``).

    ``need``: registers of each bank.
    """

    __slots__ = ("fits", "hit", "need", "sources", "wanted")

    def __init__(self) -> None:
        self.sources = self.hit = self.wanted = 0
        self.need = [0] * BANKS
        self.fits = True


def planned(beat: HeldBeat, cache: ReuseCache, schedule: Schedule) -> Plan:
    """Whether a beat fits now; if it does, its reads are planned and the tags changed."""
    plan, registers = Plan(), beat.entry.beat.sources
    for position, slot in enumerate(beat.positions):
        if slot == NOWHERE:
            continue
        plan.sources |= 1 << position
        entry = cache.find(position, beat.warp, registers[slot])
        if entry < 0:
            plan.wanted |= 1 << slot
        else:
            plan.hit |= 1 << position
            if beat.cached[slot] < 0:
                beat.cached[slot] = entry
    for slot in indices(plan.wanted):
        beat.cached[slot] = -1
        plan.need[registers[slot] % BANKS] += 1
    plan.fits = all(plan.need[bank] <= schedule.free(bank) for bank in range(BANKS))
    if not plan.fits:
        beat.cached = [-1] * len(registers)
        return plan
    beat.unread = plan.wanted
    for slot in indices(plan.wanted):
        schedule.plan(beat, slot, registers[slot] % BANKS)
    cache.take(beat)
    return plan
