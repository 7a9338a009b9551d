"""Reads of a cycle: what was planned, then what queue heads take of the rest (docs/schemes/modern.md, section 7.6)."""

from __future__ import annotations

from warpfile.golden.collectors.read_window.guard import Guard
from warpfile.golden.collectors.read_window.planning import Planned, Schedule
from warpfile.golden.collectors.read_window.probes import Probes
from warpfile.golden.collectors.read_window.queues import Queues
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.schemes.modern import LSU, SFU, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


class Reading:
    """Asks the file, port by port, for what Allocate planned and the heads of the queues want."""

    def __init__(self, cfg: ReadWindowConfig, file: RegisterFile, schedule: Schedule, queues: Queues) -> None:
        self._file, self._ports = file, cfg.read_ports
        self._schedule, self._queues = schedule, queues
        self._order = list(range(BANKS))

    def step(self, cycle: int, guard: Guard, probes: Probes) -> None:
        """A cycle's reads; every copy is at its beat at once, and is looked at later."""
        asking, rows = [0] * BANKS, [0] * (BANKS * self._ports)
        reads: list[Planned] = []
        granted = waiting = 0
        for bank in range(BANKS):
            planned = list(self._schedule.now(bank))
            fetch, left = self._fetch(bank, planned)
            granted |= fetch
            waiting |= left
            reads.append(planned)
            asking[bank] = (1 << len(planned)) - 1 << bank * self._ports
            for port, (beat, slot) in enumerate(planned):
                rows[bank * self._ports + port] = beat.rows[slot]
        if asking[0] or asking[1]:
            for index, copy, _ in self._file.read(cycle, asking, rows, self._order):
                beat, slot = reads[index // self._ports][index % self._ports]
                beat.copies[slot] = copy
                beat.unread ^= 1 << slot
        self._note(granted, guard)
        probes.fetched(granted, waiting)

    def _fetch(self, bank: int, planned: Planned) -> tuple[int, int]:
        """Queues that get the bank and that wait for it, bit queue * 2 + bank; adds the read to the planned ones."""
        wants = 0
        for queue in (LSU, SFU):
            if self._queues.wanted(queue, bank) >= 0:
                wants |= 1 << queue
        granted = 0
        if wants and len(planned) < self._ports:
            queue = self._queues.chosen(bank, wants)
            planned.append((self._queues.beats[queue][0], self._queues.wanted(queue, bank)))
            granted = 1 << queue
        wants ^= granted
        return (granted & 1 | (granted & 2) << 1) << bank, (wants & 1 | (wants & 2) << 1) << bank

    def _note(self, granted: int, guard: Guard) -> None:
        for queue in (LSU, SFU):
            if granted >> 2 * queue & 3:
                guard.got(self._queues.beats[queue][0])
        for beat in self._queues.complete():
            guard.was_read(beat)
