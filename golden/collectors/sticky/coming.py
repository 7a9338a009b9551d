"""Registers whose result is coming, and the slots that wait for it (docs/schemes/sticky.md, sections 4 and 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.sticky.keeping import KeptOperands
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.stimulus import Result


class ComingResults:
    """``registers`` by warp, as a mask; ``awaiting`` near slots, bit unit * near slots + slot. Both are registered.

    ``marks``, ``accepted`` and ``expect`` note what changes at the ``edge``; ``accepted`` comes first.
    """

    def __init__(self, cfg: StickyConfig, kept: KeptOperands) -> None:
        self._kept = kept
        self._near = cfg.near_slots
        self._ports = cfg.forwarding_ports if cfg.forwards else (False,) * cfg.ports
        self.registers = [0] * cfg.warps
        self.awaiting = 0
        self.warps = 0  #: warps with a register that is coming
        self._marked: list[tuple[int, int]] = []
        self._warp, self._register = -1, -1
        self._taking = self._expecting = 0

    def accepted(self, result: Result | None) -> int:
        """What port 0 accepts in this cycle: slots that take it."""
        if result is None or not result.writes or not self.registers[result.warp] >> result.register & 1:
            return 0
        assert result.full, f"a result of some lanes of R{result.register} of warp {result.warp} is coming"
        self._warp, self._register = result.warp, result.register
        for slot in indices(self.awaiting):
            if self._kept.holds(slot, result.warp, result.register):
                self._taking |= 1 << slot
        return self._taking

    def marks(self, warp: int, entry: Entry) -> bool:
        """Whether a beat that leaves makes its destinations coming."""
        if not (self._ports[entry.port] and entry.beat.full and entry.dests):
            return False
        self._marked.append((warp, entry.dests))
        return True

    def sources(self, warp: int, entry: Entry) -> tuple[int, int]:
        """Near sources of a beat that will wait, and those that are late, as masks of slots."""
        expects = late = 0
        coming = self.registers[warp]
        if coming:
            for slot, register in enumerate(entry.beat.sources[: self._near]):
                if not coming >> register & 1:
                    continue
                if self._warp == warp and self._register == register:
                    late |= 1 << slot
                else:
                    expects |= 1 << slot
        return expects, late

    def expect(self, unit: int, slots: int) -> None:
        """These slots of a unit wait from the next cycle on."""
        self._expecting |= slots << unit * self._near

    def edge(self) -> int:
        """End the cycle; returns the warps whose coming registers changed, as a mask."""
        changed = 0
        if self._warp >= 0:
            self.registers[self._warp] ^= 1 << self._register
            changed |= 1 << self._warp
            self._warp = self._register = -1
        for warp, dests in self._marked:
            assert not self.registers[warp] & dests, f"a register of warp {warp} is coming twice"
            self.registers[warp] |= dests
            changed |= 1 << warp
        self._marked.clear()
        self.awaiting = (self.awaiting & ~self._taking) | self._expecting
        self._taking = self._expecting = 0
        for warp in indices(changed):
            bit = 1 << warp
            self.warps = self.warps | bit if self.registers[warp] else self.warps & ~bit
        return changed
