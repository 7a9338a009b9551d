"""Banks: who writes, who reads, and what a row holds (docs/machine.md, section 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpfile.golden.arbiter import first_from, indices, lowest
from warpfile.golden.copies import merged
from warpfile.spec.config import Config

#: Turns of a cycle at the ports, in this order: engines by what they go before, results and reads themselves.
TURNS = {"results": 0, "reads": 2, "last": 4}
RESULTS: Final = 1
READS: Final = 3
LAST: Final = 4


#: A read that a bank serves: number of the source slot, the copy that its row holds, the cycle in which that arrives.
Access = tuple[int, int, int]

#: How many cycles an access of a bank and row takes, from 1 to ``cfg.gives.cycles``.
Length = Callable[[int, int], int]


class Write:
    """All lanes of a row become ``copy``; in a negative row it is lost.

    With ``lanes`` these lanes only: a result that changes the register from value ``before`` to value ``copy``.
    """

    __slots__ = ("before", "copy", "lanes", "row")

    def __init__(self, row: int, copy: int, before: int = 0, lanes: int = 0) -> None:
        self.row, self.copy, self.before, self.lanes = row, copy, before, lanes


class Banks:
    """Storage behind its ports. A row holds a copy (``golden.copies``), -1 if it was never written.

    The first access of a cycle takes a port: results and others that write with ``claim``, the reads of source slots
    with ``read``. Rows change at the ``edge``, in the order of ``writes``. An access
    takes ``cycles``, or what the rule ``length`` gives for its place. It keeps its port so long; in a pipelined bank
    (``bank_occupancy`` = ``one``) a cycle, but no two reads leave it in one cycle. With ``gives.twins`` the twin of
    bank b is bank ``cfg.banks`` + b.
    """

    def __init__(self, cfg: Config, length: Length | None = None) -> None:
        self.cycles = cfg.bank_cycles
        banks = cfg.banks * (1 + cfg.gives.twins)
        self._rule, self._longest = length, cfg.gives.cycles
        self._pipelined = cfg.bank_occupancy == "one"
        # Per bank, the cycles in which rows leave it; kept only where reads that are under way may differ in length.
        self._leaving = [set[int]() for _ in range(banks)]
        self._overtakes = self._pipelined and length is not None
        # Per input of the units, the cycles in which data arrive; kept only where lengths differ.
        self._of_input = 1 if cfg.collect == "all" else cfg.asks.slots
        self._arriving: list[set[int]] = [set() for _ in range(cfg.asks.units * cfg.asks.slots // self._of_input)]
        self._one = cfg.collect == "one"
        self._oldest = cfg.bank_arbitration == "oldest"
        self._slots, self._units = cfg.asks.slots, cfg.asks.units
        self._unit_slots = [((1 << self._slots) - 1) << unit * self._slots for unit in range(self._units)]
        self._pointer = [0] * banks
        # First cycle in which a port is free again. With one port for both, the two are one list, and the write
        # that is accepted first takes the bank away from the read.
        self._read_free = [0] * banks
        self._write_free = self._read_free if cfg.bank_ports == "1RW" else [0] * banks
        self.rows = [[-1] * cfg.rows for _ in range(banks)]
        self.writes: list[tuple[int, Write]] = []
        self.shared = False  # with engines, whose turn then counts
        self.own: Callable[[int, int], None] | None = None  # called first with every turn, if the file has engines
        self._turn = 0

    def turn(self, cycle: int, number: int) -> None:
        """A client comes to the ports at this turn of a cycle; none may come after a later one."""
        if self.own is not None:
            self.own(cycle, number)
        turn = cycle * 8 + number
        assert turn >= self._turn, f"cycle {cycle}: turn {number} at the banks comes after turn {self._turn % 8}"
        self._turn = turn

    def is_free(self, cycle: int, bank: int, row: int, writes: bool) -> bool:
        """Whether an access of a kind to a row may start."""
        if writes:
            return self._write_free[bank] <= cycle
        return self._read_free[bank] <= cycle and not self._meets(cycle, bank, row)

    def length(self, bank: int, row: int) -> int:
        """How many cycles an access takes that starts now."""
        if self._rule is None:
            return self.cycles
        cycles = self._rule(bank, row)
        assert 1 <= cycles <= self._longest, f"an access must take 1 to {self._longest} cycles, not {cycles}"
        return cycles

    def claim(self, cycle: int, bank: int, row: int = 0) -> bool:
        """Take the write port of a bank for an access that starts in ``cycle``, unless another one has it.

        The row says how long the access takes, where that is not the same for all.
        """
        if self._write_free[bank] > cycle:
            return False
        self._write_free[bank] = self._over(cycle, bank, row)
        return True

    def claim_read(self, cycle: int, bank: int, row: int = 0) -> bool:
        """The same with the read port, for a client other than a source slot."""
        if not self.is_free(cycle, bank, row, False):
            return False
        self._start_read(cycle, bank, row)
        return True

    def _over(self, cycle: int, bank: int, row: int) -> int:
        """The cycle in which the port of an access is free again."""
        if self._pipelined:
            return cycle + 1
        return cycle + (self.cycles if self._rule is None else self.length(bank, row))

    def _start_read(self, cycle: int, bank: int, row: int) -> None:
        self._read_free[bank] = self._over(cycle, bank, row)
        if self._overtakes:
            coming = {other for other in self._leaving[bank] if other > cycle}
            self._leaving[bank] = coming | {cycle + self.length(bank, row)}

    def _meets(self, cycle: int, bank: int, row: int) -> bool:
        """Whether a read would leave its bank in the cycle of an earlier one."""
        return self._overtakes and cycle + self.length(bank, row) in self._leaving[bank]

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
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
            if self._rule is not None:
                mask = self._apart(cycle, bank, mask, rows)
            if not mask:
                continue
            index = self._oldest_of(mask, order) if self._oldest else self._next_of(bank, mask)
            arrival = cycle + self.cycles if self._rule is None else self._expect(cycle, bank, rows[index], index)
            self._start_read(cycle, bank, rows[index])
            if self._one:
                passed |= self._unit_slots[index // self._slots]
            grants.append((index, self.rows[bank][rows[index]], arrival))
        return grants

    def _apart(self, cycle: int, bank: int, mask: int, rows: list[int]) -> int:
        """Of the slots in a mask, those whose data would not meet earlier ones at their input, or on the way there."""
        for index in indices(mask):
            row = rows[index]
            arrives = cycle + self.length(bank, row) in self._arriving[index // self._of_input]
            if arrives or self._meets(cycle, bank, row):
                mask ^= 1 << index
        return mask

    def _expect(self, cycle: int, bank: int, row: int, index: int) -> int:
        """The cycle in which the data of a read arrive, which is noted."""
        number, arrival = index // self._of_input, cycle + self.length(bank, row)
        coming = {other for other in self._arriving[number] if other > cycle}
        assert arrival not in coming, f"input {number} of the units is filled twice in cycle {arrival}"
        self._arriving[number] = coming | {arrival}
        return arrival

    def _oldest_of(self, mask: int, order: list[int]) -> int:
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
        for bank, write in self.writes:
            rows, row = self.rows[bank], write.row
            if row >= 0:
                whole = not write.lanes
                rows[row] = write.copy if whole else merged(rows[row], write.before, write.copy, write.lanes)
        count = len(self.writes)
        self.writes.clear()
        return count
