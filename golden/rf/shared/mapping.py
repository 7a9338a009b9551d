"""Registers change the row that they are mapped to (docs/schemes/larf.md, section 6)."""

from __future__ import annotations

from warpfile.golden.rf.renaming import RenamingTable
from warpfile.golden.rf.shared.addresses import AddressTable
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import NO_ROW, Counts
from warpfile.golden.rf.shared.probes import Probes


class Mapping:
    """Renaming table, counts and address table, which change together."""

    def __init__(
        self, table: RenamingTable, counts: Counts, addresses: AddressTable, contents: Contents, probes: Probes
    ) -> None:
        self.counts = counts
        self._table, self._addresses, self._contents, self._probes = table, addresses, contents, probes

    def change(self, warp: int, register: int, old: int, row: int) -> None:
        """A register is mapped to another row; one is per cycle."""
        self._table.write(warp, register, self.counts.mapped(row))
        self.counts.add(row, 1)
        if old != NO_ROW:
            self._contents.forget(old, warp, register)
            self.drop(old)

    def drop(self, row: int) -> None:
        """One register less is mapped to a row."""
        self.counts.add(row, -1)
        if self.counts.count[row] == 1:
            self.end(row)

    def end(self, row: int) -> None:
        """The entry of a row ends."""
        if self._addresses.end(row):
            self._probes.show("ended")
        self.counts.mark(row, False)
