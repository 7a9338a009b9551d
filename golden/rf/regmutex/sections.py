"""Which warp has a section and which waits for one (docs/schemes/regmutex.md, sections 3 to 5)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import indices, lowest
from warpfile.spec.schemes.regmutex import RegMutexConfig


class Sections:
    """State of all sections. Masks are over warps, or for ``taken`` over sections; all change at the ``edge`` only.

    ``held`` are the warps that have a section, ``pairs`` those pairs of which one has it where no more is
    known. ``of`` is each warp's section. ``closed`` are the warps that would not get one now. What the other methods
    note of a cycle is one of: ``acquired``, ``released``; ``refused``, once for each scheduler, goes with both.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        self._all = (1 << cfg.warps) - 1
        self._even = self._all & 0x5555_5555_5555_5555
        self._paired, self._blind, self._fair = cfg.paired, cfg.pair_state == "pair", bool(cfg.fair)
        self.held = self.pairs = self.waiting = 0
        self.taken = 0 if cfg.paired else self._all
        self.of = [0] * cfg.warps
        self.waiters: deque[int] = deque()
        self.closed = self._closed()
        self._acquires = self._releases = self._sections = -1
        self._refuses = 0

    @property
    def has(self) -> int:
        """What is known of who has a section: warps, or pairs."""
        return self.pairs if self._blind else self.held

    def lacks(self, warp: int) -> bool:
        """Whether the warp is known to have none."""
        return not self._blind and not self.held >> warp & 1

    def owners(self, otherwise: int) -> int:
        """Warps that have a section; where that is not known, ``otherwise``."""
        return otherwise if self._blind else self.held

    def kernel(self, sections: int) -> None:
        """A kernel is taken that has so many."""
        self._sections = sections

    def acquired(self, warp: int) -> int:
        """An ACQ issues. Returns the section that the warp takes, -1 if it has one; 0 in paired mode."""
        if self.owners(0) >> warp & 1:
            return -1
        assert not self.closed >> warp & 1, f"warp {warp} takes a section although there is none for it"
        self._acquires = warp
        return 0 if self._paired else lowest(~self.taken)

    def released(self, warp: int) -> bool:
        """A REL issues, or an EXIT that gives back. Returns whether the warp has something to give."""
        if not self.owners(self._all) >> warp & 1:
            return False
        self._releases = warp
        return True

    def exited(self, warp: int) -> None:
        """An EXIT issues. It gives back what the warp is known to have."""
        if not self._blind:
            self.released(warp)

    def refused(self, warp: int) -> None:
        """The warp's ACQ was chosen and finds no section."""
        self._refuses |= 1 << warp

    def edge(self) -> None:
        """The state as the next cycle sees it."""
        if max(self._acquires, self._releases, self._sections) < 0 and not self._refuses:
            return
        if self._acquires >= 0:
            self._take(self._acquires)
        if self._releases >= 0:
            self._give(self._releases)
        self.waiting |= self._refuses
        for warp in indices(self._refuses if self._fair else 0):
            self.waiters.append(warp)
        if self._sections >= 0 and not self._paired:
            self.taken = self._all >> self._sections << self._sections
        self._acquires = self._releases = self._sections = -1
        self._refuses = 0
        self.closed = self._closed()

    def _take(self, warp: int) -> None:
        bit = 1 << warp
        if self._fair and self.waiting & bit:
            self.waiters.popleft()
        self.waiting &= ~bit
        if self._blind:
            self.pairs |= 1 << warp // 2
            return
        self.held |= bit
        if not self._paired:
            self.of[warp] = section = lowest(~self.taken)
            self.taken |= 1 << section

    def _give(self, warp: int) -> None:
        if self._blind:
            self.pairs &= ~(1 << warp // 2)
            return
        self.held ^= 1 << warp
        if not self._paired:
            self.taken ^= 1 << self.of[warp]

    def _closed(self) -> int:
        if self._blind:
            return sum(3 << 2 * pair for pair in range(len(self.of) // 2 + 1) if self.pairs >> pair & 1) & self._all
        if self._paired:
            return ((self.held & self._even) << 1 | self.held >> 1 & self._even) & self._all
        if self.taken == self._all:
            return self._all
        return self._all ^ 1 << self.waiters[0] if self.waiters else 0
