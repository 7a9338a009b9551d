"""X: results in the last cycle of their execution (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpfile.golden.rf.packed.completions import Completions
from warpfile.golden.rf.packed.metadata import Metadata
from warpfile.golden.rf.packed.placement import Wanted
from warpfile.golden.rf.packed.seen import Seen
from warpfile.golden.rf.packed.stages import Deciding, Stages
from warpfile.golden.rf.packed.widths import Widths
from warpfile.golden.rf.renaming import RenamingTable
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stimulus import Result


class Entrance:
    """Results that have to be stored read the table, and go to W0 if it is empty."""

    def __init__(
        self,
        cfg: PackedConfig,
        table: RenamingTable,
        metadata: Metadata,
        stages: Stages,
        completions: Completions,
        seen: Seen,
    ) -> None:
        self._table, self._metadata, self._stages = table, metadata, stages
        self._completions, self._seen = completions, seen
        self.widths = Widths(cfg) if cfg.packing else None

    def enter(
        self, results: Sequence[Result | None], valid: int, store: int, unmapped: Callable[[int, int], bool]
    ) -> int:
        """Of the ``valid`` write-back ports, those whose result is accepted. ``unmapped``: release asks to write it."""
        accepted = 0
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                self._completions.add(port, result)
                accepted |= 1 << port
            elif self._enter(port, result, unmapped):
                accepted |= 1 << port
        return accepted

    def _enter(self, port: int, result: Result, unmapped: Callable[[int, int], bool]) -> bool:
        warp, register = result.warp, result.register
        partner = self._metadata.partner[register]
        registers = (register,) if partner < 0 else (register, partner)
        found = [] if self._changes(warp, registers, unmapped) else self._table.read(warp, registers)
        if not found:
            self._seen.show("table_wait", 1 << port)
            return False
        if self._stages.deciding[port] is not None:
            return False
        size = self._size(result)
        self._seen.size(port, size)
        home, beside = self._table.memory(warp, register), found[1] if partner >= 0 else None
        wanted = Wanted(home, size, found[0], beside, self._metadata.side[register])
        self._stages.deciding[port] = Deciding(result, wanted, found[0])
        return True

    def _changes(self, warp: int, registers: Sequence[int], unmapped: Callable[[int, int], bool]) -> bool:
        """Whether somebody asks to write one of these entries."""
        return any((warp, register) in self._stages.asking or unmapped(warp, register) for register in registers)

    def _size(self, result: Result) -> int:
        if self.widths is None:
            return SLICES
        return self.widths.size(result.data or 0, result.mask)
