"""A register goes from its scalar bank to its bank (docs/schemes/scalar.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.contract import Place
from warpfile.golden.rf.engine import Ask, Served
from warpfile.golden.rf.scalar.registers import ScalarRegisters
from warpfile.spec.schemes import scalar as declared

IDLE: Final = declared.IDLE
READS: Final = declared.READS
WAITS: Final = declared.WAITS
WRITES: Final = declared.WRITES


class Expansion:
    """One register at a time. ``phase`` changes at the ``edge`` only."""

    def __init__(self, banks: int, registers: ScalarRegisters) -> None:
        self.phase: int = IDLE
        self._banks, self._registers = banks, registers
        self._needed = False
        self._warp = self._register = self._bank = self._row = self._copy = self._arrival = 0

    def needed(self, warp: int, register: int, home: Place) -> None:
        """The result of the highest port that needs expansion: it is begun if no other is under way."""
        if self.phase == IDLE:
            self._warp, self._register, self._needed = warp, register, True
            self._bank, self._row = home

    def edge(self, cycle: int, served: Sequence[Served]) -> dict[int, Ask]:
        """The next phase, by what was granted in this cycle; returns what the client asks for from the next one on."""
        if self.phase == IDLE:
            if self._needed:
                self.phase, self._needed = READS, False
        elif self.phase == WAITS:
            if cycle == self._arrival:
                self.phase = WRITES
        elif served:
            self._granted(served[0])
        return self._asks()

    def _granted(self, served: Served) -> None:
        if self.phase == READS:
            self.phase, self._copy, self._arrival = WAITS, served.copy, served.arrival
        else:
            self.phase = IDLE
            self._registers.becomes(self._warp, self._register, False)

    def _asks(self) -> dict[int, Ask]:
        if self.phase == READS:
            return {0: Ask(self._banks + self._bank, self._row)}
        if self.phase == WRITES:
            return {0: Ask(self._bank, self._row, Write(self._row, self._copy))}
        return {}
