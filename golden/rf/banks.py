"""Banks: who writes, who reads, and what a row holds (docs/machine.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.arbiter import first_from, lowest
from warpfile.golden.rf.location import Location
from warpfile.spec.config import Config
from warpfile.spec.environment import Result


class Banks:
    """Second half of the register file slot: storage behind its ports.

    A row holds the number of the trace's value that was written there last, -1 if none. In a cycle ``accept`` comes
    before ``grant`` (writes take banks away from reads), and ``store`` last, at the clock edge. Who writes beside the
    results calls ``claim`` between ``accept`` and ``grant``.
    """

    def __init__(self, cfg: Config, location: Location) -> None:
        self._location = location
        self._cycles = cfg.bank_cycles
        self._one = cfg.collect == "one"
        self._oldest = cfg.bank_arbitration == "oldest"
        self._slots = cfg.source_slots
        self._units = cfg.collectors
        self._unit_slots = [((1 << cfg.source_slots) - 1) << unit * cfg.source_slots for unit in range(cfg.collectors)]
        self._pointer = [0] * cfg.banks
        # First cycle in which a port is free again. With one port for both, the two are one list, and the write
        # that is accepted first takes the bank away from the read.
        self._read_free = [0] * cfg.banks
        self._write_free = self._read_free if cfg.bank_ports == "1RW" else [0] * cfg.banks
        self.rows = [[-1] * cfg.rows for _ in range(cfg.banks)]

    def accept(self, cycle: int, results: Sequence[Result | None]) -> int:
        """Write-back ports whose result is accepted, as a mask; the highest port of a bank wins."""
        accepted = 0
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None:
                continue
            if result.writes and not self.claim(cycle, self._location.place(result.warp, result.register)[0]):
                continue
            accepted |= 1 << port
        return accepted

    def claim(self, cycle: int, bank: int) -> bool:
        """Take the write port of a bank for an access that starts in ``cycle``, unless another one has it."""
        if self._write_free[bank] > cycle:
            return False
        self._write_free[bank] = cycle + self._cycles
        return True

    def grant(self, cycle: int, requests: Sequence[int], order: Sequence[int]) -> list[int]:
        """Source slots that are served, given each bank's requests; ``order`` is the units, oldest first.

        Slots are numbered unit * source_slots + slot; at most one per bank, and with ``collect`` = ``one`` per unit.
        """
        grants: list[int] = []
        passed = 0
        for bank, mask in enumerate(requests):
            if not mask or self._read_free[bank] > cycle:
                continue
            mask &= ~passed
            if not mask:
                continue
            index = self._oldest_of(mask, order) if self._oldest else self._next_of(bank, mask)
            self._read_free[bank] = cycle + self._cycles
            if self._one:
                passed |= self._unit_slots[index // self._slots]
            grants.append(index)
        return grants

    def _oldest_of(self, mask: int, order: Sequence[int]) -> int:
        for unit in order:
            own = mask & self._unit_slots[unit]
            if own:
                return lowest(own)
        raise AssertionError("a unit that is not occupied asks its bank")

    def _next_of(self, bank: int, mask: int) -> int:
        index = first_from(mask, self._pointer[bank] * self._slots)
        self._pointer[bank] = (index // self._slots + 1) % self._units
        return index

    def store(self, result: Result) -> None:
        """Write an accepted result's value. Lanes outside its mask are already merged in the trace's value."""
        bank, row = self._location.place(result.warp, result.register)
        self.rows[bank][row] = result.row
