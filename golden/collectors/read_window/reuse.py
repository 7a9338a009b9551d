"""The reuse cache: an entry for every operand position and bank (docs/schemes/modern.md, section 7)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.spec.schemes.modern import ENTRIES, NOWHERE, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


class ReuseCache:
    """Tags, and the copies that go with them; entry = position * banks + bank. ``valid`` is a mask of entries."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._window = cfg.read_window
        self.valid = 0
        self.warp = [0] * ENTRIES
        self.register = [0] * ENTRIES
        self.timer = [0] * ENTRIES
        self.copy = [-1] * ENTRIES
        self._set = 0

    def find(self, position: int, warp: int, register: int) -> int:
        """The entry with this operand, -1 for none."""
        entry = position * BANKS + register % BANKS
        if self.valid >> entry & 1 and self.warp[entry] == warp and self.register[entry] == register:
            return entry
        return -1

    def kill(self, warp: int, register: int) -> int:
        """A result is offered: entries whose operand is there end. Returns them."""
        killed = 0
        for entry in indices(self.valid):
            if self.register[entry] == register and self.warp[entry] == warp and not self.timer[entry]:
                killed |= 1 << entry
        self.valid ^= killed
        return killed

    def take(self, beat: HeldBeat) -> None:
        """A beat leaves Allocate: at every position it keeps its operand, or ends what is kept there."""
        for position, slot in enumerate(beat.positions):
            if slot == NOWHERE:
                continue
            register = beat.entry.beat.sources[slot]
            entry = position * BANKS + register % BANKS
            self.valid &= ~(1 << entry)
            if beat.marks >> position & 1:
                self.valid |= 1 << entry
                self.warp[entry], self.register[entry], self.timer[entry] = beat.warp, register, self._window
                self._set |= 1 << entry

    def capture(self, beat: HeldBeat, operands: list[int]) -> None:
        """Copies that a beat is dispatched with are kept where it has a mark."""
        for position, slot in enumerate(beat.positions):
            if beat.marks >> position & 1:
                self.copy[position * BANKS + beat.entry.beat.sources[slot] % BANKS] = operands[slot]

    def exited(self, warp: int) -> None:
        """Nothing of a warp that is gone."""
        for entry in indices(self.valid):
            if self.warp[entry] == warp:
                self.valid ^= 1 << entry

    def edge(self) -> None:
        """Timers count down, except for those that were set in this cycle."""
        for entry in indices(self.valid & ~self._set):
            if self.timer[entry]:
                self.timer[entry] -= 1
        self._set = 0
