"""Write queues: everything that goes to a bank waits in front of it (docs/schemes/rfc.md, steps 1 and 6)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.banks import Banks, Write
from warpfile.spec.config import index_bits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig


class WriteQueues:
    """One queue per bank. ``begin``, ``leave`` and ``put`` in this order; what is put leaves in a later cycle.

    ``busy`` are the banks whose queue is not empty.
    """

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout, banks: Banks) -> None:
        self._banks = banks
        self._size = cfg.write_queue
        self._bits = index_bits(cfg.write_queue + 1)
        self._queues: list[deque[Write]] = [deque() for _ in range(cfg.banks)]
        self._rows: list[dict[int, int]] = [{} for _ in range(cfg.banks)]  # how often a row is queued
        self._full = self._closed = 0
        self._at = layout.offset["queued"]
        self.busy = 0
        self.word = 0  # probe of registered state

    def begin(self) -> None:
        """A cycle begins: a queue that is full now takes nothing in it."""
        self._closed = self._full

    def interlocked(self, slots: int, banks: list[int], rows: list[int]) -> int:
        """Of the source slots in a mask, those whose row is queued; bank and row of every slot are given."""
        locked = 0
        while slots:
            bit = slots & -slots
            slots ^= bit
            index = bit.bit_length() - 1
            if rows[index] in self._rows[banks[index]]:
                locked |= bit
        return locked

    def leave(self, cycle: int) -> list[int]:
        """Banks take the heads of their queues; returns which."""
        left = []
        for bank in indices(self.busy):
            if self._banks.claim(cycle, bank):
                queue, rows = self._queues[bank], self._rows[bank]
                write = queue.popleft()
                self._banks.write(bank, write)
                left.append(bank)
                if rows[write.row] == 1:
                    del rows[write.row]
                else:
                    rows[write.row] -= 1
                self._full &= ~(1 << bank)
                if not queue:
                    self.busy ^= 1 << bank
                self.word -= 1 << self._at + bank * self._bits
        return left

    def takes(self, bank: int) -> bool:
        """Whether something may go to this queue in this cycle."""
        return not self._closed >> bank & 1

    def put(self, bank: int, write: Write) -> None:
        """Something goes to a queue that takes it; nothing else does in this cycle."""
        bit, queue, rows = 1 << bank, self._queues[bank], self._rows[bank]
        assert not self._closed & bit, f"the queue of bank {bank} takes nothing in this cycle"
        queue.append(write)
        rows[write.row] = rows.get(write.row, 0) + 1
        self._closed |= bit
        self.busy |= bit
        if len(queue) == self._size:
            self._full |= bit
        self.word += 1 << self._at + bank * self._bits
