"""Banks: who writes, who reads, and what a row holds (docs/machine.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpfile.golden.arbiter import first_from, lowest
from warpfile.golden.copies import merged
from warpfile.spec.config import Config

#: Turns of a cycle at the ports, in this order: engines by what they go before, results and reads themselves.
TURNS = {"results": 0, "reads": 2, "last": 4}
RESULTS, READS = 1, 3


#: A read that a bank serves: number of the source slot, the copy that its row holds, the cycle in which that arrives.
Access = tuple[int, int, int]


class Write(NamedTuple):
    """All lanes of a row become ``copy``.

    With ``lanes`` these lanes only: a result that changes the register from value ``before`` to value ``copy``.
    """

    row: int
    copy: int
    before: int = 0
    lanes: int = 0


class Banks:
    """Storage behind its ports. A row holds a copy (``golden.copies``), -1 if it was never written.

    Whoever comes first in a cycle takes a port: results and others that write with ``claim``, the reads of source slots
    with ``read``. Rows change at the ``edge``, in the order of ``writes``. ``cycles`` is the length of an access.
    """

    def __init__(self, cfg: Config) -> None:
        self.cycles = cfg.bank_cycles
        self._one = cfg.collect == "one"
        self._oldest = cfg.bank_arbitration == "oldest"
        self._slots, self._units = cfg.asks.slots, cfg.asks.units
        self._unit_slots = [((1 << self._slots) - 1) << unit * self._slots for unit in range(self._units)]
        self._pointer = [0] * cfg.banks
        # First cycle in which a port is free again. With one port for both, the two are one list, and the write
        # that is accepted first takes the bank away from the read.
        self._read_free = [0] * cfg.banks
        self._write_free = self._read_free if cfg.bank_ports == "1RW" else [0] * cfg.banks
        self.rows = [[-1] * cfg.rows for _ in range(cfg.banks)]
        self.writes: list[tuple[int, Write]] = []
        self.shared = False  # with engines, whose turn then counts
        self._turn = 0

    def turn(self, cycle: int, number: int) -> None:
        """Somebody comes to the ports at this turn of a cycle; nobody may come after a later one."""
        turn = cycle * 8 + number
        assert turn >= self._turn, f"cycle {cycle}: turn {number} at the banks comes after turn {self._turn % 8}"
        self._turn = turn

    def is_free(self, cycle: int, bank: int, writes: bool) -> bool:
        """Whether an access of a kind may start."""
        return (self._write_free if writes else self._read_free)[bank] <= cycle

    def claim(self, cycle: int, bank: int) -> bool:
        """Take the write port of a bank for an access that starts in ``cycle``, unless another one has it."""
        if self._write_free[bank] > cycle:
            return False
        self._write_free[bank] = cycle + self.cycles
        return True

    def claim_read(self, cycle: int, bank: int) -> bool:
        """The same with the read port, for somebody who is no source slot."""
        if self._read_free[bank] > cycle:
            return False
        self._read_free[bank] = cycle + self.cycles
        return True

    def read(self, cycle: int, asking: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> list[Access]:
        """Source slots that are served, given those that ask each bank; ``order`` is the units, oldest first.

        Slots are numbered unit * ``asks.slots`` + slot; at most one per bank, and with ``collect`` = ``one`` per unit.
        """
        if self.shared:
            self.turn(cycle, READS)
        grants: list[Access] = []
        passed = 0
        for bank, mask in enumerate(asking):
            if not mask or self._read_free[bank] > cycle:
                continue
            mask &= ~passed
            if not mask:
                continue
            index = self._oldest_of(mask, order) if self._oldest else self._next_of(bank, mask)
            self._read_free[bank] = arrival = cycle + self.cycles
            if self._one:
                passed |= self._unit_slots[index // self._slots]
            grants.append((index, self.rows[bank][rows[index]], arrival))
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

    def write(self, bank: int, write: Write) -> None:
        """Change a row at the end of the cycle."""
        self.writes.append((bank, write))

    def edge(self) -> int:
        """Rows change; returns the number of writes."""
        for bank, (row, copy, before, lanes) in self.writes:
            rows = self.rows[bank]
            rows[row] = merged(rows[row], before, copy, lanes) if lanes else copy
        count = len(self.writes)
        self.writes.clear()
        return count
