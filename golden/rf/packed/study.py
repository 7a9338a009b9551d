"""Packed files without one of the things that cost cycles or slices: studies of a cause, without RTL.

Their probes of the table are without meaning; other counters and values are valid.
"""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.rf.packed.file import PackedFile
from warpfile.golden.rf.packed.widths import Widths
from warpfile.golden.rf.sweep import Sweep
from warpfile.golden.scheduler.places import Places
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import PackedConfig

_ENOUGH: Final = 1 << 20


class InstantSweep(Sweep):
    """One warp per cycle, with all of its registers and without a port of the table."""

    def step(self, reads: bool, gives_up: bool, chosen: int) -> None:
        """See :class:`Sweep`."""
        self.retired = 0
        if self.waiting:
            self._forget(lowest(self.waiting))

    def _forget(self, warp: int) -> None:
        for register in indices(self._table.mapped(warp)):
            self._release(self._table.entry(warp, register))
            self._table.unmap(warp, register)
        self.retired = 1 << warp
        self.waiting ^= self.retired


class NarrowWidths(Widths):
    """One byte does for every value."""

    def size(self, data: int, lanes: int) -> int:
        """See :class:`Widths`."""
        return 1


class StudiedFile(PackedFile):
    """``instant``: a sweep takes a cycle. ``served``: the table's memories have a port for everybody. ``narrow``: every
    value has one byte.
    """

    instant = False
    served = False
    narrow = False

    def __init__(self, cfg: PackedConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, layout, places)
        if self.instant:
            self.sweep = InstantSweep(self.table, self.stages.release)
        if self.served:
            self.table.ports = _ENOUGH
        if self.narrow:
            self.entrance.widths = NarrowWidths(cfg)


class InstantFile(StudiedFile):
    """Warps wait for no sweep."""

    instant = True


class ServedFile(StudiedFile):
    """No client waits for a port of the table."""

    served = True


class NarrowFile(StudiedFile):
    """No value is too wide for a row with another one."""

    narrow = True


class FreeFile(StudiedFile):
    """The table costs no cycle."""

    instant = True
    served = True
